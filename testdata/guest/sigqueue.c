// covers: kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo rt_sigtimedwait rt_sigsuspend
#include "guest.h"
#include <time.h>

static int count;
static siginfo_t seen;
static void on(int s, siginfo_t *i, void *c)
{
    (void)s, (void)c;
    count++;
    seen = *i;
}

int main(void)
{
    long pid = S(getpid), tid = S(gettid);
    struct sigaction sa = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &sa, NULL), sigaction(SIGRTMIN, &sa, NULL), sigaction(SIGALRM, &sa, NULL);

    T(kill, pid, 0);
    T(kill, pid, SIGUSR1);
    printf("%d code %d mine %d\n", count, seen.si_code, seen.si_pid == pid && seen.si_uid == getuid());
    T(kill, 0, 0);
    T(kill, pid, 65);
    T(kill, pid, -1);
    T(kill, 0x7ffffff0, 0);
    T(tkill, tid, SIGUSR1);
    printf("%d code %d mine %d\n", count, seen.si_code, seen.si_pid == pid);
    T(tkill, tid, 0);
    T(tkill, 0, 0);
    T(tkill, -1, 0);
    T(tkill, tid, 65);
    T(tkill, 0x7ffffff0, 0);
    T(tgkill, pid, tid, SIGUSR1);
    printf("%d code %d\n", count, seen.si_code);
    T(tgkill, pid, tid, 0);
    T(tgkill, 0, tid, 0);
    T(tgkill, pid, 0x7ffffff0, 0);
    T(tgkill, pid, -1, 0);
    T(tgkill, pid, tid, 100);

    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE, info.si_value.sival_int = 4711;
    T(rt_sigqueueinfo, pid, SIGRTMIN, &info);
    printf("%d code %d value %d\n", count, seen.si_code, seen.si_value.sival_int);
    info.si_code = -60;
    T(rt_tgsigqueueinfo, pid, tid, SIGUSR1, &info);
    printf("%d code %d\n", count, seen.si_code);
    T(rt_sigqueueinfo, pid, 65, &info);
    T(rt_sigqueueinfo, pid, SIGUSR1, BAD);
    T(rt_sigqueueinfo, 0x7ffffff0, SIGUSR1, &info);
    T(rt_tgsigqueueinfo, pid, 0, SIGUSR1, &info);
    T(rt_tgsigqueueinfo, pid, 0x7ffffff0, SIGUSR1, &info);

    /* Waiting for a signal instead of handling it. */
    sigset_t set, none;
    sigemptyset(&set), sigemptyset(&none);
    sigaddset(&set, SIGUSR1), sigaddset(&set, SIGRTMIN), sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    count = 0;
    info.si_code = SI_QUEUE;
    for (int i = 1; i <= 3; i++) {
        info.si_value.sival_int = i;
        S(rt_sigqueueinfo, pid, SIGRTMIN, &info);
        S(rt_sigqueueinfo, pid, SIGUSR1, &info);
    }
    struct timespec now = {0, 0}, soon = {0, 5000000}, bad = {0, 1000000000};
    for (int i = 0; i < 5; i++) {
        long r = S(rt_sigtimedwait, &set, &info, &now, 8);
        if (r > 0)
            printf("signal %ld value %d code %d\n", r, info.si_value.sival_int, info.si_code);
        else
            show("rt_sigtimedwait", r);
    }
    T(rt_sigtimedwait, &set, NULL, &soon, 8);
    T(rt_sigtimedwait, &set, NULL, &bad, 8);
    T(rt_sigtimedwait, &set, NULL, &now, 4);
    T(rt_sigtimedwait, BAD, NULL, &now, 8);
    T(rt_sigtimedwait, &set, NULL, BAD, 8);
    alarm(1);
    T(rt_sigtimedwait, &set, &info, NULL, 8);
    num(count);

    raise(SIGUSR1);
    num(count);
    T(rt_sigsuspend, &none, 8);
    num(count);
    alarm(1);
    T(rt_sigsuspend, &none, 8);
    num(count);
    T(rt_sigsuspend, &none, 4);
    T(rt_sigsuspend, BAD, 8);
    sigprocmask(SIG_BLOCK, NULL, &none);
    num(sigismember(&none, SIGUSR1));
    return 0;
}
