// covers: nanosleep clock_nanosleep alarm setitimer kill wait4
#include "child.h"
#include <sys/time.h>
#include <time.h>

/* Sleeps that signals end: what is left, what goes on after a stop, and absolute ones. */
static volatile int handled;
static void handler(int signo)
{
    (void)signo;
    handled++;
}
static void in(long us)
{
    struct itimerval t = {{0, 0}, {0, us}};
    S(setitimer, ITIMER_REAL, &t, 0);
}
static double since(struct timespec a)
{
    struct timespec b;
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}
static void is_stopped_meanwhile(void)
{
    struct timespec t = {0, 100000000}, start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    show("over a stop", S(nanosleep, &t, 0)), is(since(start) >= 0.1);
}

int main(void)
{
    struct timespec t = {50, 0}, rest = {7, 7}, start, none = {0, 0};
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, 0);
    in(3000), T(nanosleep, &t, &rest), is(rest.tv_sec == 49 && rest.tv_nsec > 0), num(handled), in(3000), T(nanosleep, &t, &t), is(t.tv_sec == 49),
        in(3000), T(nanosleep, &t, 0), in(3000), T(nanosleep, &t, BAD);
    in(3000), t = (struct timespec){50, 0}, T(clock_nanosleep, CLOCK_MONOTONIC, 0, &t, &rest), is(rest.tv_sec == 49);
    /* An absolute time has no rest. */
    clock_gettime(CLOCK_MONOTONIC, &start), t = (struct timespec){start.tv_sec + 50, 0}, rest = (struct timespec){7, 7}, in(3000),
        T(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, &rest), num(rest.tv_sec),
        T(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &none, &rest), T(clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &none, 0),
        t = (struct timespec){start.tv_sec, start.tv_nsec}, T(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, BAD);
    clock_gettime(CLOCK_MONOTONIC, &start), t = start, t.tv_nsec += 4000000, t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000,
        T(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0), is(since(start) >= 0.004), T(nanosleep, &none, BAD);

    /* A signal that is ignored, or blocked, does not end it. */
    signal(SIGALRM, SIG_IGN), in(1000), t = (struct timespec){0, 5000000}, clock_gettime(CLOCK_MONOTONIC, &start), T(nanosleep, &t, &rest),
        is(since(start) >= 0.005);
    sigset_t set;
    signal(SIGALRM, handler), sigemptyset(&set), sigaddset(&set, SIGALRM), sigprocmask(SIG_BLOCK, &set, 0), handled = 0, in(1000),
        T(nanosleep, &t, &rest), num(handled), sigprocmask(SIG_UNBLOCK, &set, 0), num(handled);
    /* Of alarm what is left. */
    num(alarm(100)), is(alarm(50) >= 99), is(alarm(0) >= 49), num(alarm(0)), in(900000), num(alarm(0)), in(100), usleep(3000), num(alarm(0)), num(handled);

    pid_t pid = child(is_stopped_meanwhile);
    asleep(pid), kill(pid, SIGSTOP), waitpid(pid, 0, WUNTRACED), usleep(1000), kill(pid, SIGCONT), reap(pid);
    t = (struct timespec){0, 1000000000}, T(nanosleep, &t, &rest), t = (struct timespec){-1, 0}, T(nanosleep, &t, &rest), T(nanosleep, BAD, &rest),
        t = (struct timespec){0, -1}, T(clock_nanosleep, CLOCK_MONOTONIC, 0, &t, 0), t = none, T(clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &t, 0),
        T(clock_nanosleep, CLOCK_MONOTONIC_RAW, 0, &t, 0), T(clock_nanosleep, CLOCK_REALTIME_COARSE, 0, &t, 0), T(clock_nanosleep, 77, 0, &t, 0),
        T(clock_nanosleep, CLOCK_MONOTONIC, 2, &t, 0), T(clock_nanosleep, CLOCK_TAI, 0, &t, 0), T(clock_nanosleep, CLOCK_BOOTTIME, 0, &t, 0);
    return 0;
}
