// covers: read write open poll ppoll select pselect6 epoll_wait epoll_pwait futex nanosleep clock_nanosleep pause rt_sigsuspend rt_sigtimedwait fcntl flock wait4 waitid splice tee
/* Calls that wait and are interrupted by a signal: those that begin again with SA_RESTART, and those that fail
 * with EINTR all the same, signal(7). */
#include "guest.h"
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile int caught;
static int empty[2], full[2], event, epoll, other_file, own_file;
static pid_t child;
static uint32_t word;

static void handler(int signo)
{
    (void)signo;
    caught++;
}

/* Once a call has begun again a second signal, whose handler has no SA_RESTART, ends it. */
static void arm(int flags)
{
    struct sigaction restarting = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction ending = {.sa_handler = handler};
    sigaction(SIGALRM, &restarting, NULL);
    sigaction(SIGUSR1, &ending, NULL);
    caught = 0;
    struct itimerval first = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &first, NULL);
    struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    static timer_t timer;
    static int made;
    if (!made++)
        timer_create(CLOCK_MONOTONIC, &by, &timer);
    struct itimerspec second = {{0, 0}, {0, 60000000}};
    timer_settime(timer, 0, &second, NULL);
}

static void disarm(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &off, NULL);
    struct timespec rest = {0, 100000000};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR1, &ignore, NULL);
    sigaction(SIGALRM, &ignore, NULL);
    nanosleep(&rest, NULL);
}

#define EACH(what, call)                                             \
    do {                                                             \
        for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) { \
            arm(flags);                                              \
            long result = (call);                                    \
            int count = caught;                                      \
            disarm();                                                \
            show(what, result);                                      \
            printf("  signals until then%s: %d\n", flags ? " with SA_RESTART" : "", count); \
        }                                                            \
    } while (0)

int main(void)
{
    char buf[4096];
    if (pipe(empty) || pipe(full))
        return 1;
    fcntl(full[1], F_SETFL, O_NONBLOCK);
    memset(buf, 'x', sizeof buf);
    while (write(full[1], buf, sizeof buf) > 0)
        ;
    fcntl(full[1], F_SETFL, 0);
    event = eventfd(0, 0);
    epoll = epoll_create1(0);
    struct epoll_event in = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, empty[0], &in);
    struct pollfd polled = {.fd = empty[0], .events = POLLIN};
    int ready[2];
    if (pipe(ready))
        return 1;
    own_file = open("lock", O_RDWR | O_CREAT, 0600);
    mkfifo("fifo", 0600);
    child = fork();
    if (child == 0) {
        other_file = open("lock", O_RDWR);
        struct flock lock = {.l_type = F_WRLCK};
        fcntl(other_file, F_SETLK, &lock);
        flock(other_file, LOCK_EX);
        if (write(ready[1], "r", 1) != 1)
            return 1;
        for (;;)
            pause();
    }
    show("child is ready", read(ready[0], buf, 1));

    struct timespec minute = {60, 0};
    sigset_t none, usr2;
    sigemptyset(&none);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    struct flock lock = {.l_type = F_WRLCK};
    int status;
    siginfo_t info;
    EACH("read of a pipe", S(read, empty[0], buf, 1));
    EACH("write to a pipe", S(write, full[1], buf, 1));
    EACH("read of an eventfd", S(read, event, buf, 8));
    EACH("open of a named pipe", S(open, "fifo", O_RDONLY));
    EACH("poll", S(poll, &polled, 1, -1));
    EACH("poll with time", S(poll, &polled, 1, 60000));
    EACH("ppoll", S(ppoll, &polled, 1, 0, &none, 8));
    EACH("select", ({ fd_set set; FD_ZERO(&set); FD_SET(empty[0], &set); S(select, empty[0] + 1, &set, 0, 0, 0); }));
    EACH("pselect", ({ fd_set set; FD_ZERO(&set); FD_SET(empty[0], &set); S(pselect6, empty[0] + 1, &set, 0, 0, 0, 0); }));
    EACH("epoll_wait", S(epoll_wait, epoll, &in, 1, -1));
    EACH("epoll_pwait", S(epoll_pwait, epoll, &in, 1, -1, &none, 8));
    EACH("futex", S(futex, &word, FUTEX_WAIT, 0, 0));
    EACH("futex with time", S(futex, &word, FUTEX_WAIT, 0, &minute));
    EACH("nanosleep", S(nanosleep, &minute, 0));
    EACH("clock_nanosleep", S(clock_nanosleep, CLOCK_MONOTONIC, 0, &minute, 0));
    EACH("pause", S(pause));
    EACH("sigsuspend", S(rt_sigsuspend, &none, 8));
    EACH("sigtimedwait", S(rt_sigtimedwait, &usr2, 0, 0, 8));
    EACH("fcntl for a lock", S(fcntl, own_file, F_SETLKW, &lock));
    EACH("flock", S(flock, own_file, LOCK_EX));
    EACH("wait4", S(wait4, child, &status, 0, 0));
    EACH("waitid", S(waitid, P_PID, child, &info, WEXITED, 0));
    EACH("splice from a pipe", S(splice, empty[0], 0, full[1], 0, 10, 0));
    EACH("tee from a pipe", S(tee, empty[0], full[1], 10, 0));
    kill(child, SIGKILL);
    show("the child ends", waitpid(child, &status, 0) == child ? status : -1);
    return 0;
}
