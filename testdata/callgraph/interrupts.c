/* Handlers in recursion, in callbacks of the C library and in other handlers, and one that recurses itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static volatile int count;
APART static int down(int n) {
    if (n == 2) raise(SIGUSR1);
    int r = n ? down(n - 1) : 0;
    __asm__ volatile("" : "+r"(r));
    return r + 1;
}
APART static void on_usr1(int signal) {
    count += signal;
    if (count < 30) count += down(3);
    if (count < 60) raise(SIGUSR1);
}
static int order(const void *a, const void *b) {
    if (++count % 50 == 0) raise(SIGUSR1);
    return *(const int *)a - *(const int *)b;
}
int main(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_usr1;
    a.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &a, 0);
    int sum = down(4);
    int values[40];
    for (int i = 0; i < 40; i++) values[i] = i * 37 % 40;
    qsort(values, 40, sizeof *values, order);
    sum += down(5);
    printf("%d %d\n", sum, count);
    return 0;
}
