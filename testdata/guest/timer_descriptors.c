// covers: timerfd_create timerfd_settime timerfd_gettime read poll fork dup
#include "child.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>

/* Timers behind descriptors: expirations that add up, absolute times, what a new setting does to them, and their copies. */
static long t;

static void expirations(const char *what)
{
    uint64_t n = 0;
    long r = S(read, t, &n, 8);
    if (r < 0)
        show(what, r);
    else
        printf("%s: %s\n", what, n == 1 ? "once" : n > 1 ? "several times" : "never");
}
static long set(int flags, long first_ns, long every_ns)
{
    struct itimerspec s = {{every_ns / 1000000000, every_ns % 1000000000}, {first_ns / 1000000000, first_ns % 1000000000}};
    return S(timerfd_settime, t, flags, &s, 0);
}
static void left(const char *what)
{
    struct itimerspec s;
    long r = S(timerfd_gettime, t, &s);
    printf("%s: %ld %s every %ld.%09ld\n", what, r, s.it_value.tv_sec || s.it_value.tv_nsec ? "armed" : "not armed", (long)s.it_interval.tv_sec,
        s.it_interval.tv_nsec);
}
static void by_the_child(void)
{
    expirations("child reads"), show("child sets", set(0, 50000000000, 0));
}

int main(void)
{
    const int clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
    struct timespec now;
    struct itimerspec s = {{0, 0}, {1, 0}}, old;
    T(timerfd_create, 99, 0), T(timerfd_create, CLOCK_PROCESS_CPUTIME_ID, 0), T(timerfd_create, CLOCK_MONOTONIC_RAW, 0), T(timerfd_create, CLOCK_MONOTONIC, 1);
    for (int i = 0; i < 3; i++) {
        t = S(timerfd_create, clocks[i], TFD_NONBLOCK), left("new"), expirations("not set"), show("set", set(0, 1000000, 0)), usleep(3000),
            expirations("after it"), left("after it"), expirations("again");
        show("with an interval", set(0, 1000000, 1000000)), usleep(8000), expirations("meanwhile"),
            show("with a long one", set(0, 1000000, 900000000)), usleep(3000), left("goes on"),
            show("disarmed", set(0, 0, 1000000)), left("disarmed"), usleep(2000), expirations("nothing");
        /* Absolute: in the past at once, far away not. */
        show("past", set(TFD_TIMER_ABSTIME, 1, 0)), expirations("at once"), left("done"), S(clock_gettime, clocks[i], &now),
            show("far", set(TFD_TIMER_ABSTIME, (now.tv_sec + 1000) * 1000000000, 0)), expirations("not yet"), left("far");
        /* A new setting forgets expirations that nobody has read. */
        show("soon", set(0, 1, 0)), usleep(1000), show("set anew", set(0, 50000000000, 0)), expirations("forgotten"), S(close, t);
    }
    t = S(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK);
    T(timerfd_settime, t, 4, &s, 0), T(timerfd_settime, t, 0, BAD, 0), T(timerfd_settime, t, 0, &s, BAD), left("set before the fault"),
        T(timerfd_settime, t, 0, &s, &old), is(old.it_value.tv_sec < 2), s.it_value.tv_nsec = 1000000000, T(timerfd_settime, t, 0, &s, 0),
        s.it_value = (struct timespec){-1, 0}, T(timerfd_settime, t, 0, &s, 0), T(timerfd_settime, 0, 0, &old, 0), T(timerfd_settime, 99, 0, &old, 0),
        T(timerfd_gettime, t, BAD), T(timerfd_gettime, 1, &old), T(timerfd_settime, t, TFD_TIMER_CANCEL_ON_SET, &old, 0),
        T(timerfd_settime, t, TFD_TIMER_CANCEL_ON_SET | TFD_TIMER_ABSTIME, &old, 0);
    char buf[16];
    T(read, t, buf, 7), T(write, t, buf, 8), T(pread64, t, buf, 8, 0), set(0, 1, 0), usleep(1000), T(read, t, buf, 7), T(read, t, BAD, 8), T(read, t, buf, 16);
    uint64_t ticks = 0, five = 5;
    show("TFD_IOC_SET_TICKS of none", S(ioctl, t, 0x40085400, &ticks)), T(ioctl, t, FIONREAD, buf);
    if (S(ioctl, t, 0x40085400, &five) == 0)
        expirations("set by hand");
    else
        printf("set by hand: several times\n");

    /* A copy, and a child, have the same timer. */
    S(fcntl, t, F_SETFL, 0), set(0, 1000000, 0), reap(child(by_the_child)), left("as the child has set it"), set(0, 2000000, 0),
        expirations("waited for"), t = S(dup, t), left("copy");
    struct pollfd p = {(int)t, POLLIN, 0};
    set(0, 1000000, 1000000), T(poll, &p, 1, -1), usleep(5000), expirations("several");
    return 0;
}
