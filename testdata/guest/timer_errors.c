// covers: timer_create timer_settime timer_gettime timer_getoverrun timer_delete setitimer getitimer alarm
/* Timers: what each call refuses, and how often one was late. */
#include "cases.h"
#include <sys/time.h>

static void posix_timers(void)
{
    int id = -1;
    struct sigevent ev = {.sigev_notify = SIGEV_NONE};
    struct itimerspec it = {{0, 0}, {100, 0}}, bad = {{0, 0}, {0, 1000000000}}, neg = {{0, 0}, {-1, 0}}, badi = {{0,
           1000000000}, {1, 0}}, old;
    T(timer_create, 99, &ev, &id), T(timer_create, -99, &ev, &id), T(timer_create, 4, &ev, &id);
    T(timer_create, 5, &ev, &id), T(timer_create, 6, &ev, &id), T(timer_create, 0, BAD, &id);
    T(timer_create, 0, &ev, BAD);
    ev.sigev_notify = 77;
    T(timer_create, 0, &ev, &id);
    ev.sigev_notify = SIGEV_SIGNAL;
    ev.sigev_signo = 0;
    T(timer_create, 0, &ev, &id);
    ev.sigev_signo = 65;
    T(timer_create, 0, &ev, &id);
    ev.sigev_signo = -1;
    T(timer_create, 0, &ev, &id);
    ev.sigev_notify = SIGEV_NONE;
    ev.sigev_signo = 0;
    T(timer_create, 1, &ev, &id), T(timer_settime, id, 0, &it, &old), T(timer_settime, id, 0, &bad, 0);
    T(timer_settime, id, 0, &neg, 0), T(timer_settime, id, 0, &badi, 0), T(timer_settime, id, 0, NULL, 0);
    T(timer_settime, id, 0, BAD, 0), T(timer_settime, id, 0, &it, BAD), T(timer_settime, 999, 0, &it, 0);
    T(timer_settime, -1, 0, &it, 0), T(timer_settime, id, 99, &it, 0), T(timer_gettime, id, &old);
    T(timer_gettime, id, BAD), T(timer_gettime, 999, &old), T(timer_getoverrun, id), T(timer_getoverrun, 999);
    T(timer_delete, 999), T(timer_delete, -1), T(timer_delete, id), T(timer_delete, id);
    T(timer_gettime, id, &old);
}
static void interval_timers(void)
{
    struct itimerval v = {{0, 0}, {100, 0}}, bad = {{0, 0}, {0, 1000000}}, neg = {{-1, 0}, {0, 0}}, old;
    T(setitimer, 3, &v, 0), T(setitimer, -1, &v, 0), T(setitimer, 0, &bad, 0), T(setitimer, 0, &neg, 0);
    T(setitimer, 0, BAD, 0), T(setitimer, 0, &v, BAD), T(setitimer, 0, &v, &old), T(getitimer, 0, &old);
    num(old.it_value.tv_sec >= 99), T(getitimer, 3, &old), T(getitimer, 0, BAD), T(setitimer, 0, NULL, &old);
    T(getitimer, 0, &old), num(old.it_value.tv_sec), T(alarm, 50), T(alarm, 0), T(alarm, 0);
}
static void overruns(void)
{
    timer_t id;
    sigset_t set;
    siginfo_t info;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 7};
    struct itimerspec it = {{0, 1000000}, {0, 1000000}};
    struct timespec ms = {0, 20000000};
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    check(timer_create(CLOCK_MONOTONIC, &ev, &id));
    check(timer_settime(id, 0, &it, NULL));
    nanosleep(&ms, NULL);
    is(sigwaitinfo(&set, &info) == SIGRTMIN), num(info.si_code), num(info.si_value.sival_int);
    is(info.si_overrun >= 5), is(timer_getoverrun(id) >= 5);
    check(timer_delete(id));
}

int main(void)
{
    unfiltered();
    CASE(posix_timers);
    CASE(interval_timers);
    CASE(overruns);
    return 0;
}
