// covers: clock_gettime clock_getres gettimeofday time clock_nanosleep nanosleep times getrusage
#include "guest.h"
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

static long long ns(struct timespec t)
{
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void)
{
    struct timespec a, b, left;
    static const int clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                 CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
                                 CLOCK_TAI};
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        long r = S(clock_gettime, clocks[i], &a), q = S(clock_gettime, clocks[i], &b);
        long s = S(clock_getres, clocks[i], &left);
        printf("clock %d: %ld %ld %ld forward %d valid %d\n", clocks[i], r, q, s, ns(b) >= ns(a),
               a.tv_nsec >= 0 && a.tv_nsec < 1000000000 && left.tv_sec == 0 && left.tv_nsec > 0);
    }
    T(clock_gettime, 99, &a);
    T(clock_gettime, -1, &a);
    T(clock_gettime, CLOCK_REALTIME, BAD);
    T(clock_getres, CLOCK_REALTIME, NULL);
    T(clock_getres, 99, NULL);
    T(clock_getres, CLOCK_REALTIME, BAD);

    struct timeval tv;
    time_t t;
    T(gettimeofday, &tv, NULL);
    S(clock_gettime, CLOCK_REALTIME, &a);
    is(a.tv_sec - tv.tv_sec <= 1 && a.tv_sec >= tv.tv_sec);
    is(S(time, &t) == t && a.tv_sec - t <= 1 && t - a.tv_sec <= 1);
    is(t > 1000000000);
    struct timezone tz = {1, 1};
    T(gettimeofday, &tv, &tz);
    printf("%d %d\n", tz.tz_minuteswest, tz.tz_dsttime);
    T(gettimeofday, NULL, NULL);
    T(gettimeofday, BAD, NULL);
    T(time, BAD);
    is(S(time, NULL) >= t);

    /* Sleeping takes the time it was told to. */
    S(clock_gettime, CLOCK_MONOTONIC, &a);
    T(nanosleep, &((struct timespec){.tv_nsec = 20000000}), &left);
    S(clock_gettime, CLOCK_MONOTONIC, &b);
    is(ns(b) - ns(a) >= 20000000);
    T(nanosleep, &((struct timespec){.tv_nsec = 1000000000}), NULL);
    T(nanosleep, &((struct timespec){.tv_sec = -1}), NULL);
    T(nanosleep, &((struct timespec){.tv_nsec = -1}), NULL);
    T(nanosleep, BAD, NULL);
    T(nanosleep, &((struct timespec){.tv_nsec = 0}), BAD);
    T(clock_nanosleep, CLOCK_MONOTONIC, 0, &((struct timespec){.tv_nsec = 1000}), NULL);
    S(clock_gettime, CLOCK_MONOTONIC, &a);
    a.tv_sec += a.tv_nsec >= 980000000, a.tv_nsec = (a.tv_nsec + 20000000) % 1000000000;
    T(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &a, NULL);
    S(clock_gettime, CLOCK_MONOTONIC, &b);
    is(ns(b) >= ns(a));
    T(clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &((struct timespec){.tv_sec = 5}), NULL);
    T(clock_nanosleep, 99, 0, &a, NULL);
    T(clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &a, NULL);
    T(clock_nanosleep, CLOCK_MONOTONIC, 0, &((struct timespec){.tv_nsec = -1}), NULL);
    T(clock_nanosleep, CLOCK_MONOTONIC, 0, BAD, NULL);

    struct tms tms;
    struct rusage u;
    long ticks = S(times, &tms);
    is(ticks > 0 && tms.tms_utime >= 0 && tms.tms_cutime == 0);
    is(S(times, NULL) >= ticks);
    T(times, BAD);
    T(getrusage, RUSAGE_SELF, &u);
    is(u.ru_maxrss > 0 && u.ru_utime.tv_sec >= 0 && u.ru_utime.tv_usec < 1000000);
    T(getrusage, RUSAGE_CHILDREN, &u);
    is(u.ru_utime.tv_sec == 0 && u.ru_maxrss == 0);
    T(getrusage, RUSAGE_THREAD, &u);
    T(getrusage, 5, &u);
    T(getrusage, RUSAGE_SELF, BAD);

    /* Work shows on the clock of the process. */
    S(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &a);
    for (volatile int i = 0; i < 1000000; i++)
        ;
    S(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &b);
    is(ns(b) > ns(a));
    return 0;
}
