/* Stacks that a program switches itself. */
#include <stdio.h>
#include <ucontext.h>
static ucontext_t home, one, two;
static char stacks[2][65536];
static volatile int count;
__attribute__((noinline)) static void step(int n) { count += n; }
__attribute__((noinline)) static void first(void) {
    for (int i = 0; i < 5; i++) { step(1); swapcontext(&one, &two); }
}
__attribute__((noinline)) static void second(void) {
    for (int i = 0; i < 5; i++) { step(10); swapcontext(&two, &one); }
}
static void prepare(ucontext_t *context, char *stack, void (*start)(void)) {
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = sizeof stacks[0];
    context->uc_link = &home;
    makecontext(context, start, 0);
}
int main(void) {
    prepare(&one, stacks[0], first);
    prepare(&two, stacks[1], second);
    swapcontext(&home, &one);
    printf("%d\n", count);
    return 0;
}
