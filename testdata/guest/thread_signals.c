// covers: tgkill rt_sigprocmask rt_sigtimedwait kill rt_sigqueueinfo clone gettid sigaltstack
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <time.h>

/* Signals and threads: masks of their own, who gets what, waiting with sigwait, names, and limits of each. */
static sem_t go, done;
static __thread int taken;
static int which, value;
static pthread_t workers[2];

static void handler(int signo)
{
    (void)signo;
    taken++;
}
static void info_handler(int signo, siginfo_t *info, void *context)
{
    (void)context, (void)signo;
    value = info->si_value.sival_int, which = pthread_equal(pthread_self(), workers[0]) ? 0 : pthread_equal(pthread_self(), workers[1]) ? 1 : 2;
    sem_post(&done);
}
static void *mask_of_a_child(void *arg)
{
    sigset_t now, pending;
    pthread_sigmask(SIG_BLOCK, 0, &now), sigpending(&pending),
        printf("inherited USR1 %d, pending %d, alternate stack %s\n", sigismember(&now, SIGUSR1), sigismember(&pending, SIGUSR1), arg ? "" : ({
        stack_t s;
        sigaltstack(0, &s);
        s.ss_flags & SS_DISABLE ? "none" : "there";
    }));
    return 0;
}
static void *blocks_but_one(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    if (arg)
        sigdelset(&all, SIGUSR2), sigdelset(&all, SIGRTMIN);
    pthread_sigmask(SIG_SETMASK, &all, 0), sem_post(&done);
    while (sem_trywait(&go))
        usleep(300);
    return (void *)(long)taken;
}
static void *waits_not(void *arg)
{
    sem_post(&done);
    return arg;
}
static void *waits(void *arg)
{
    sigset_t set;
    int signo = 0;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGTERM), pthread_sigmask(SIG_BLOCK, &set, 0), sem_post(&done);
    num(sigwait(&set, &signo)), num(signo), sem_post(&done), num(sigwait(&set, &signo)), num(signo);
    return arg;
}

int main(void)
{
    sigset_t usr1, all, old;
    char name[32];
    static char stack[65536];
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};
    sem_init(&go, 0, 0), sem_init(&done, 0, 0), sigaltstack(&s, 0), sigemptyset(&usr1), sigaddset(&usr1, SIGUSR1), sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &usr1, 0), pthread_kill(pthread_self(), SIGUSR1);
    pthread_t t;
    pthread_create(&t, 0, mask_of_a_child, 0), pthread_join(t, 0);
    struct timespec none = {0, 0};
    siginfo_t info;
    num(sigtimedwait(&usr1, &info, &none) == SIGUSR1), num(info.si_code), is(sigtimedwait(&usr1, &info, &none) == -1 && errno == EAGAIN);

    /* To the process: whoever does not block it. */
    signal(SIGUSR2, handler);
    struct sigaction a = {.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN, &a, 0), pthread_sigmask(SIG_SETMASK, &all, &old), pthread_create(&workers[0], 0, blocks_but_one, 0), sem_wait(&done),
        pthread_create(&workers[1], 0, blocks_but_one, "x"), sem_wait(&done);
    kill(getpid(), SIGUSR2), sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 31}), sem_wait(&done),
        printf("worker %d got %d\n", which, value), pthread_sigqueue(workers[1], SIGRTMIN, (union sigval){.sival_int = 32}), sem_wait(&done),
        printf("worker %d got %d\n", which, value);
    void *r0, *r1;
    usleep(2000), sem_post(&go), sem_post(&go), pthread_join(workers[0], &r0), pthread_join(workers[1], &r1), printf("%ld %ld\n", (long)r0, (long)r1);
    /* To a thread that blocks it: it waits there, and goes with it. */
    kill(getpid(), SIGUSR2), pthread_kill(pthread_self(), SIGTERM);
    sigset_t pending;
    sigpending(&pending), printf("pending %d %d\n", sigismember(&pending, SIGUSR2), sigismember(&pending, SIGTERM)), signal(SIGUSR2, SIG_IGN),
        signal(SIGTERM, SIG_IGN), sigpending(&pending), printf("ignored %d %d\n", sigismember(&pending, SIGUSR2), sigismember(&pending, SIGTERM)),
        signal(SIGTERM, SIG_DFL);
    pthread_create(&t, 0, waits, 0), sem_wait(&done), kill(getpid(), SIGUSR1), sem_wait(&done), pthread_kill(t, SIGTERM), pthread_join(t, 0);
    show("signal 0", -pthread_kill(pthread_self(), 0)), show("signal 65", -pthread_kill(pthread_self(), 65)), show("how 9", -pthread_sigmask(9, &all, 0));
    sigset_t set;
    sigemptyset(&set), is(sigaddset(&set, 65) == -1 && errno == EINVAL), is(sigaddset(&set, 0) == -1),
        is(sigaddset(&set, 32) == -1 && errno == EINVAL), num(SIGRTMIN), num(SIGRTMAX), pthread_sigmask(SIG_SETMASK, &all, 0),
        pthread_sigmask(SIG_BLOCK, 0, &set),
        printf("KILL %d STOP %d HUP %d\n", sigismember(&set, SIGKILL), sigismember(&set, SIGSTOP), sigismember(&set, SIGHUP));

    show("name", -pthread_setname_np(pthread_self(), "of fifteen char")), show("too long", -pthread_setname_np(pthread_self(), "of sixteen chars")),
        pthread_getname_np(pthread_self(), name, sizeof name), printf("%s\n", name), show("short", -pthread_getname_np(pthread_self(), name, 5)),
        prctl(PR_SET_NAME, "cut by the kernel here"), prctl(PR_GET_NAME, name), printf("%s\n", name), cat("/proc/self/comm"),
        put("/proc/self/comm", "written\n"), cat("/proc/self/comm");
    pthread_attr_t attr;
    size_t size;
    pthread_attr_init(&attr), show("stack of 1000", -pthread_attr_setstacksize(&attr, 1000)),
        show("of 1 MiB", -pthread_attr_setstacksize(&attr, 1 << 20)), pthread_attr_getstacksize(&attr, &size), num(size),
        show("guard", -pthread_attr_setguardsize(&attr, 5000)), show("state 9", -pthread_attr_setdetachstate(&attr, 9)),
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), show("create", -pthread_create(&t, &attr, waits_not, 0)), sem_wait(&done);
    return 0;
}
