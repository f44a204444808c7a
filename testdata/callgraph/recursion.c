/* Recursion: direct, mutual, and deep. */
#include <stdio.h>
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int odd(int n);
__attribute__((noinline)) static int even(int n) {
    int r = n == 0 ? 1 : odd(n - 1);
    __asm__ volatile("" : "+r"(r));
    return r;
}
__attribute__((noinline)) static int odd(int n) {
    int r = n == 0 ? 0 : even(n - 1);
    __asm__ volatile("" : "+r"(r));
    return r;
}
__attribute__((noinline)) static int deep(int n) {
    int r = n ? deep(n - 1) : 0;
    __asm__ volatile("" : "+r"(r));
    return r + 1;
}
int main(void) {
    printf("%d %d %d\n", fib(12), even(25), deep(20000));
    return 0;
}
