// covers: sigaltstack
// exit: 7
#include "guest.h"
static void on(int s)
{
    printf("signal %d on another stack\n", s);
    fflush(stdout);
    _exit(7);
}
#pragma GCC diagnostic ignored "-Winfinite-recursion"
__attribute__((noinline)) static int deeper(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    return deeper(n + 1) + room[0];
}
int main(void)
{
    struct rlimit stack;
    getrlimit(RLIMIT_STACK, &stack), stack.rlim_cur = 1 << 20, setrlimit(RLIMIT_STACK, &stack);
    stack_t ss = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&ss, NULL);
    struct sigaction sa = {.sa_handler = on, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &sa, NULL);
    return deeper(0);
}
