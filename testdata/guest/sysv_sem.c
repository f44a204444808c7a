// covers: semget semop semtimedop semctl
#include "child.h"
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

static long id;
static struct semid_ds ds;

static void values(const char *what)
{
    unsigned short all[4] = {9, 9, 9, 9};
    S(semctl, id, 0, GETALL, all);
    printf("%s: %d %d %d %d\n", what, all[0], all[1], all[2], all[3]);
}

static void set(int a, int b, int c, int d)
{
    unsigned short all[4] = {(unsigned short)a, (unsigned short)b, (unsigned short)c, (unsigned short)d};
    S(semctl, id, 0, SETALL, all);
}

static long op(int number, int by, int flags)
{
    struct sembuf one = {(unsigned short)number, (short)by, (short)flags};
    return S(semop, id, &one, 1);
}

/* Waits until so many others wait at a semaphore. */
static void until(int number, int command, long count)
{
    struct timespec moment = {0, 1000000};
    for (int i = 0; i < 5000 && S(semctl, id, number, command, 0) != count; i++)
        S(nanosleep, &moment, 0);
    show(command == GETNCNT ? "waiting for more" : "waiting for zero", S(semctl, id, number, command, 0));
}

static void waits_for_two(void)
{
    _exit((int)-op(0, -2, 0));
}
static void waits_for_zero(void)
{
    _exit((int)-op(1, 0, 0));
}
static void waits_for_both(void)
{
    struct sembuf two[2] = {{2, -1, 0}, {3, -1, 0}};
    _exit((int)-S(semop, id, two, 2));
}
static void undone(void)
{
    op(0, 3, SEM_UNDO), op(1, -2, SEM_UNDO), op(2, 4, 0), op(2, -1, SEM_UNDO);
    values("before the end");
}
static void killed(void)
{
    op(3, 5, SEM_UNDO);
    raise(SIGKILL);
}
static void by_another(void)
{
    op(0, 7, SEM_UNDO);
    S(semctl, id, 0, SETVAL, 2);
}
static void handler(int signo)
{
    (void)signo;
}
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    _exit((int)-op(0, -100, 0));
}
static void of_another_user(void)
{
    struct timespec none = {0, 0};
    struct sembuf one = {0, 1, 0}, zero = {3, 0, 0};
    if (getuid() == 0)
        S(setresuid, 12345, 12345, 12345);
    int other = geteuid() == 12345;
    show("add", other ? S(semop, id, &one, 1) : -EACCES);
    show("look for zero", other ? S(semtimedop, id, &zero, 1, &none) : -EACCES);
    show("value", other ? S(semctl, id, 0, GETVAL, 0) : -EACCES);
    show("set value", other ? S(semctl, id, 0, SETVAL, 1) : -EACCES);
    show("remove", other ? S(semctl, id, 0, IPC_RMID, 0) : -EPERM);
    show("set", other ? S(semctl, id, 0, IPC_SET, &ds) : -EPERM);
}

