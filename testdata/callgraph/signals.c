/* Handlers of signals, one within the other, and one on a stack of its own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int count;
__attribute__((noinline)) static void work(int n) { for (int i = 0; i < n; i++) count++; }
__attribute__((noinline)) static void on_usr2(int signal) { work(signal); }
__attribute__((noinline)) static void on_usr1(int signal) { work(signal); raise(SIGUSR2); work(1); }
__attribute__((noinline)) static void sends(int n) { work(n); raise(SIGUSR1); work(n); }
static char stack[65536];
int main(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_usr1;
    sigaction(SIGUSR1, &a, 0);
    stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
    sigaltstack(&s, 0);
    a.sa_handler = on_usr2;
    a.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &a, 0);
    for (int i = 1; i < 5; i++) sends(i);
    printf("%d\n", count);
    return 0;
}
