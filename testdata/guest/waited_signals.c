// covers: rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend rt_sigpending kill tgkill signalfd4 rt_sigprocmask
#include "cases.h"
#include <sys/signalfd.h>

/* Signals that are waited for rather than handled: their order, their values, and who takes them first. */
static sigset_t all;
static void block(void)
{
    sigfillset(&all), sigprocmask(SIG_BLOCK, &all, 0);
}
static void next(const char *what)
{
    siginfo_t i;
    struct timespec none = {0, 0};
    int signo = sigtimedwait(&all, &i, &none);
    if (signo < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else if (signo >= SIGRTMIN)
        printf("%s: RTMIN+%d code %d value %d\n", what, signo - SIGRTMIN, i.si_code, i.si_code == SI_QUEUE ? i.si_value.sival_int : 0);
    else
        printf("%s: %d code %d value %d\n", what, signo, i.si_code, i.si_code == SI_QUEUE ? i.si_value.sival_int : 0);
}
static void queue(int signo, int value)
{
    sigqueue(getpid(), signo, (union sigval){.sival_int = value});
}

static void the_lowest_comes_first(void)
{
    block(), queue(SIGRTMIN + 3, 1), queue(SIGRTMIN + 1, 2), queue(SIGRTMIN + 1, 3), queue(SIGUSR2, 4), queue(SIGUSR1, 5), queue(SIGUSR1, 6),
        kill(getpid(), SIGHUP);
    for (int i = 0; i < 8; i++)
        next("next");
}
static void a_threads_own_before_the_process(void)
{
    block(), queue(SIGRTMIN, 1), S(tgkill, getpid(), S(gettid), SIGRTMIN + 2), kill(getpid(), SIGTERM), S(tgkill, getpid(), S(gettid), SIGUSR2);
    for (int i = 0; i < 5; i++)
        next("next");
}
static void faults_before_others(void)
{
    block(), kill(getpid(), SIGHUP), kill(getpid(), SIGSEGV), kill(getpid(), SIGBUS), kill(getpid(), SIGILL), kill(getpid(), SIGTRAP),
        kill(getpid(), SIGFPE), kill(getpid(), SIGSYS), kill(getpid(), SIGINT);
    for (int i = 0; i < 9; i++)
        next("next");
}
static void some_of_them(void)
{
    siginfo_t i;
    sigset_t some;
    struct timespec none = {0, 0}, ms = {0, 2000000};
    block(), queue(SIGUSR1, 1), queue(SIGRTMIN, 2), sigemptyset(&some), sigaddset(&some, SIGRTMIN), is(sigtimedwait(&some, &i, &none) == SIGRTMIN),
        is(sigtimedwait(&some, &i, &none) == -1 && errno == EAGAIN), is(sigtimedwait(&some, &i, &ms) == -1 && errno == EAGAIN), sigemptyset(&some),
        is(sigtimedwait(&some, &i, &none) == -1 && errno == EAGAIN), sigaddset(&some, SIGKILL),
        is(sigtimedwait(&some, &i, &none) == -1 && errno == EAGAIN), next("left");
    /* Not blocked, but waited for: it is taken and not handled. */
    signal(SIGUSR2, SIG_IGN), kill(getpid(), SIGUSR2), next("ignored while blocked"), signal(SIGUSR2, SIG_DFL), kill(getpid(), SIGUSR2),
        signal(SIGUSR2, SIG_IGN), next("ignored later");
}
static void by_a_descriptor(void)
{
    struct signalfd_siginfo s[4];
    sigset_t some;
    block(), sigemptyset(&some), sigaddset(&some, SIGUSR1), sigaddset(&some, SIGRTMIN);
    long fd = S(signalfd4, -1, &some, 8, SFD_NONBLOCK);
    queue(SIGRTMIN, 8), queue(SIGRTMIN, 9), queue(SIGUSR1, 7), queue(SIGUSR2, 6);
    long n = S(read, fd, s, sizeof s);
    for (long i = 0; i < n / (long)sizeof *s; i++)
        printf("%d value %d code %d\n", s[i].ssi_signo < 32 ? (int)s[i].ssi_signo : 1000, s[i].ssi_int, s[i].ssi_code);
    T(read, fd, s, sizeof s), next("the other"), T(read, fd, s, 127), T(read, fd, BAD, 128);
}
static volatile int handled;
static void handler(int signo)
{
    handled = signo;
}
static void suspended(void)
{
    sigset_t none, usr2;
    block(), signal(SIGUSR1, handler), signal(SIGUSR2, handler), sigemptyset(&none), queue(SIGUSR1, 1), is(sigsuspend(&none) == -1 && errno == EINTR),
        num(handled), queue(SIGUSR1, 1), queue(SIGUSR2, 2), sigfillset(&usr2), sigdelset(&usr2, SIGUSR2),
        is(sigsuspend(&usr2) == -1 && errno == EINTR), num(handled), next("still"), sigprocmask(SIG_BLOCK, 0, &none),
        num(sigismember(&none, SIGUSR2));
}
static void a_waiter_takes_it_from_the_handler(void)
{
    siginfo_t i;
    signal(SIGUSR1, handler), sigemptyset(&all), sigaddset(&all, SIGUSR1);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        until(parent, 'S'), kill(parent, SIGUSR1), _exit(0);
    num(sigwaitinfo(&all, &i)), num(handled), is(i.si_pid == pid), waitpid(pid, 0, 0);
}

int main(void)
{
    CASE(the_lowest_comes_first);
    CASE(a_threads_own_before_the_process);
    CASE(faults_before_others);
    CASE(some_of_them);
    CASE(by_a_descriptor);
    CASE(suspended);
    CASE(a_waiter_takes_it_from_the_handler);
    return 0;
}
