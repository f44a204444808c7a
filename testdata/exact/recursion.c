// covers: recursion ret call
// Deep, wide and mutual recursion.
#include "rt.h"

__attribute__((noinline)) static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static u64 ackermann(u64 m, u64 n)
{
    if (!m)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

__attribute__((noinline)) static u64 is_odd(u64 n);
__attribute__((noinline)) static u64 is_even(u64 n) { return n ? is_odd(n - 1) + kept : 1; }
__attribute__((noinline)) static u64 is_odd(u64 n) { return n ? is_even(n - 1) ^ kept : 0; }

__attribute__((noinline)) static u64 deep(u64 n, u64 x)
{
    volatile u64 here[7] = {x};
    return n ? deep(n - 1, x + here[0]) + here[0] : x;
}

static int run(void)
{
    return (int)(fib(14) + ackermann(2, 6) + is_even(300) + deep(400, 3));
}
