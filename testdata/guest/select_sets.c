// covers: select pselect6 ppoll poll setrlimit
#include "guest.h"
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

/* The sets, times and masks of select(2) and its kin: what is written back, what is refused. */
static volatile int handled;
static void handler(int signo)
{
    (void)signo;
    handled++;
}

int main(void)
{
    int p[2];
    fd_set r, w, x;
    struct timeval t = {0, 0}, bad = {0, 1000000}, negative = {-1, 0};
    struct timespec ts = {0, 0}, tsbad = {0, 1000000000};
    S(pipe2, p, 0), S(write, p[1], "x", 1);
#define SETS(...) (memset(&r, 0, sizeof r), memset(&w, 0, sizeof w), memset(&x, 0, sizeof x), ##__VA_ARGS__)
    SETS(FD_SET(p[0], &r), FD_SET(p[1], &w)), T(select, 10, &r, &w, &x, &t), printf("%d %d\n", !!FD_ISSET(p[0], &r), !!FD_ISSET(p[1], &w));
    SETS(FD_SET(p[0], &r), FD_SET(p[1], &w)), T(select, p[0], &r, &w, &x, &t), printf("%d %d\n", !!FD_ISSET(p[0], &r), !!FD_ISSET(p[1], &w));
    SETS(FD_SET(p[0], &r), FD_SET(p[1], &w)), T(select, p[0] + 1, &r, &w, &x, &t), printf("%d %d\n", !!FD_ISSET(p[0], &r), !!FD_ISSET(p[1], &w));
    SETS(FD_SET(p[0], &w)), T(select, 10, 0, &w, 0, &t), SETS(FD_SET(50, &r)), T(select, 60, &r, 0, 0, &t), is(FD_ISSET(50, &r)),
        T(select, 50, &r, 0, 0, &t), T(select, -1, &r, 0, 0, &t), T(select, 0, 0, 0, 0, &t), SETS(FD_SET(p[0], &r)), T(select, 10, &r, 0, 0, &bad),
        T(select, 10, &r, 0, 0, &negative), T(select, 10, BAD, 0, 0, &t), T(select, 10, &r, 0, 0, BAD);
    /* More descriptors than there can be are cut, not refused. */
    static fd_set large[4];
    memset(large, 0, sizeof large), FD_SET(p[0], large), T(select, 4096, large, 0, 0, &t), T(select, 0x7fffffff, large, 0, 0, &t);

    /* Linux writes the time that is left. */
    t = (struct timeval){100, 0}, SETS(FD_SET(p[0], &r)), T(select, 10, &r, 0, 0, &t), is(t.tv_sec == 99 || t.tv_sec == 100);
    char c;
    S(read, p[0], &c, 1), t = (struct timeval){0, 5000}, SETS(FD_SET(p[0], &r)), T(select, 10, &r, 0, 0, &t),
        printf("%ld.%06ld\n", (long)t.tv_sec, (long)t.tv_usec), is(!FD_ISSET(p[0], &r));
    t = (struct timeval){0, 2500000}, T(select, 0, 0, 0, 0, &bad), t = (struct timeval){0, 1}, T(select, 0, 0, 0, 0, &t);

    /* A mask for the time of the call: what was blocked and waits comes in it. */
    sigset_t block, none;
    signal(SIGUSR1, handler), sigemptyset(&none), sigemptyset(&block), sigaddset(&block, SIGUSR1), sigprocmask(SIG_BLOCK, &block, 0), raise(SIGUSR1);
    struct {
        sigset_t *set;
        size_t size;
    } mask = {&none, 8}, wrong = {&none, 4}, fault = {BAD, 8}, no_set = {0, 0};
    T(pselect6, 10, 0, 0, 0, &ts, &no_set), num(handled), T(pselect6, 10, 0, 0, 0, 0, &mask), num(handled);
    sigset_t now;
    sigprocmask(SIG_BLOCK, 0, &now), is(sigismember(&now, SIGUSR1)), raise(SIGUSR1);
    struct pollfd pf = {p[1], POLLOUT, 0};
    T(ppoll, &pf, 1, 0, &none, 8), num(handled), raise(SIGUSR1), pf.fd = p[0], pf.events = POLLIN, T(ppoll, &pf, 1, 0, &none, 8), num(handled),
        T(ppoll, &pf, 1, &ts, &block, 8);
    SETS(FD_SET(p[1], &w)), raise(SIGUSR1), T(pselect6, 10, 0, &w, 0, &ts, &mask), num(handled), is(FD_ISSET(p[1], &w));
    T(pselect6, 10, 0, 0, 0, &ts, &wrong), T(pselect6, 10, 0, 0, 0, &ts, &fault), T(pselect6, 10, 0, 0, 0, &ts, BAD),
        T(pselect6, 10, 0, 0, 0, &tsbad, &mask), T(ppoll, 0, 0, &tsbad, 0, 8), T(ppoll, 0, 0, &ts, &none, 7), T(ppoll, 0, 0, BAD, 0, 8),
        ts = (struct timespec){0, 2000000}, T(ppoll, 0, 0, &ts, 0, 8), printf("%ld.%09ld\n", (long)ts.tv_sec, ts.tv_nsec);

    /* An interrupted call leaves the sets as they were, poll its results cleared. */
    struct itimerval soon = {{0, 0}, {0, 3000}};
    signal(SIGALRM, handler), SETS(FD_SET(p[0], &r)), S(setitimer, 0, &soon, 0), T(select, 10, &r, 0, 0, 0), is(FD_ISSET(p[0], &r)), pf.revents = 77,
        S(setitimer, 0, &soon, 0), T(poll, &pf, 1, -1), num(pf.revents), S(setitimer, 0, &soon, 0), t = (struct timeval){50, 0},
        T(select, 10, &r, 0, 0, &t), is(t.tv_sec == 49);
    struct rlimit few = {5, 200};
    S(setrlimit, RLIMIT_NOFILE, &few);
    struct pollfd six[6] = {{-1}, {-1}, {-1}, {-1}, {-1}, {-1}};
    T(poll, six, 5, 0), T(poll, six, 6, 0);
    return 0;
}
