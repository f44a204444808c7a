// covers: prctl seccomp fork
/* PR_SET_TSC: reading the time-stamp counter is a fault, here and in children, until it is allowed again. */
#include "cases.h"
#include <linux/seccomp.h>

static volatile int handled;
static int step;

static void on_fault(int signo, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    handled = signo;
    printf("signal %d code %d address %p\n", signo, info->si_code, info->si_addr);
    at->uc_mcontext.gregs[REG_RIP] += step;
}
static void count(void)
{
    step = 2, handled = 0;
    __asm__ volatile("rdtsc" ::: "rax", "rdx");
    printf("rdtsc: %s\n", handled ? "a fault" : "a number");
    step = 3, handled = 0;
    __asm__ volatile("rdtscp" ::: "rax", "rdx", "rcx");
    printf("rdtscp: %s\n", handled ? "a fault" : "a number");
}
static void handle(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
}

static void is_allowed_and_forbidden(void)
{
    int mode = 0;
    handle(), count();
    T(prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    T(prctl, PR_GET_TSC, &mode, 0, 0, 0), num(mode);
    count();
    T(prctl, PR_SET_TSC, 3, 0, 0, 0), T(prctl, PR_SET_TSC, 0, 0, 0, 0), T(prctl, PR_SET_TSC, -1, 0, 0, 0);
    T(prctl, PR_GET_TSC, BAD, 0, 0, 0);
    count();
    T(prctl, PR_SET_TSC, PR_TSC_ENABLE, 9, 9, 9), T(prctl, PR_GET_TSC, &mode, 9, 9, 9), num(mode);
    count();
}
static void kills(void)
{
    T(prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    fflush(stdout);
    __asm__ volatile("rdtsc" ::: "rax", "rdx");
}
static void is_inherited(void)
{
    handle();
    T(prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        count(), S(prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0), count(), fflush(stdout), _exit(0);
    reap("the child", child, 0);
    count();
}
static void strict_mode_forbids(void)
{
    S(seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    __asm__ volatile("rdtsc" ::: "rax", "rdx");
    S(exit, 0);
}

int main(void)
{
    unfiltered();
    CASE(is_allowed_and_forbidden);
    CASE(kills);
    CASE(is_inherited);
    CASE(strict_mode_forbids);
    return 0;
}
