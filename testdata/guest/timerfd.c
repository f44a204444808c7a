// covers: timerfd_create timerfd_settime timerfd_gettime
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET 2
#endif

static void nap(long ns) { S(nanosleep, &((struct timespec){ns / 1000000000, ns % 1000000000}), NULL); }

/* A line of fdinfo that begins with a word. */
static void info(int fd, const char *word)
{
    char path[64], buf[1024];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    long in = S(open, path, O_RDONLY), n = S(read, in, buf, sizeof buf - 1);
    S(close, in);
    buf[n > 0 ? n : 0] = 0;
    char *line = strstr(buf, word);
    printf("%.*s\n", line ? (int)strcspn(line, "\n") : 4, line ? line : "none");
}

static long set(int fd, int flags, long sec, long nsec, long interval)
{
    struct itimerspec t = {{interval / 1000000000, interval % 1000000000}, {sec, nsec}};
    return S(timerfd_settime, fd, flags, &t, NULL);
}

int main(void)
{
    uint64_t n = 0;
    struct itimerspec now, t = {{0, 0}, {0, 0}};
    T(timerfd_create, CLOCK_PROCESS_CPUTIME_ID, 0), T(timerfd_create, CLOCK_MONOTONIC_RAW, 0), T(timerfd_create, CLOCK_MONOTONIC_COARSE, 0), T(timerfd_create, 99, 0);
    T(timerfd_create, CLOCK_TAI, 0), T(timerfd_create, -6, 0), T(timerfd_create, CLOCK_MONOTONIC, 1), T(timerfd_create, CLOCK_MONOTONIC, ~TFD_CLOEXEC);
    OK(timerfd_create, CLOCK_BOOTTIME, 0), OK(timerfd_create, CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    long fd = S(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), plain = S(open, "host/file", O_RDONLY);
    is(S(fcntl, fd, F_GETFD) == FD_CLOEXEC), is(S(fcntl, fd, F_GETFL) == (O_RDWR | O_NONBLOCK));
    T(read, fd, &n, 8), T(read, fd, &n, 7), T(read, fd, &n, 0), T(write, fd, &n, 8), T(lseek, fd, 0, SEEK_SET), T(pread64, fd, &n, 8, 0), T(ftruncate, fd, 0), T(fsync, fd);
    T(timerfd_gettime, fd, &now), is(!now.it_value.tv_sec && !now.it_value.tv_nsec && !now.it_interval.tv_sec);
    T(timerfd_gettime, plain, &now), T(timerfd_gettime, 99, &now), T(timerfd_gettime, fd, BAD), T(timerfd_settime, plain, 0, &t, NULL), T(timerfd_settime, 99, 0, &t, NULL);
    T(timerfd_settime, fd, 4, &t, NULL), T(timerfd_settime, fd, 0, BAD, NULL), T(timerfd_settime, fd, 0, NULL, NULL), T(timerfd_settime, fd, 0, &t, BAD), T(timerfd_settime, fd, 3, &t, NULL);
    show("bad nsec", set(fd, 0, 0, 1000000000, 0)), show("negative", set(fd, 0, -1, 0, 0)), show("bad interval", set(fd, 0, 1, 0, -1));

    /* Once, far away, then replaced. */
    show("set", set(fd, 0, 1000, 5, 7000000000));
    T(timerfd_gettime, fd, &now), is(now.it_value.tv_sec >= 990 && now.it_value.tv_sec <= 1000), num(now.it_interval.tv_sec);
    info(fd, "clockid"), info(fd, "ticks"), info(fd, "settime flags"), info(fd, "it_interval");
    t.it_value.tv_nsec = 1000000;
    T(timerfd_settime, fd, 0, &t, &now), is(now.it_value.tv_sec >= 990), num(now.it_interval.tv_sec);
    nap(5000000);
    info(fd, "ticks"), info(fd, "it_value");
    T(read, fd, &n, 8), num(n), T(read, fd, &n, 8);
    T(timerfd_gettime, fd, &now), is(!now.it_value.tv_sec && !now.it_value.tv_nsec);

    /* Again and again. */
    show("set", set(fd, 0, 0, 1000000, 1000000));
    nap(20000000);
    T(read, fd, &n, 8), is(n >= 19 && n < 10000);
    nap(5000000);
    T(timerfd_gettime, fd, &now), is(now.it_value.tv_sec == 0 && now.it_value.tv_nsec <= 1000000);
    T(read, fd, &n, 8), is(n >= 4);
    /* With an interval that does not end meanwhile, something is left of it. */
    show("set", set(fd, 0, 0, 1000000, 900000000)), nap(5000000);
    T(timerfd_gettime, fd, &now), is(now.it_value.tv_nsec > 0 && now.it_value.tv_nsec <= 900000000);
    show("disarm", set(fd, 0, 0, 0, 1000000));
    T(timerfd_gettime, fd, &now), num(now.it_value.tv_nsec), num(now.it_interval.tv_nsec), T(read, fd, &n, 8);

    /* A set timer forgets what it had; one that is past is due at once. */
    show("set", set(fd, 0, 0, 1, 0)), nap(2000000), show("set", set(fd, 0, 500, 0, 0)), T(read, fd, &n, 8);
    show("absolute", set(fd, TFD_TIMER_ABSTIME, 0, 1, 0)), T(read, fd, &n, 8), num(n);
    show("cancelling", set(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, 0, 1, 0)), T(read, fd, &n, 8), num(n);

    /* Reads that wait, and what else waits. */
    T(fcntl, fd, F_SETFL, 0);
    show("set", set(fd, 0, 0, 2000000, 0)), T(read, fd, &n, 8), num(n);
    struct pollfd p[2] = {{fd, POLLIN | POLLOUT, 0}, {0, POLLIN, 0}};
    T(poll, p, 1, 0), show("set", set(fd, 0, 0, 2000000, 0)), T(poll, p, 1, -1), num(p[0].revents), T(poll, p, 1, 1000), T(read, fd, &n, 16), num(n), T(poll, p, 1, 3);
    fd_set r;
    FD_ZERO(&r);
    FD_SET(fd, &r);
    show("set", set(fd, 0, 0, 2000000, 0)), T(select, fd + 1, &r, NULL, NULL, NULL), is(FD_ISSET(fd, &r));
    struct timespec second = {1, 0};
    show("set", set(fd, 0, 0, 2000000, 0)), T(ppoll, p, 1, &second, NULL, 8), num(p[0].revents);

    /* An instance hears of it once for each time that it becomes due, above another too. */
    long ep = S(epoll_create1, 0), outer = S(epoll_create1, 0);
    struct epoll_event e = {EPOLLIN | EPOLLET, {.u64 = 7}}, got[4];
    T(epoll_ctl, ep, EPOLL_CTL_ADD, fd, &e), T(epoll_wait, ep, got, 4, 0), T(epoll_wait, ep, got, 4, 3);
    show("set", set(fd, 0, 0, 2000000, 0)), T(epoll_wait, ep, got, 4, -1), num(got[0].events), T(epoll_wait, ep, got, 4, 3), S(read, fd, &n, 8);
    show("set", set(fd, 0, 0, 2000000, 1000000)), T(epoll_wait, ep, got, 4, -1), T(epoll_wait, ep, got, 4, 5), S(read, fd, &n, 8), T(epoll_wait, ep, got, 4, -1);
    e.events = EPOLLIN;
    T(epoll_ctl, outer, EPOLL_CTL_ADD, ep, &e), S(read, fd, &n, 8), T(epoll_wait, outer, got, 4, -1), num(got[0].data.u64);
    show("disarm", set(fd, 0, 0, 0, 0)), T(epoll_wait, outer, got, 4, 3);

    /* Copies share it. */
    long copy = S(dup, fd);
    show("set", set(copy, 0, 0, 1000000, 0)), T(close, fd), T(read, copy, &n, 8), num(n), T(close, copy), T(timerfd_gettime, copy, &now);
    char link[64] = "";
    long again = S(timerfd_create, CLOCK_REALTIME, 0), k;
    snprintf((char *)got, sizeof got, "/proc/self/fd/%ld", again);
    k = S(readlink, got, link, 63), link[k > 0 ? k : 0] = 0;
    printf("%s\n", link);
    show("far", set(again, TFD_TIMER_ABSTIME, 4000000000, 0, 0)), T(timerfd_gettime, again, &now), is(now.it_value.tv_sec > 100000000);
    return 0;
}
