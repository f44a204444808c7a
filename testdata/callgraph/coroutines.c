/* Stacks that a program switches in a few instructions of its own, from within recursion and at different depths. */
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
void switch_stack(void **from, void *to);
__asm__(".text\n.globl switch_stack\n.type switch_stack, @function\n"
        "switch_stack: push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size switch_stack, .-switch_stack\n");
static void *home, *other;
static volatile int value;
APART static void yield(int n) { value = n; switch_stack(&other, home); }
APART static void walk(int n) {
    if (n > 1) walk(n / 2);
    yield(n);
    if (n > 2) walk(n - 2);
}
static void start(void) {
    walk(9);
    yield(-1);
    abort();
}
APART static int next(int depth) {
    if (depth) {
        int r = next(depth - 1);
        __asm__ volatile("" : "+r"(r));
        return r;
    }
    switch_stack(&home, other);
    return value;
}
int main(void) {
    void **stack = malloc(65536), **top = stack + 8192;
    *--top = 0;
    *--top = (void *)start;
    other = top - 6;
    int sum = 0, depth = 0;
    for (int n; (n = next(depth++ % 4)) >= 0;) sum = sum * 3 + n;
    printf("%d %d\n", sum, depth);
    return 0;
}
