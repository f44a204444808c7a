/* longjmp out of recursion, of tail calls, of callbacks of the C library, of handlers on a stack of their own, and
   to a place that has been left for another. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static jmp_buf outer, inner;
static sigjmp_buf outside;
static volatile int count;

APART static int down(int n, jmp_buf *to) {
    count++;
    if (n == 0) longjmp(*to, 1);
    int r = down(n - 1, to);
    __asm__ volatile("" : "+r"(r));
    return r + 1;
}
APART static int last(int n) { count += n; longjmp(inner, 2); }
APART static int middle(int n) { count++; return last(n + 1); }
APART static int first(int n) { count++; return middle(n + 1); }
static int order(const void *a, const void *b) {
    if (++count % 20 == 0) longjmp(inner, 3);
    return *(const int *)a - *(const int *)b;
}
APART static int sorts(int n) {
    int values[32];
    for (int i = 0; i < 32; i++) values[i] = i * 37 % 32;
    qsort(values, 32, sizeof *values, order);
    return values[n];
}
APART static int nested(int n) {
    volatile int r = 0;
    if (!setjmp(inner)) r = down(n, n % 2 ? &inner : &outer);
    if (!setjmp(inner)) r += first(n);
    if (!setjmp(inner)) r += sorts(n & 31);
    return r;
}
APART static int again(int n) { return n == 0 ? nested(5) + nested(6) : again(n - 1) + 1; }
APART static void handler(int signal) { count += signal; siglongjmp(outside, signal); }
APART static int faults(int n) {
    if (n == 0) raise(SIGUSR2);
    int r = n ? faults(n - 1) : 0;
    __asm__ volatile("" : "+r"(r));
    return r + 1;
}
APART static int guarded(int n) {
    volatile int caught = 0;
    caught = sigsetjmp(outside, 1);
    return caught ? caught : faults(n);
}
int main(void) {
    static char stack[65536];
    volatile int sum = 0;
    for (volatile int i = 0; i < 3; i++) {
        if (!setjmp(outer)) sum += again(i * 3);
        else sum += 100;
    }
    stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
    sigaltstack(&s, 0);
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    a.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &a, 0);
    for (volatile int i = 0; i < 4; i++) sum += guarded(i);
    printf("%d %d\n", sum, count);
    return 0;
}
