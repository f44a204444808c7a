// covers: rt_sigaction
// exit: 139
#include "guest.h"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static void on(int s)
{
    printf("not reached: there is no stack for signal %d\n", s);
}
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
    signal(SIGSEGV, on);
    printf("before\n");
    fflush(stdout);
    return deeper(0);
}
