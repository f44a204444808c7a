// covers: poll ppoll select pselect6 pause
#include "guest.h"
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>

static int alarms;
static void on_alarm(int s)
{
    (void)s;
    alarms++;
}

static void events(struct pollfd *p, int n)
{
    for (int i = 0; i < n; i++)
        printf(" %x", p[i].revents);
    printf("\n");
}

/* How many descriptors the table has room for, proc(5). */
static int table_size(void)
{
    static char text[4096];
    long fd = S(open, "/proc/self/status", O_RDONLY);
    S(read, fd, text, sizeof text - 1), S(close, fd);
    return atoi(strstr(text, "FDSize:") + 7);
}

int main(void)
{
    int p[2], q[2];
    char buf[8];
    S(pipe2, p, O_NONBLOCK), S(pipe2, q, O_NONBLOCK);
    long file = S(open, "host/file", O_RDONLY), dir = S(open, "host", O_RDONLY);
    struct pollfd fds[6] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}, {q[0], POLLIN | POLLRDNORM, 0},
                            {file, POLLIN | POLLOUT, 0}, {99, POLLIN, 0}, {-1, POLLIN, 0}};

    T(poll, fds, 6, 0);
    events(fds, 6);
    T(poll, fds, 1, 0);
    T(poll, fds, 1, 20);
    S(write, p[1], "x", 1);
    T(poll, fds, 2, -1);
    events(fds, 2);
    S(close, q[1]);
    T(poll, fds + 2, 1, 100);
    events(fds + 2, 1);
    S(close, p[0]);
    fds[1].events = 0;
    T(poll, fds + 1, 1, 100);
    events(fds + 1, 1);
    fds[3] = (struct pollfd){dir, POLLIN, 0};
    T(poll, fds + 3, 1, 0);
    events(fds + 3, 1);
    T(poll, NULL, 0, 10);
    T(poll, BAD, 1, 0);
    T(poll, fds, 1 << 30, 0);
    T(poll, fds + 5, 1, 0);

    struct timespec ts = {0, 1000000}, bad = {0, 1000000000}, negative = {-1, 0};
    S(pipe2, p, O_NONBLOCK);
    fds[0] = (struct pollfd){p[0], POLLIN, 0};
    T(ppoll, fds, 1, &ts, NULL, 8);
    is(ts.tv_nsec <= 1000000);
    T(ppoll, fds, 1, &bad, NULL, 8);
    T(ppoll, fds, 1, &negative, NULL, 8);
    sigset_t none;
    sigemptyset(&none);
    T(ppoll, fds, 1, &ts, &none, 4);
    T(ppoll, fds, 1, BAD, &none, 8);

    /* A signal ends the wait. */
    struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &sa, NULL);
    struct itimerval soon = {{0, 0}, {0, 5000}}, often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    /* A single alarm could come before the wait has begun. */
    T(setitimer, ITIMER_REAL, &often, NULL);
    T(poll, fds, 1, 10000);
    S(setitimer, ITIMER_REAL, &never, NULL);
    is(alarms > 0);
    alarms = 0;
    /* With the signal blocked but for the wait. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    S(setitimer, ITIMER_REAL, &soon, NULL);
    T(poll, fds, 1, 30);
    num(alarms);
    T(ppoll, fds, 1, NULL, &none, 8);
    num(alarms);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    alarms = 0;
    S(setitimer, ITIMER_REAL, &often, NULL);
    T(pause);
    S(setitimer, ITIMER_REAL, &never, NULL);
    is(alarms > 0);
    alarms = 0;

    fd_set r, w, e;
    struct timeval tv = {0, 1000};
    FD_ZERO(&r); FD_ZERO(&w); FD_ZERO(&e);
    FD_SET(p[0], &r); FD_SET(p[1], &w); FD_SET(file, &r); FD_SET(p[0], &e);
    T(select, 20, &r, &w, &e, &tv);
    printf("%d %d %d %d\n", !!FD_ISSET(p[0], &r), !!FD_ISSET(file, &r), !!FD_ISSET(p[1], &w), !!FD_ISSET(p[0], &e));
    FD_ZERO(&r); FD_SET(p[0], &r);
    T(select, p[0] + 1, &r, NULL, NULL, &tv);
    num(tv.tv_sec + tv.tv_usec);
    num(!!FD_ISSET(p[0], &r));
    /* A closed descriptor is an error only where the table of descriptors has room for it. */
    S(dup2, 0, 100), S(close, 100);
    FD_SET(99, &r);
    T(select, 100, &r, NULL, NULL, NULL);
    int size = table_size();
    is(size >= 128 && size < 1024);
    FD_ZERO(&r); FD_SET(size, &r);
    T(select, 1024, &r, NULL, NULL, &(struct timeval){});
    num(!!FD_ISSET(size, &r));
    T(select, -1, NULL, NULL, NULL, NULL);
    T(select, 0, NULL, NULL, NULL, &(struct timeval){});
    tv.tv_sec = -1;
    T(select, 0, NULL, NULL, NULL, &tv);
    T(select, 10, BAD, NULL, NULL, &(struct timeval){});
    T(select, 0, NULL, NULL, NULL, BAD);
    S(write, p[1], "x", 1);
    FD_ZERO(&r); FD_SET(p[0], &r);
    T(pselect6, p[0] + 1, &r, NULL, NULL, NULL, NULL);
    S(read, p[0], buf, 8);
    ts = (struct timespec){0, 1000000};
    T(pselect6, p[0] + 1, &r, NULL, NULL, &ts, NULL);
    T(pselect6, 0, NULL, NULL, NULL, &bad, NULL);
    struct {
        const sigset_t *set;
        size_t size;
    } mask = {&none, 8};
    sigprocmask(SIG_BLOCK, &set, NULL);
    S(setitimer, ITIMER_REAL, &soon, NULL);
    FD_ZERO(&r); FD_SET(p[0], &r);
    T(pselect6, p[0] + 1, &r, NULL, NULL, NULL, &mask);
    num(alarms);
    mask.size = 4;
    T(pselect6, 0, NULL, NULL, NULL, &ts, &mask);
    return 0;
}
