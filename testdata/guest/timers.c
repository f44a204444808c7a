// covers: alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
#include "guest.h"
#include <sys/time.h>
#include <time.h>

static int count, code, value;
static void on(int s, siginfo_t *i, void *c)
{
    (void)s, (void)c;
    count++, code = i->si_code, value = i->si_value.sival_int;
}

int main(void)
{
    struct sigaction sa = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};
    int signals[] = {SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1};
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &sa, NULL);
    struct itimerval v = {{0, 0}, {0, 3000}}, old;

    T(alarm, 100);
    long rest = S(alarm, 0);
    is(rest >= 99 && rest <= 100);
    T(alarm, 0);
    T(setitimer, ITIMER_REAL, &v, &old);
    printf("%ld %ld\n", old.it_value.tv_sec, old.it_value.tv_usec);
    T(getitimer, ITIMER_REAL, &old);
    is(old.it_value.tv_usec <= 3000);
    while (count == 0)
        S(nanosleep, &((struct timespec){.tv_nsec = 1000000}), NULL);
    printf("%d code %d\n", count, code);
    T(getitimer, ITIMER_REAL, &old);
    is(old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0);
    v.it_interval.tv_usec = 2000;
    T(setitimer, ITIMER_REAL, &v, NULL);
    while (count < 4)
        S(nanosleep, &((struct timespec){.tv_nsec = 1000000}), NULL);
    v = (struct itimerval){{0, 0}, {0, 0}};
    T(setitimer, ITIMER_REAL, &v, &old);
    is(old.it_interval.tv_usec == 2000);
    count = 0;
    v.it_value.tv_usec = 2000;
    /* Those of the time spent computing. */
    T(setitimer, ITIMER_VIRTUAL, &v, NULL);
    while (count == 0)
        S(getpid);
    printf("%d code %d\n", count, code);
    count = 0;
    T(setitimer, ITIMER_PROF, &v, NULL);
    while (count == 0)
        S(getpid);
    num(count);
    T(setitimer, 3, &v, NULL);
    T(getitimer, 3, &v);
    T(getitimer, ITIMER_REAL, BAD);
    T(setitimer, ITIMER_REAL, BAD, NULL);
    v.it_value.tv_usec = 1000000;
    T(setitimer, ITIMER_REAL, &v, NULL);
    v.it_value.tv_usec = -1;
    T(setitimer, ITIMER_REAL, &v, NULL);

    int id = -1, second;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    struct itimerspec s = {{0, 0}, {0, 2000000}}, was;
    T(timer_create, CLOCK_MONOTONIC, &e, &id);
    num(id);
    T(timer_gettime, id, &was);
    printf("%ld %ld\n", was.it_value.tv_sec, was.it_value.tv_nsec);
    count = 0;
    T(timer_settime, id, 0, &s, NULL);
    while (count == 0)
        S(nanosleep, &((struct timespec){.tv_nsec = 1000000}), NULL);
    printf("%d code %d value %d\n", count, code, value);
    T(timer_getoverrun, id);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    s.it_value = (struct timespec){now.tv_sec + 100, 0};
    T(timer_settime, id, TIMER_ABSTIME, &s, NULL);
    T(timer_gettime, id, &was);
    is(was.it_value.tv_sec >= 98 && was.it_value.tv_sec <= 100);
    s.it_value = (struct timespec){0, 0};
    T(timer_settime, id, 0, &s, &was);
    is(was.it_value.tv_sec >= 98);
    T(timer_create, CLOCK_REALTIME, NULL, &second);
    num(second);
    /* Repeated while blocked: one signal and a count of the others. */
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s = (struct itimerspec){{0, 1000000}, {0, 1000000}};
    count = 0;
    T(timer_settime, id, 0, &s, NULL);
    S(nanosleep, &((struct timespec){.tv_nsec = 20000000}), NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    s = (struct itimerspec){{0, 0}, {0, 0}};
    S(timer_settime, id, 0, &s, NULL);
    is(count >= 1 && S(timer_getoverrun, id) >= 0);
    T(timer_delete, id);
    T(timer_delete, id);
    T(timer_gettime, id, &was);
    T(timer_settime, id, 0, &s, NULL);
    T(timer_getoverrun, id);
    T(timer_gettime, second, BAD);
    T(timer_settime, second, 0, BAD, NULL);
    s.it_value.tv_nsec = -1;
    T(timer_settime, second, 0, &s, NULL);
    T(timer_settime, second, 0, NULL, NULL);
    T(timer_create, 99, NULL, &id);
    e.sigev_signo = 99;
    T(timer_create, CLOCK_REALTIME, &e, &id);
    e.sigev_notify = 99;
    T(timer_create, CLOCK_REALTIME, &e, &id);
    T(timer_create, CLOCK_REALTIME, NULL, BAD);
    e = (struct sigevent){.sigev_notify = SIGEV_NONE};
    T(timer_create, CLOCK_REALTIME, &e, &id);
    return 0;
}
