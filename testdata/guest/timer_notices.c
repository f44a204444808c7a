// covers: timer_create timer_settime timer_gettime timer_delete timer_getoverrun fork rt_sigtimedwait tgkill
// flags: -pthread -lrt
#include "child.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* How timers of POSIX tell: by signals with their values, threads, a certain thread, or not at all; and what
 * forks have of them. */
static sem_t called;
static volatile int value, count, in_thread;
static pthread_t first;
static timer_t t;

static void thread(union sigval v)
{
    value = v.sival_int, in_thread = !pthread_equal(first, pthread_self()), sem_post(&called);
}
static void handler(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    count++, value = info->si_value.sival_int + 1000 * (info->si_code == SI_TIMER);
}
static long arm(int flags, long ns, long every)
{
    struct itimerspec s = {{0, every}, {ns / 1000000000, ns % 1000000000}};
    return timer_settime(t, flags, &s, 0) ? -errno : 0;
}
static void armed(const char *what)
{
    struct itimerspec s;
    printf("%s: %s\n", what, timer_gettime(t, &s) ? strerrorname_np(errno) : s.it_value.tv_sec || s.it_value.tv_nsec ? "armed" : "not armed");
}
static void in_the_child(void)
{
    int id = 0;
    struct itimerspec s;
    show("child: gettime", S(timer_gettime, id, &s)), show("child: delete", S(timer_delete, id)), usleep(3000), num(count);
}
static void *waits(void *arg)
{
    sigset_t set;
    siginfo_t info;
    struct timespec second = {10, 0};
    *(pid_t *)arg = (pid_t)S(gettid), sem_post(&called), sigemptyset(&set), sigaddset(&set, SIGRTMIN + 1);
    int signo = sigtimedwait(&set, &info, &second);
    printf("thread: %d value %d\n", signo - SIGRTMIN, info.si_value.sival_int);
    return 0;
}

int main(void)
{
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 7};
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t set;
    siginfo_t info;
    first = pthread_self(), sem_init(&called, 0, 0), sigaction(SIGRTMIN, &a, 0), sigaction(SIGALRM, &a, 0);
    num(timer_create(CLOCK_MONOTONIC, &e, &t)), armed("new"), show("set", arm(0, 1000000, 0));
    while (!count)
        usleep(300);
    num(value), armed("fired"), count = 0, show("absolute, past", arm(TIMER_ABSTIME, 1, 0)), usleep(500), num(count), reap(child(in_the_child)),
        show("far", arm(0, 5000000000000, 0)), armed("far"), show("none", arm(0, 0, 5)), armed("none"), num(timer_delete(t)),
        timer_create(CLOCK_REALTIME, NULL, &t), arm(0, 1000, 0);
    while (count < 2)
        usleep(300);
    printf("by default SIGALRM, value is the timer's number %d\n", value >= 1000), timer_delete(t);
    /* Blocked: one signal waits, the rest are overruns. */
    struct timespec none = {0, 0};
    sigemptyset(&set), sigaddset(&set, SIGRTMIN), sigprocmask(SIG_BLOCK, &set, 0), timer_create(CLOCK_MONOTONIC, &e, &t), arm(0, 100000, 100000),
        usleep(5000), num(sigtimedwait(&set, &info, &none) == SIGRTMIN),
        printf("value %d overruns some %d the same %d\n", info.si_value.sival_int, info.si_overrun > 5, info.si_overrun == timer_getoverrun(t)),
        timer_delete(t), sigtimedwait(&set, &info, &none), sigprocmask(SIG_UNBLOCK, &set, 0);
    e = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 8}, e.sigev_notify_function = thread,
        num(timer_create(CLOCK_MONOTONIC, &e, &t)), arm(0, 1000000, 0), sem_wait(&called), printf("thread %d value %d\n", in_thread, value),
        timer_delete(t);
    e = (struct sigevent){.sigev_notify = SIGEV_NONE}, num(timer_create(CLOCK_MONOTONIC, &e, &t)), arm(0, 1000000, 0), usleep(3000), armed("none"),
        num(timer_getoverrun(t)), timer_delete(t);
    pthread_t p;
    pid_t tid = 0;
    sigemptyset(&set), sigaddset(&set, SIGRTMIN + 1), sigprocmask(SIG_BLOCK, &set, 0), pthread_create(&p, 0, waits, &tid), sem_wait(&called),
        e = (struct sigevent){.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = 9}, e._sigev_un._tid = tid,
        num(timer_create(CLOCK_MONOTONIC, &e, &t)), arm(0, 1000000, 0), pthread_join(p, 0), num(timer_delete(t));
    /* Whoever joins may be sooner than the kernel is done with the thread. */
    while (S(tgkill, getpid(), tid, 0) == 0)
        usleep(200);
    is(timer_create(CLOCK_MONOTONIC, &e, &t) == -1 && errno == EINVAL);
    const int clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
        CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, 99, -1};
    e = (struct sigevent){.sigev_notify = SIGEV_NONE};
    for (int i = 0; i < 10; i++) {
        int id = -1;
        long r = S(timer_create, clocks[i], &e, &id);
        printf("clock %d: %s\n", clocks[i], r ? strerrorname_np((int)-r) : "ok");
        if (r == 0)
            S(timer_delete, id);
    }
    return 0;
}
