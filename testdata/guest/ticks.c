// covers: setitimer timer_settime
// exit: 142
/* Timers that fire while the program computes and makes no system call. */
#include "guest.h"

#include <setjmp.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t ticks, last;
static sigjmp_buf out;

static void on(int signo)
{
    last = signo;
    ticks++;
}

static void leave(int signo)
{
    siglongjmp(out, signo);
}

/* Registers that the compiler keeps across the loop are the same after every signal. */
static unsigned long compute(int until)
{
    unsigned long a = 1, b = 2, c = 3, wrong = 0;
    double x = 1.5, y = 0.25;
    while (ticks < until) {
        unsigned long before = a + b + c;
        a += 3, b += 5, c += 7;
        x += 1, y += 1;
        wrong += a + b + c != before + 15;
        wrong += x - y != 1.25;
    }
    return wrong;
}

static void interval(int which, int signo)
{
    struct itimerval v = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    ticks = 0;
    signal(signo, on);
    setitimer(which, &v, NULL);
    is(compute(5) == 0);
    setitimer(which, &off, NULL);
    num(last);
}

int main(void)
{
    interval(ITIMER_REAL, SIGALRM);
    interval(ITIMER_VIRTUAL, SIGVTALRM);
    interval(ITIMER_PROF, SIGPROF);

    timer_t id;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec s = {{0, 500000}, {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, &e, &id);
    ticks = 0;
    signal(SIGUSR1, on);
    timer_settime(id, 0, &s, NULL);
    is(compute(4) == 0);
    timer_delete(id);
    num(last);

    /* While it is blocked nothing comes; then it comes at once. */
    struct itimerval once = {{0, 0}, {0, 1000}};
    struct timespec begin, now;
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ticks = 0;
    setitimer(ITIMER_REAL, &once, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 3000000);
    num(ticks);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    num(ticks);

    /* Out of an endless loop. */
    signal(SIGALRM, leave);
    if (sigsetjmp(out, 1) == 0) {
        setitimer(ITIMER_REAL, &once, NULL);
        for (;;)
            __asm__ volatile("");
    }
    puts("out");

    /* Nobody handles this one. */
    fflush(stdout);
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &once, NULL);
    for (;;)
        __asm__ volatile("");
}
