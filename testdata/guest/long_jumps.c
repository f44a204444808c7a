// covers: rt_sigprocmask rt_sigaction sigaltstack rt_sigreturn
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#include "guest.h"
#include <setjmp.h>
#include <ucontext.h>

/* Ways out of functions and handlers that are no returns: longjmp with and without the mask of signals, contexts that
 * call each other, and an alternate stack that is left by a jump. */
static jmp_buf plain;
static sigjmp_buf with_mask, without_mask;
static char stack[65536], alternate[65536];
static ucontext_t ctx_main, ctx_one, ctx_two;
static int depth;

static int blocked(int signo)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, 0, &now);
    return sigismember(&now, signo);
}
static void deep(int n)
{
    volatile char room[1000];
    room[0] = (char)n;
    if (n > 0)
        deep(n - 1), printf("never %d\n", room[0]);
    else
        longjmp(plain, 42);
}
static void jump_with(int signo)
{
    siglongjmp(with_mask, signo);
}
static void jump_without(int signo)
{
    siglongjmp(without_mask, signo);
}
static int on_alternate(void)
{
    stack_t s;
    sigaltstack(0, &s);
    return s.ss_flags & SS_ONSTACK;
}
static void one(int a, int b)
{
    printf("one(%d, %d)\n", a, b), swapcontext(&ctx_one, &ctx_two), printf("one again, USR1 blocked %d\n", blocked(SIGUSR1)),
        swapcontext(&ctx_one, &ctx_two), printf("one ends\n");
}
static void two(void)
{
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), printf("two, USR2 blocked %d\n", blocked(SIGUSR2)), sigprocmask(SIG_BLOCK, &set, 0),
        swapcontext(&ctx_two, &ctx_one), printf("two again, USR1 blocked %d\n", blocked(SIGUSR1)), depth++;
}
static void edit(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)info;
    ucontext_t *u = context;
    sigaddset(&u->uc_sigmask, SIGHUP), sigdelset(&u->uc_sigmask, SIGUSR2);
}

int main(void)
{
    volatile int kept = 1;
    int how = setjmp(plain);
    printf("setjmp %d kept %d\n", how, kept);
    if (how == 0)
        kept = 2, deep(50);
    if (how == 42)
        longjmp(plain, 0);
    num(how);

    signal(SIGUSR1, jump_with), signal(SIGUSR2, jump_without);
    if (sigsetjmp(with_mask, 1) == 0)
        raise(SIGUSR1);
    num(blocked(SIGUSR1));
    if (sigsetjmp(without_mask, 0) == 0)
        raise(SIGUSR2);
    num(blocked(SIGUSR2));
    sigset_t none;
    sigemptyset(&none), sigprocmask(SIG_SETMASK, &none, 0);

    /* From the alternate stack: it is free again. */
    stack_t s = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction a = {.sa_handler = jump_with, .sa_flags = SA_ONSTACK};
    sigaltstack(&s, 0), sigaction(SIGUSR1, &a, 0);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(with_mask, 1) == 0)
            raise(SIGUSR1);
        else
            printf("%d: on the alternate stack %d blocked %d\n", i, on_alternate(), blocked(SIGUSR1));

    /* Contexts. */
    sigset_t usr2;
    sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
    getcontext(&ctx_one), ctx_one.uc_stack.ss_sp = stack, ctx_one.uc_stack.ss_size = sizeof stack / 2, ctx_one.uc_link = &ctx_main,
        makecontext(&ctx_one, (void (*)(void))one, 2, 3, 4);
    getcontext(&ctx_two), ctx_two.uc_stack.ss_sp = stack + sizeof stack / 2, ctx_two.uc_stack.ss_size = sizeof stack / 2, ctx_two.uc_link = &ctx_one,
        ctx_two.uc_sigmask = usr2, makecontext(&ctx_two, two, 0);
    printf("main\n"), swapcontext(&ctx_main, &ctx_one), printf("main again, depth %d USR1 blocked %d\n", depth, blocked(SIGUSR1));
    volatile int rounds = 0;
    getcontext(&ctx_main), rounds++, printf("round %d\n", rounds);
    if (rounds < 3)
        setcontext(&ctx_main);
    /* A handler that changes the mask of where it returns to. */
    a = (struct sigaction){.sa_sigaction = edit, .sa_flags = SA_SIGINFO}, sigaction(SIGUSR1, &a, 0), sigprocmask(SIG_SETMASK, &usr2, 0),
        raise(SIGUSR1), printf("HUP %d USR1 %d USR2 %d\n", blocked(SIGHUP), blocked(SIGUSR1), blocked(SIGUSR2));
    return 0;
}
