// covers: rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo
#include "guest.h"
#include <time.h>

struct action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

int main(void)
{
    struct action a = {0}, old;
    uint64_t set = 0, was = 0;
    int numbers[] = {0, -1, 1, 9, 19, 31, 32, 33, 64, 65, 128};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int n = numbers[i];
        char what[32];
        sprintf(what, "signal %d", n);
        show(what, S(rt_sigaction, n, 0, 0, 8));
        show(what, S(rt_sigaction, n, 0, &old, 8));
        show(what, S(rt_sigaction, n, &a, &old, 8));
        show(what, S(rt_sigaction, n, &a, 0, 4));
        show(what, S(rt_sigaction, n, BAD, 0, 8));
        show(what, S(rt_sigaction, n, 0, BAD, 8));
        show(what, S(kill, 0x7fffffff, n));
        show(what, S(kill, -0x7fffffff, n));
        show(what, S(tkill, 0x7fffffff, n));
        show(what, S(tgkill, 0x7fffffff, 0x7fffffff, n));
        show(what, S(tgkill, S(getpid), 0x7fffffff, n));
        show(what, S(tkill, 0, n));
        show(what, S(tkill, -1, n));
        show(what, S(tgkill, -1, 1, n));
        show(what, S(tgkill, 1, -1, n));
        if (n < 1 || n > 64) {
            show(what, S(kill, S(getpid), n));
            show(what, S(tkill, S(gettid), n));
            show(what, S(tgkill, S(getpid), S(gettid), n));
        }
    }
    /* Flags that the kernel does not know are taken out; masks lose what cannot be blocked. */
    a = (struct action){SIG_IGN, -1UL, 0, -1UL};
    T(rt_sigaction, SIGUSR1, &a, 0, 8);
    T(rt_sigaction, SIGUSR1, 0, &old, 8);
    /* Up to 5.10 it keeps them, by which this one tells. */
    printf("%lx %lx\n", release() < 511 && old.flags & 0x400 ? 0xdc000807 : old.flags, old.mask);
    T(rt_sigprocmask, SIG_BLOCK, 0, &was, 8);
    T(rt_sigprocmask, 3, 0, &was, 8);
    T(rt_sigprocmask, 3, &set, &was, 8);
    T(rt_sigprocmask, -1, &set, &was, 8);
    T(rt_sigprocmask, SIG_BLOCK, &set, &was, 4);
    T(rt_sigprocmask, SIG_BLOCK, BAD, 0, 8);
    T(rt_sigprocmask, SIG_BLOCK, 0, BAD, 8);
    set = -1;
    T(rt_sigprocmask, SIG_BLOCK, &set, BAD, 8);
    T(rt_sigprocmask, SIG_BLOCK, 0, &was, 8);
    printf("%lx\n", was);
    T(rt_sigpending, &set, 8);
    printf("%lx\n", set);
    T(rt_sigpending, &set, 9);
    T(rt_sigpending, &set, 4);
    T(rt_sigpending, &set, 0);
    T(rt_sigpending, BAD, 8);
    a = (struct action){0};
    T(rt_sigaction, SIGUSR1, &a, 0, 8);
    T(kill, S(getpid), SIGUSR1);
    T(kill, S(getpid), SIGUSR1);
    T(tkill, S(gettid), SIGUSR2);
    T(kill, S(getpid), 40);
    T(kill, S(getpid), 40);
    T(rt_sigpending, &set, 8);
    printf("%lx\n", set);
    siginfo_t info;
    struct timespec none = {0, 0}, bad = {0, 1000000000}, negative = {-1, 0};
    set = -1;
    T(rt_sigtimedwait, &set, &info, &none, 4);
    T(rt_sigtimedwait, BAD, &info, &none, 8);
    T(rt_sigtimedwait, &set, &info, BAD, 8);
    T(rt_sigtimedwait, &set, &info, &bad, 8);
    T(rt_sigtimedwait, &set, &info, &negative, 8);
    for (int i = 0; i < 4; i++) {
        memset(&info, 0, sizeof info);
        show("took", S(rt_sigtimedwait, &set, &info, &none, 8));
        printf("%d %d %d %d\n", info.si_signo, info.si_code, info.si_pid == S(getpid), info.si_errno);
    }
    T(rt_sigtimedwait, &set, &info, &none, 8);
    set = 0;
    T(rt_sigtimedwait, &set, &info, &none, 8);
    T(kill, S(getpid), SIGUSR1);
    set = -1;
    T(rt_sigtimedwait, &set, BAD, &none, 8);
    T(rt_sigtimedwait, &set, &info, &none, 8);
    T(rt_sigsuspend, &set, 4);
    T(rt_sigsuspend, BAD, 8);
    memset(&info, 0, sizeof info);
    int codes[] = {0, 1, -1, -6, -2, 0x80, -60, -100};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        char what[32];
        info.si_code = codes[i], info.si_signo = 5, info.si_pid = 77, info.si_value.sival_int = 88;
        sprintf(what, "code %d", codes[i]);
        show(what, S(rt_sigqueueinfo, S(getpid), 41, &info));
        show(what, S(rt_sigqueueinfo, 0x7fffffff, 41, &info));
        show(what, S(rt_sigqueueinfo, -1, 41, &info));
        show(what, S(rt_tgsigqueueinfo, S(getpid), S(gettid), 41, &info));
        show(what, S(rt_tgsigqueueinfo, S(getpid), 0x7fffffff, 41, &info));
        show(what, S(rt_tgsigqueueinfo, 0x7fffffff, 0x7fffffff, 41, &info));
        show(what, S(rt_tgsigqueueinfo, -1, 1, 41, &info));
    }
    siginfo_t got;
    while (S(rt_sigtimedwait, &set, &got, &none, 8) > 0)
        printf("%d %d %d %d\n", got.si_signo, got.si_code, got.si_pid, got.si_value.sival_int);
    info.si_code = -1;
    T(rt_sigqueueinfo, S(getpid), 0, &info);
    T(rt_sigqueueinfo, S(getpid), 65, &info);
    T(rt_sigqueueinfo, S(getpid), -1, &info);
    T(rt_sigqueueinfo, S(getpid), 41, BAD);
    T(rt_tgsigqueueinfo, S(getpid), S(gettid), 0, &info);
    T(rt_tgsigqueueinfo, S(getpid), S(gettid), 65, &info);
    T(rt_tgsigqueueinfo, S(getpid), S(gettid), 41, BAD);

    stack_t st = {0}, before;
    static char room[16384];
    T(sigaltstack, 0, &before);
    printf("%d %ld\n", before.ss_flags, (long)before.ss_size);
    T(sigaltstack, 0, 0);
    T(sigaltstack, BAD, 0);
    T(sigaltstack, 0, BAD);
    st = (stack_t){room, 0, 100};
    T(sigaltstack, &st, 0);
    st = (stack_t){room, 0, 2047};
    T(sigaltstack, &st, 0);
    st = (stack_t){room, 4, sizeof room};
    T(sigaltstack, &st, 0);
    st = (stack_t){room, SS_ONSTACK, sizeof room};
    T(sigaltstack, &st, 0);
    T(sigaltstack, 0, &before);
    printf("%d %ld\n", before.ss_flags, (long)before.ss_size);
    st = (stack_t){room, 1 << 31, sizeof room};
    T(sigaltstack, &st, 0);
    T(sigaltstack, 0, &before);
    printf("%x %ld\n", before.ss_flags, (long)before.ss_size);
    st = (stack_t){room, SS_DISABLE, 5};
    T(sigaltstack, &st, &before);
    T(sigaltstack, 0, &before);
    printf("%x %ld %d\n", before.ss_flags, (long)before.ss_size, before.ss_sp == NULL);
    st = (stack_t){room, 3, sizeof room};
    T(sigaltstack, &st, 0);
    st = (stack_t){room, 0, sizeof room};
    T(sigaltstack, &st, BAD);
    T(sigaltstack, 0, &before);
    printf("%x %ld\n", before.ss_flags, (long)before.ss_size);
}
