// covers: semget semop semtimedop semctl fork exit_group kill
#include "child.h"
#include <sys/sem.h>

/* SEM_UNDO: what ends of processes take back, what SETVAL forgets, and who waits for it. */
static int id;

static long op(int num, int by, int flags)
{
    struct sembuf b = {(unsigned short)num, (short)by, (short)flags};
    return S(semop, id, &b, 1);
}
static void values(const char *what)
{
    unsigned short v[3];
    S(semctl, id, 0, GETALL, v), printf("%s: %d %d %d\n", what, v[0], v[1], v[2]);
}
static void takes(void)
{
    show("child takes", op(0, -2, SEM_UNDO)), show("and gives", op(1, 3, SEM_UNDO)), show("and keeps", op(2, 1, 0)), values("in the child");
}
static void forks(void)
{
    op(0, -1, SEM_UNDO);
    if (fork() == 0)
        _exit(0); /* has inherited nothing to undo */
    wait(0), values("grandchild ended");
}
static void executes(void)
{
    op(0, -1, SEM_UNDO), execl("/bin/true", "true", NULL);
}
static void killed(void)
{
    op(0, -3, SEM_UNDO), op(0, 1, SEM_UNDO);
    for (;;)
        pause();
}
static void below_zero(void)
{
    op(0, 4, SEM_UNDO), show("others use it", op(0, -7, 0));
}
static void set_meanwhile(void)
{
    op(0, -1, SEM_UNDO), op(1, -1, SEM_UNDO), S(semctl, id, 0, SETVAL, 9);
}
static void waits(void)
{
    show("child waited", op(0, -5, 0));
}
static void both(void)
{
    struct sembuf b[] = {{0, -1, SEM_UNDO}, {1, 1, SEM_UNDO}, {2, 0, IPC_NOWAIT}};
    show("one of three would wait", S(semop, id, b, 3)), values("nothing done"), b[2].sem_op = 1, b[2].sem_flg = SEM_UNDO,
        show("all", S(semop, id, b, 3)), values("done");
}
static void too_much(void)
{
    show("30000", op(0, 30000, SEM_UNDO)), show("30000 more", op(0, 30000, SEM_UNDO)), op(0, -30000, 0), show("and again", op(0, 30000, SEM_UNDO)),
        op(0, -30000, IPC_NOWAIT);
}

int main(void)
{
    unsigned short start[] = {5, 5, 0};
    id = (int)S(semget, IPC_PRIVATE, 3, 0600);
    const struct {
        const char *name;
        void (*work)(void);
    } all[] = {{"takes", takes}, {"forks", forks}, {"executes", executes}, {"below zero", below_zero}, {"set meanwhile", set_meanwhile},
        {"several at once", both}, {"too much", too_much}};
    for (int i = 0; i < 7; i++)
        S(semctl, id, 0, SETALL, start), printf("== %s\n", all[i].name), reap(child(all[i].work)), values("after it");
    S(semctl, id, 0, SETALL, start);
    pid_t pid = child(killed), w;
    for (int i = 0; i < 2000 && S(semctl, id, 0, GETVAL) != 3; i++)
        usleep(500);
    values("before it is killed"), w = child(waits);
    for (int i = 0; i < 2000 && S(semctl, id, 0, GETNCNT) != 1; i++)
        usleep(500);
    kill(pid, SIGKILL), num(reap(pid)), num(reap(w)), values("killed");
    S(semctl, id, 0, IPC_RMID, 0), show("gone", op(0, 1, 0));
    return 0;
}
