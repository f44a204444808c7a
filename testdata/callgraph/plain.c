/* Plain calls, and calls through a pointer. */
#include <stdio.h>
static int values[64];
__attribute__((noinline)) static int leaf(int n) { values[n & 63] += n; return values[n & 63]; }
__attribute__((noinline)) static int twice(int n) { return leaf(n) + leaf(n + 1); }
__attribute__((noinline)) static int apply(int (*f)(int), int n) { return f(n) + 1; }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += i % 3 ? twice(i) : apply(leaf, i) + apply(twice, i);
    printf("%d\n", sum);
    return 0;
}
