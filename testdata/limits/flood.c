/* Floods of processes, threads, signals, timers and pipes; the first argument says which, the second how many. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int count, order[10000], next, word;

static pthread_t start(void *(*f)(void *), long arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 16384);
    if (pthread_create(&thread, &attr, f, (void *)arg))
        exit(10);
    return thread;
}

static void *waits(void *arg)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    order[next++] = (int)(long)arg;
    return NULL;
}

static void *leaves(void *arg)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
    return arg;
}

/* Lets as many threads wait, and wakes them. */
static int herd(void *(*f)(void *), int at_once)
{
    static pthread_t threads[10000];
    int woken = 0;
    for (int i = 0; i < count; i++)
        threads[i] = start(f, i);
    usleep(1000000);
    while (woken < count)
        woken += syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, at_once ? count : 1, NULL, NULL, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return next == count ? 0 : 1;
}

static int in_order(void)
{
    int result = herd(waits, 0);
    for (int i = 0; i < count; i++)
        result |= order[i] != i;
    return result;
}

/* Real-time signals for a process that is stopped, until there is no room. */
static int signals(void)
{
    int pid = fork(), sent = 0, status;
    if (pid == 0) {
        sigset_t set;
        sigfillset(&set);
        sigprocmask(SIG_SETMASK, &set, NULL);
        raise(SIGSTOP);
        sigemptyset(&set), sigaddset(&set, SIGRTMIN);
        for (siginfo_t info; sigtimedwait(&set, &info, &(struct timespec){0, 0}) == SIGRTMIN;)
            sent += info.si_value.sival_int == sent;
        _exit(sent == count ? 0 : 1);
    }
    waitpid(pid, &status, WUNTRACED);
    while (sigqueue(pid, SIGRTMIN, (union sigval){.sival_int = sent}) == 0 && sent <= count)
        sent++;
    if (sent != count || errno != EAGAIN)
        return 3;
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static volatile unsigned long fired;

static void on(int signo)
{
    fired += signo == SIGUSR1;
}

static int timers(void)
{
    struct itimerspec each = {{0, 2000}, {0, 2000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    signal(SIGUSR1, on);
    for (int i = 0; i < count; i++) {
        timer_t id;
        if (timer_create(i % 2 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &event, &id) || timer_settime(id, 0, &each, NULL))
            return 4;
    }
    for (volatile int i = 0; i < 20000; i++)
        ;
    return fired > 100 ? 0 : 5;
}

static int pipes(void)
{
    struct rlimit limit = {count * 2 + 10, count * 2 + 10};
    struct pollfd *fds = calloc(count, sizeof *fds);
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return 6;
    for (int i = 0; i < count; i++) {
        int ends[2];
        if (pipe(ends) || write(ends[1], "x", 1) != 1)
            return 7;
        fds[i] = (struct pollfd){ends[0], POLLIN, 0};
    }
    return poll(fds, count, -1) == count ? 0 : 8;
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    count = atoi(argv[2]);
    if (!strcmp(what, "vforks"))
        while (vfork() >= 0)
            ;
    if (!strcmp(what, "execs"))
        execv("/proc/self/exe", argv);
    if (!strcmp(what, "signals"))
        return signals();
    if (!strcmp(what, "timers"))
        return timers();
    if (!strcmp(what, "waiters"))
        return in_order();
    if (!strcmp(what, "pipes"))
        return pipes();
    if (!strcmp(what, "leavers"))
        return herd(leaves, 1);
    return 9;
}
