// covers: fcntl fork flock kill
#include "child.h"
#include <sys/file.h>

/* Locks that wait for each other: EDEADLK in a circle of two and three, none for locks of descriptions; who gets a lock
 * that is free; what a signal does to one who waits. */
static long fd;
static int order[2];

static long lock(int cmd, int type, long start)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = 1};
    return S(fcntl, fd, cmd, &l);
}
static void nothing(int signo)
{
    (void)signo;
}
static void holds_1_wants_0(void)
{
    lock(F_SETLK, F_WRLCK, 1), S(write, order[1], "x", 1), show("the first", lock(F_SETLKW, F_WRLCK, 0));
}
static void holds_2_wants_1(void)
{
    lock(F_SETLK, F_WRLCK, 2), S(write, order[1], "x", 1), show("the second", lock(F_SETLKW, F_WRLCK, 1));
}
static void wants_0_alone(void)
{
    S(write, order[1], "x", 1), _exit(lock(F_SETLKW, F_RDLCK, 0) == 0 ? 40 : 41);
}
static pid_t waiting(void (*work)(void))
{
    char c;
    pid_t pid = child(work);
    S(read, order[0], &c, 1), asleep(pid);
    return pid;
}
static void interrupted(void)
{
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGUSR1, &action, 0);
    S(write, order[1], "x", 1), show("without SA_RESTART", lock(F_SETLKW, F_WRLCK, 0));
    action.sa_flags = SA_RESTART, sigaction(SIGUSR1, &action, 0);
    S(write, order[1], "x", 1), show("with SA_RESTART", lock(F_SETLKW, F_WRLCK, 0));
}
static void description(void)
{
    long own = S(open, "f", O_RDWR);
    struct flock l = {.l_type = F_WRLCK, .l_start = 1, .l_len = 1};
    S(fcntl, own, F_OFD_SETLK, &l), S(write, order[1], "x", 1), l.l_start = 0, show("description", S(fcntl, own, F_OFD_SETLKW, &l));
}

int main(void)
{
    fd = S(open, "f", O_RDWR | O_CREAT, 0644), S(pipe2, order, 0);
    lock(F_SETLK, F_WRLCK, 0);
    pid_t one = waiting(holds_1_wants_0);
    show("two in a circle", lock(F_SETLKW, F_WRLCK, 1)), show("reading too", lock(F_SETLKW, F_RDLCK, 1)), show("without waiting", lock(F_SETLK, F_WRLCK, 1));
    pid_t two = waiting(holds_2_wants_1);
    show("three in a circle", lock(F_SETLKW, F_WRLCK, 2)), show("no circle", lock(F_SETLKW, F_WRLCK, 3));
    pid_t three = waiting(wants_0_alone);
    show("still", lock(F_SETLKW, F_WRLCK, 2)), show("free", lock(F_SETLK, F_UNLCK, 0));
    reap(one), reap(two), num(reap(three)), show("all have ended", lock(F_SETLK, F_WRLCK, 0));

    pid_t pid = waiting(interrupted);
    char c;
    kill(pid, SIGUSR1), S(read, order[0], &c, 1), asleep(pid), kill(pid, SIGUSR1), asleep(pid), show("free", lock(F_SETLK, F_UNLCK, 0)), reap(pid);

    /* A lock of a description is its own owner: no circle is seen, so none is made here. */
    lock(F_SETLK, F_WRLCK, 0), pid = waiting(description), show("beside a description", lock(F_SETLK, F_WRLCK, 1)),
        show("release", lock(F_SETLK, F_UNLCK, 0)), show("it ends", lock(F_SETLKW, F_WRLCK, 1)), reap(pid);

    /* A killed holder lets go. */
    lock(F_SETLK, F_WRLCK, 0), lock(F_SETLK, F_UNLCK, 1), pid = waiting(holds_1_wants_0);
    show("taken by it", lock(F_SETLK, F_RDLCK, 1)), kill(pid, SIGKILL), num(reap(pid)), show("let go", lock(F_SETLK, F_RDLCK, 1));
    return 0;
}
