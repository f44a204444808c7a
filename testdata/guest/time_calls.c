// covers: clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getitimer setitimer alarm timer_create timer_settime timer_gettime timer_getoverrun timer_delete getrusage clock_settime settimeofday adjtimex clock_adjtime
#include "guest.h"
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>

static void spec(const char *what, long sec, long nsec)
{
    struct timespec t = {sec, nsec}, left = {7, 7};
    char line[64];
    sprintf(line, "%s nanosleep", what);
    show(line, S(nanosleep, &t, &left));
    sprintf(line, "%s clock_nanosleep", what);
    show(line, S(clock_nanosleep, CLOCK_MONOTONIC, 0, &t, &left));
    sprintf(line, "%s until", what);
    show(line, S(clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &t, &left));
    printf("%ld %ld\n", left.tv_sec, left.tv_nsec);
}

int main(void)
{
    unfiltered();
    struct timespec t;
    struct timeval tv;
    for (int clock = -3; clock < 16; clock++) {
        char what[32];
        /* Whether there are alarm clocks depends on the machine; -1 and -3 name other things. */
        if (clock == -3 || clock == -1 || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
            continue;
        sprintf(what, "clock %d", clock);
        show(what, S(clock_gettime, clock, &t));
        show(what, S(clock_gettime, clock, BAD));
        long result = show(what, S(clock_getres, clock, &t));
        if (result == 0 && clock != 5 && clock != 6)
            printf("%ld %ld\n", t.tv_sec, t.tv_nsec);
        show(what, S(clock_getres, clock, 0));
        show(what, S(clock_getres, clock, BAD));
        struct timespec none = {0, 0}, bad = {0, -1};
        show(what, S(clock_nanosleep, clock, 0, &bad, 0));
        show(what, S(clock_nanosleep, clock, 0, &none, 0));
        show(what, S(clock_nanosleep, clock, 0, BAD, 0));
        show(what, S(clock_settime, clock, BAD));
        timer_t id;
        result = S(timer_create, clock, 0, &id);
        show(what, result);
        if (result == 0)
            S(timer_delete, id);
    }
    long own = ~S(getpid) << 3;
    T(clock_gettime, own | 2, &t);
    T(clock_gettime, own | 0, &t);
    T(clock_gettime, own | 1, &t);
    T(clock_gettime, own | 3, &t);
    T(clock_gettime, own | 4 | 2, &t);
    T(clock_gettime, ~0x7ffffL << 3 | 2, &t);
    T(clock_gettime, ~0L << 3 | 2, &t);
    T(clock_gettime, ~0L << 3 | 4 | 2, &t);
    T(clock_getres, own | 2, &t);
    T(clock_getres, own | 0, &t);

    spec("good", 0, 1000);
    spec("zero", 0, 0);
    spec("negative", -1, 0);
    spec("negative fraction", 0, -1);
    spec("large fraction", 0, 1000000000);
    struct timespec soon = {0, 1000};
    T(nanosleep, 0, 0);
    T(nanosleep, &soon, BAD);
    T(clock_nanosleep, CLOCK_MONOTONIC, 2, &soon, 0);
    T(clock_nanosleep, CLOCK_MONOTONIC, -1, &soon, 0);
    T(clock_nanosleep, CLOCK_MONOTONIC, 0, 0, 0);

    T(gettimeofday, BAD, 0);
    T(gettimeofday, 0, BAD);
    T(gettimeofday, 0, 0);
    T(gettimeofday, &tv, 0);
    is(tv.tv_usec >= 0 && tv.tv_usec < 1000000);
    T(time, BAD);
    long now;
    is(S(time, &now) == now);
    T(times, BAD);
    OK(times, 0);

    struct itimerval it = {{0, 0}, {0, 0}}, old;
    T(getitimer, 3, &it);
    T(getitimer, -1, &it);
    T(getitimer, 0, BAD);
    T(setitimer, 3, &it, 0);
    T(setitimer, 0, BAD, 0);
    T(setitimer, 0, &it, BAD);
    T(setitimer, 0, 0, &old);
    it = (struct itimerval){{0, 1000000}, {0, 0}};
    T(setitimer, 0, &it, 0);
    it = (struct itimerval){{0, 0}, {-1, 0}};
    T(setitimer, 0, &it, 0);
    it = (struct itimerval){{0, 0}, {0, -1}};
    T(setitimer, 3, &it, 0);
    it = (struct itimerval){{0, 0}, {1000, 0}};
    T(setitimer, 0, &it, &old);
    T(setitimer, 0, &it, &old);
    is(old.it_value.tv_sec >= 990 && old.it_interval.tv_sec == 0);
    is(S(alarm, 500) >= 990);
    is(S(alarm, 0) >= 490);
    num(S(alarm, 0));

    timer_t id;
    struct sigevent ev = {.sigev_notify = SIGEV_NONE};
    struct itimerspec ts = {{0, 0}, {1000, 0}}, was;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    T(timer_settime, id, 0, &ts, &was);
    num(was.it_value.tv_sec);
    T(timer_gettime, id, &was);
    is(was.it_value.tv_sec >= 990);
    T(timer_settime, id, 4, &ts, 0);
    T(timer_settime, id, -1, &ts, 0);
    T(timer_settime, id, 0, 0, 0);
    T(timer_settime, id, 0, BAD, 0);
    T(timer_settime, id, 0, &ts, BAD);
    ts.it_value.tv_nsec = 1000000000;
    T(timer_settime, id, 0, &ts, 0);
    ts = (struct itimerspec){{0, -1}, {1, 0}};
    T(timer_settime, id, 0, &ts, 0);
    ts = (struct itimerspec){{-1, 0}, {1, 0}};
    T(timer_settime, id, 0, &ts, 0);
    ts = (struct itimerspec){{-1, 0}, {0, 0}};
    T(timer_settime, id, 0, &ts, 0);
    T(timer_gettime, id, BAD);
    T(timer_gettime, 99, &was);
    T(timer_gettime, -1, &was);
    T(timer_settime, 99, 0, &was, 0);
    T(timer_getoverrun, id);
    T(timer_getoverrun, 99);
    T(timer_delete, id);
    T(timer_delete, id);
    T(timer_delete, -1);
    T(timer_create, CLOCK_MONOTONIC, BAD, &id);
    T(timer_create, CLOCK_MONOTONIC, &ev, BAD);
    T(timer_create, 99, &ev, &id);
    ev.sigev_notify = 99;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev.sigev_notify = SIGEV_SIGNAL;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev.sigev_signo = 65;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev.sigev_signo = -1;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev.sigev_signo = 0, ev.sigev_notify = SIGEV_NONE;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev.sigev_signo = SIGUSR1, ev.sigev_notify = SIGEV_THREAD_ID;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev._sigev_un._tid = 0x7fffffff;
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    ev._sigev_un._tid = (int)S(gettid);
    T(timer_create, CLOCK_MONOTONIC, &ev, &id);
    T(timer_delete, id);

    struct rusage ru;
    T(getrusage, RUSAGE_SELF, &ru);
    T(getrusage, RUSAGE_CHILDREN, &ru);
    T(getrusage, RUSAGE_THREAD, &ru);
    T(getrusage, 2, &ru);
    T(getrusage, -2, &ru);
    T(getrusage, 0, BAD);
    struct timex tx = {0};
    OK(adjtimex, &tx);
    is(tx.tick >= 9000 && tx.tick <= 11000);
    T(adjtimex, BAD);
    OK(clock_adjtime, CLOCK_REALTIME, &tx);
    T(clock_adjtime, CLOCK_MONOTONIC, &tx);
    T(clock_adjtime, 99, &tx);
    T(settimeofday, BAD, 0);
    tv = (struct timeval){0, 1000001};
    T(settimeofday, &tv, 0);
}