int main(void)
{
    int key = 0x5a000000 + getpid();
    unsigned short four[4] = {1, 2, 3, 4}, much[4] = {1, 40000, 3, 4};
    struct sembuf ops[600] = {{0}};
    struct timespec brief = {0, 2000000}, odd = {0, 1000000000}, minus = {-1, 0};
    struct seminfo info;

    T(semget, IPC_PRIVATE, 0, 0600), T(semget, IPC_PRIVATE, -1, 0600), T(semget, IPC_PRIVATE, 32001, 0600);
    show("no such key", S(semget, key, 4, 0));
    id = S(semget, key, 4, IPC_CREAT | IPC_EXCL | 0600);
    is(id >= 0), is(S(semget, key, 0, 0) == id), is(S(semget, key, 4, IPC_CREAT | 0600) == id);
    show("more", S(semget, key, 5, 0)), show("exclusive", S(semget, key, 4, IPC_CREAT | IPC_EXCL));
    values("new");
    show("stat", S(semctl, id, 0, IPC_STAT, &ds));
    printf("mode %o, %ld semaphores, times %d%d\n", ds.sem_perm.mode, (long)ds.sem_nsems, ds.sem_otime != 0, ds.sem_ctime != 0);

    show("set all", S(semctl, id, 0, SETALL, four)), values("set");
    show("too much", S(semctl, id, 0, SETALL, much)), show("bad", S(semctl, id, 0, SETALL, BAD)), show("bad", S(semctl, id, 0, GETALL, BAD));
    show("set one", S(semctl, id, 1, SETVAL, 7)), show("get one", S(semctl, id, 1, GETVAL, 0));
    show("too much", S(semctl, id, 1, SETVAL, 32768)), show("minus", S(semctl, id, 1, SETVAL, -1)), show("most", S(semctl, id, 1, SETVAL, 32767));
    show("number", S(semctl, id, 4, SETVAL, 1)), show("number", S(semctl, id, -1, GETVAL, 0)), show("number and value", S(semctl, id, 9, SETVAL, -1));
    is(S(semctl, id, 1, GETPID, 0) == getpid());
    T(semctl, -1, 0, GETVAL, 0), T(semctl, 1 << 30, 0, GETVAL, 0), T(semctl, 1 << 30, 0, IPC_RMID, 0);
    show("command", S(semctl, id, 0, 99, 0)), show("minus", S(semctl, id, 0, -1, 0));

    show("no operation", S(semop, id, ops, 0)), show("too many", S(semop, id, ops, 501)), show("bad", S(semop, id, BAD, 1));
    T(semop, -1, ops, 1), T(semop, 1 << 30, ops, 1), T(semop, -1, BAD, 1), T(semop, -1, ops, 501);
    show("number", op(4, 1, 0)), show("too much", op(1, 1, 0)), show("add", op(0, 4, 0)), show("take", op(0, -5, 0));
    show("zero", op(0, 0, 0)), show("not zero", op(2, 0, IPC_NOWAIT)), show("too little", op(2, -4, IPC_NOWAIT));
    values("now");
    /* All or nothing. */
    ops[0] = (struct sembuf){0, 5, 0}, ops[1] = (struct sembuf){2, -1, 0}, ops[2] = (struct sembuf){3, -9, IPC_NOWAIT};
    show("the last cannot", S(semop, id, ops, 3)), values("nothing");
    ops[2].sem_op = -4;
    show("all can", S(semop, id, ops, 3)), values("all");
    ops[0] = (struct sembuf){0, -5, 0}, ops[1] = (struct sembuf){0, 0, IPC_NOWAIT}, ops[2] = (struct sembuf){0, 6, 0};
    show("one after the other", S(semop, id, ops, 3)), values("one");
    ops[0] = (struct sembuf){0, 1, 0}, ops[1] = (struct sembuf){1, 1, 0};
    show("one too much", S(semop, id, ops, 2)), values("nothing");
    show("stat", S(semctl, id, 0, IPC_STAT, &ds)), num(ds.sem_otime != 0);

    ops[0] = (struct sembuf){2, -20, 0};
    show("until a time", S(semtimedop, id, ops, 1, &brief)), show("odd time", S(semtimedop, id, ops, 1, &odd)), show("minus", S(semtimedop, id, ops, 1, &minus));
    show("bad time", S(semtimedop, id, ops, 1, BAD)), show("time and id", S(semtimedop, -1, ops, 1, &odd)), show("many and bad time", S(semtimedop, id, ops, 501, BAD));
    ops[0].sem_op = 1;
    show("odd time that is not needed", S(semtimedop, id, ops, 1, &odd));

    /* Others wait. */
    set(0, 3, 0, 0);
    pid_t first = child(waits_for_two);
    until(0, GETNCNT, 1);
    pid_t second = child(waits_for_zero);
    until(1, GETZCNT, 1);
    show("one is too little", op(0, 1, 0)), until(0, GETNCNT, 1);
    /* What it waits for is done for it at once. */
    show("two", op(0, 1, 0)), show("value", S(semctl, id, 0, GETVAL, 0)), show("waiting", S(semctl, id, 0, GETNCNT, 0));
    num(reap(first)), is(S(semctl, id, 0, GETPID, 0) == first);
    show("zero", op(1, -3, 0)), show("waiting", S(semctl, id, 1, GETZCNT, 0)), num(reap(second));
    pid_t both = child(waits_for_both);
    until(2, GETNCNT, 1), show("and the other", S(semctl, id, 3, GETNCNT, 0));
    show("the first", op(2, 1, 0)), until(3, GETNCNT, 1), show("not the first", S(semctl, id, 2, GETNCNT, 0));
    show("the second", S(semctl, id, 3, SETVAL, 1)), num(reap(both)), values("both");
    /* Those that came first are first. */
    pid_t a = child(waits_for_two);
    until(0, GETNCNT, 1);
    pid_t b = child(waits_for_two);
    until(0, GETNCNT, 2);
    show("for one of them", op(0, 3, 0)), num(reap(a)), until(0, GETNCNT, 1), show("for the other", op(0, 1, 0)), num(reap(b)), values("none");

    /* A process that ends undoes what it did. */
    set(1, 5, 0, 0);
    num(reap(child(undone))), values("undone");
    num(reap(child(killed))), values("killed");
    num(reap(child(by_another))), values("set meanwhile");
    set(0, 0, 0, 0);
    a = child(waits_for_zero), num(reap(a));
    op(1, 1, 0), a = child(waits_for_zero), until(1, GETZCNT, 1), op(1, -1, SEM_UNDO), num(reap(a));
    show("too much to undo", op(0, 32767, SEM_UNDO)), op(0, -32767, 0), show("more", op(0, 2, SEM_UNDO)), values("not undone");
    op(0, -32767, SEM_UNDO | IPC_NOWAIT);

    /* Signals interrupt, whatever they ask for; what is killed waits no more. */
    S(semctl, id, 0, SETVAL, 0);
    a = child(interrupted), until(0, GETNCNT, 1), kill(a, SIGUSR1), num(reap(a)), until(0, GETNCNT, 0);
    a = child(waits_for_two), until(0, GETNCNT, 1), kill(a, SIGKILL), num(reap(a)), until(0, GETNCNT, 0);
    a = child(waits_for_two), until(0, GETNCNT, 1), kill(a, SIGSTOP), waitpid(a, NULL, WUNTRACED), kill(a, SIGCONT);
    num(reap(a)), until(0, GETNCNT, 0);

    show("stat", S(semctl, id, 0, IPC_STAT, &ds));
    reap(child(of_another_user));
    ds.sem_perm.mode = 0444;
    show("set", S(semctl, id, 0, IPC_SET, &ds)), show("stat", S(semctl, id, 0, IPC_STAT, &ds)), printf("%o\n", ds.sem_perm.mode);
    show("bad", S(semctl, id, 0, IPC_SET, BAD)), show("bad", S(semctl, id, 0, IPC_STAT, BAD));
    is(S(semctl, 0, 0, IPC_INFO, &info) >= 0 && info.semvmx == 32767 && info.semopm >= 32 && info.semusz == 20 && info.semaem == 32767);
    is(S(semctl, 0, 0, SEM_INFO, &info) >= 0 && info.semusz >= 1 && info.semaem >= 4);
    long highest = S(semctl, 0, 0, SEM_INFO, &info), found = 0;
    for (long at = 0; at <= highest; at++)
        found += S(semctl, at, 0, SEM_STAT, &ds) == id;
    num(found);
    S(semctl, id, 0, IPC_STAT, &ds), ds.sem_perm.mode = 0600, S(semctl, id, 0, IPC_SET, &ds);
    /* All end with the set. */
    a = child(waits_for_two), until(0, GETNCNT, 1), b = child(waits_for_both), until(2, GETNCNT, 1);
    show("remove", S(semctl, id, 0, IPC_RMID, 0)), is(reap(a) == EIDRM), is(reap(b) == EIDRM);
    show("gone", S(semctl, id, 0, GETVAL, 0)), show("gone", op(0, 1, 0)), show("gone", S(semctl, id, 0, IPC_RMID, 0)), show("key", S(semget, key, 4, 0));
    return 0;
}
