// covers: rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn sigaltstack
#include "guest.h"
#include <setjmp.h>
#include <ucontext.h>

static int count, depth, deepest;
static char order[64];
static sigset_t during;
static stack_t current;

static void plain(int s)
{
    (void)s;
    count++;
    sigprocmask(SIG_BLOCK, NULL, &during);
    sigaltstack(NULL, &current);
}
static void again(int s)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (++count < 3)
        raise(s);
    depth--;
}
static void note(int s)
{
    char n[8];
    sprintf(n, " %d", s);
    strcat(order, n);
}
static char *stack;
static int on_it, info_ok;
static void on_stack(int s, siginfo_t *i, void *c)
{
    char here;
    ucontext_t *u = c;
    on_it = &here >= stack && &here < stack + 65536;
    info_ok = i->si_signo == s && u->uc_stack.ss_sp == stack && u->uc_stack.ss_size == 65536;
    sigaltstack(NULL, &current);
}
static sigjmp_buf back;
static void leave(int s)
{
    siglongjmp(back, s);
}

static void install(int s, void (*f)(int), int flags, int mask)
{
    struct sigaction sa = {.sa_handler = f, .sa_flags = flags};
    sigemptyset(&sa.sa_mask);
    if (mask)
        sigaddset(&sa.sa_mask, mask);
    sigaction(s, &sa, NULL);
}

int main(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } k = {SIG_IGN, 0, NULL, 0}, old;
    sigset_t set, was;

    T(rt_sigaction, SIGUSR1, &k, &old, 8);
    is(old.handler == SIG_DFL && old.flags == 0 && old.mask == 0);
    k.handler = (void *)plain, k.flags = SA_NODEFER | SA_RESTART | 0x04000000, k.mask = -1UL;
    T(rt_sigaction, SIGUSR1, &k, &old, 8);
    is(old.handler == SIG_IGN);
    T(rt_sigaction, SIGUSR1, NULL, &old, 8);
    printf("mask %lx flags %lx\n", old.mask, old.flags);
    k.flags = 0x04000000 | 0x400 | 0x10000000;
    T(rt_sigaction, SIGUSR1, &k, NULL, 8);
    T(rt_sigaction, SIGUSR1, NULL, &old, 8);
    printf("flags %lx\n", old.flags);
    T(rt_sigaction, SIGKILL, &k, NULL, 8);
    T(rt_sigaction, SIGSTOP, &k, NULL, 8);
    T(rt_sigaction, SIGKILL, NULL, &old, 8);
    T(rt_sigaction, 0, &k, NULL, 8);
    T(rt_sigaction, 65, &k, NULL, 8);
    T(rt_sigaction, 64, NULL, &old, 8);
    T(rt_sigaction, SIGUSR1, NULL, NULL, 4);
    T(rt_sigaction, SIGUSR1, BAD, NULL, 8);
    T(rt_sigaction, SIGUSR1, NULL, BAD, 8);

    /* The signal itself is blocked meanwhile, and what the mask names. */
    install(SIGUSR1, plain, 0, SIGUSR2);
    raise(SIGUSR1);
    printf("%d: %d %d %d\n", count, sigismember(&during, SIGUSR1), sigismember(&during, SIGUSR2), sigismember(&during, SIGTERM));
    install(SIGUSR1, plain, SA_NODEFER, 0);
    raise(SIGUSR1);
    printf("%d: %d %d\n", count, sigismember(&during, SIGUSR1), sigismember(&during, SIGUSR2));
    count = 0;
    install(SIGUSR1, again, 0, 0);
    raise(SIGUSR1);
    printf("%d deep %d\n", count, deepest);
    count = 0;
    install(SIGUSR1, again, SA_NODEFER, 0);
    raise(SIGUSR1);
    printf("%d deep %d\n", count, deepest);
    install(SIGUSR1, plain, SA_RESETHAND, 0);
    raise(SIGUSR1);
    S(rt_sigaction, SIGUSR1, NULL, &old, 8);
    is(old.handler == SIG_DFL);

    /* Blocking, what is pending, and the order in which it comes. */
    for (int s = 1; s < 20; s++)
        if (s != SIGKILL && s != SIGSTOP)
            install(s, note, 0, 0);
    install(SIGRTMIN, note, 0, 0), install(SIGRTMIN + 1, note, 0, 0);
    sigfillset(&set);
    T(rt_sigprocmask, SIG_SETMASK, &set, &was, 8);
    raise(SIGTERM), raise(SIGUSR1), raise(SIGUSR1), raise(SIGHUP), raise(SIGSEGV);
    raise(SIGRTMIN + 1), raise(SIGRTMIN), raise(SIGRTMIN);
    unsigned long pending = 0;
    T(rt_sigpending, &pending, 8);
    printf("%lx\n", pending);
    T(rt_sigpending, &pending, 16);
    T(rt_sigpending, BAD, 8);
    T(rt_sigprocmask, SIG_SETMASK, NULL, &set, 8);
    printf("%d %d\n", sigismember(&set, SIGKILL), sigismember(&set, SIGTERM));
    T(rt_sigprocmask, SIG_SETMASK, &was, NULL, 8);
    printf("order%s\n", order);
    T(rt_sigprocmask, 9, &was, NULL, 8);
    T(rt_sigprocmask, 9, NULL, NULL, 8);
    T(rt_sigprocmask, SIG_BLOCK, BAD, NULL, 8);
    T(rt_sigprocmask, SIG_BLOCK, NULL, BAD, 8);
    T(rt_sigprocmask, SIG_BLOCK, &was, NULL, 4);
    /* Ignored while pending: gone. */
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    S(rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    S(rt_sigpending, &pending, 8);
    printf("%lx\n", pending);
    install(SIGUSR1, note, 0, 0);
    order[0] = 0;
    S(rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    printf("order%s\n", order);

    /* A stack of its own. */
    stack = malloc(65536);
    stack_t ss = {.ss_sp = stack, .ss_size = 65536};
    T(sigaltstack, NULL, &current);
    printf("%d\n", current.ss_flags);
    T(sigaltstack, &ss, NULL);
    T(sigaltstack, NULL, &current);
    is(current.ss_sp == stack && current.ss_size == 65536 && current.ss_flags == 0);
    struct sigaction sa = {.sa_sigaction = on_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGUSR2, &sa, NULL);
    raise(SIGUSR2);
    printf("%d %d flags %d\n", on_it, info_ok, current.ss_flags);
    install(SIGUSR1, plain, 0, 0);
    raise(SIGUSR1);
    printf("flags %d\n", current.ss_flags);
    ss.ss_size = 100;
    T(sigaltstack, &ss, NULL);
    ss.ss_flags = 77;
    T(sigaltstack, &ss, NULL);
    ss.ss_flags = SS_DISABLE;
    T(sigaltstack, &ss, NULL);
    T(sigaltstack, NULL, &current);
    printf("flags %d\n", current.ss_flags);
    T(sigaltstack, BAD, NULL);
    T(sigaltstack, NULL, BAD);

    /* Leaving a handler by a jump, many times. */
    install(SIGUSR1, leave, 0, 0);
    volatile int left = 0;
    for (volatile int i = 0; i < 100; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR1);
        else
            left++;
    num(left);
    sigprocmask(SIG_BLOCK, NULL, &set);
    num(sigismember(&set, SIGUSR1));
    return 0;
}
