/* Contexts that are made anew, end by their links, and are switched from within recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define APART __attribute__((noinline, noclone))
static ucontext_t home, context;
static volatile int value;
static char stack[65536];
APART static void yield(int n) { value = n; swapcontext(&context, &home); }
APART static void count(int n) { if (n) { count(n - 1); yield(n); } }
APART static int next(void) { value = 0; swapcontext(&home, &context); return value; }
static void start(int n) { count(n); }
APART static int run(int n) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof stack;
    context.uc_link = &home;
    makecontext(&context, (void (*)(void))start, 1, n);
    int sum = 0;
    for (int n; (n = next());) sum += n;
    return sum;
}
APART static int deeper(int n) {
    int r = n ? deeper(n - 1) : 0;
    return run(n) + r;
}
int main(void) {
    volatile int again = 0;
    int sum = deeper(4);
    getcontext(&home);
    if (again++ < 3) setcontext(&home);
    printf("%d %d\n", sum, again);
    return 0;
}
