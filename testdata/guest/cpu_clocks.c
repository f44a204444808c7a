// covers: timer_create timer_settime timer_gettime timer_delete clock_gettime clock_nanosleep setitimer
// flags: -pthread
/* Clocks of CPU time of threads and of other processes: what follows them, and who gets the signals. */
#include "guest.h"
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define MS 1000000L

static volatile sig_atomic_t fired, taker, code, stop, spinning;

static void on(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    taker = (int)S(gettid), code = info->si_code, fired++;
}

static long ns(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void burn(long time)
{
    long until = ns(CLOCK_THREAD_CPUTIME_ID) + time;
    while (ns(CLOCK_THREAD_CPUTIME_ID) < until)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

static struct itimerspec after(long time)
{
    return (struct itimerspec){{0, 0}, {0, time}};
}

static void *burner(void *arg)
{
    burn((long)arg);
    return NULL;
}

static void *spinner(void *arg)
{
    (void)arg;
    spinning = (int)S(gettid);
    while (!stop)
        ;
    return NULL;
}

static void *timed(void *arg)
{
    (void)arg;
    timer_t id;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &id);
    struct itimerspec time = after(20 * MS);
    long begin = ns(CLOCK_THREAD_CPUTIME_ID);
    timer_settime(id, 0, &time, NULL);
    while (!fired)
        ;
    long used = ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    show("a thread's timer counts its own time", used >= 20 * MS);
    timer_delete(id);
    return NULL;
}

static void *sampled(void *arg)
{
    (void)arg;
    while (!fired)
        ;
    show("the running thread takes ITIMER_PROF", taker == (int)S(gettid));
    return NULL;
}

static void *fire_waiter(void *arg)
{
    while (!fired)
        ;
    return arg;
}

/* A clock id as the kernel makes it. */
static clockid_t of(int pid, int thread)
{
    return (clockid_t)((~(unsigned)pid << 3) | (thread ? 6 : 2));
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
    pthread_t threads[2];

    /* While others spin, the timer of one thread does not go faster. */
    pthread_create(&threads[0], NULL, spinner, NULL);
    pthread_create(&threads[1], NULL, timed, NULL);
    pthread_join(threads[1], NULL);
    stop = 1;
    pthread_join(threads[0], NULL);
    show("si_code", code == SI_TIMER);

    /* A timer of this thread does not go while another one runs. */
    timer_t own, whole, others;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1}, none = {.sigev_notify = SIGEV_NONE};
    struct itimerspec time = after(20 * MS), left;
    fired = 0;
    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &own);
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &none, &whole);
    timer_settime(own, 0, &time, NULL);
    timer_settime(whole, 0, &time, NULL);
    pthread_create(&threads[0], NULL, burner, (void *)(40 * MS));
    pthread_join(threads[0], NULL);
    timer_gettime(own, &left);
    show("own", fired == 0 && left.it_value.tv_nsec > 0);
    timer_gettime(whole, &left);
    show("whole", left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    while (!fired)
        ;
    show("own fired", fired);
    timer_delete(own);
    timer_delete(whole);

    /* Another thread's clock. */
    clockid_t clock;
    stop = 0, fired = 0;
    pthread_create(&threads[0], NULL, spinner, NULL);
    show("pthread_getcpuclockid", pthread_getcpuclockid(threads[0], &clock));
    show("timer_create", timer_create(clock, &event, &others));
    time = after(10 * MS);
    timer_settime(others, 0, &time, NULL);
    while (!fired)
        usleep(1000);
    struct timespec at = {0, 30 * MS};
    show("clock_nanosleep", clock_nanosleep(clock, TIMER_ABSTIME, &at, NULL));
    show("its time", ns(clock) >= 30 * MS);
    show("of the process", clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &at, NULL));
    stop = 1;
    pthread_join(threads[0], NULL);
    while (S(tgkill, getpid(), spinning, 0) == 0) /* until nothing is left of it */
        usleep(1000);
    time = after(10 * MS);
    T(timer_settime, (long)(int)(intptr_t)others, 0, &time, NULL);
    timer_gettime(others, &left);
    show("left of a thread that is gone", left.it_value.tv_nsec);
    T(timer_delete, (long)(int)(intptr_t)others);
    T(clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &at, NULL);
    T(clock_nanosleep, of(0, 1), 0, &at, NULL);

    /* Interval timers go by the time of all threads. */
    fired = 0;
    struct itimerval interval = {{0, 0}, {0, 20000}};
    pthread_create(&threads[0], NULL, sampled, NULL);
    setitimer(ITIMER_PROF, &interval, NULL);
    pthread_join(threads[0], NULL);
    fired = 0;
    setitimer(ITIMER_VIRTUAL, &interval, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fire_waiter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    show("ITIMER_VIRTUAL", fired);

    /* Another process's clock. */
    fired = 0;
    int child = fork();
    if (child == 0)
        for (;;)
            ;
    show("clock_getcpuclockid", clock_getcpuclockid(child, &clock));
    show("the id", clock == of(child, 0));
    show("timer_create", timer_create(clock, &event, &others));
    time = after(20 * MS);
    timer_settime(others, 0, &time, NULL);
    while (!fired)
        usleep(1000);
    show("of the child", ns(clock) >= 20 * MS);
    at.tv_nsec = 40 * MS;
    show("clock_nanosleep", clock_nanosleep(clock, TIMER_ABSTIME, &at, NULL));
    show("its time", ns(clock) >= 40 * MS);
    show("a thread of another process", timer_create(of(child, 1), &event, &own) ? errno : 0);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = child;
    T(timer_create, CLOCK_MONOTONIC, &event, &own);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    T(timer_settime, (long)(int)(intptr_t)others, 0, &time, NULL);
    T(timer_create, of(child, 0), NULL, &own);
    T(clock_gettime, of(child, 0), &at);
    return 0;
}
