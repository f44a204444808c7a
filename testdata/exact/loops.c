// covers: jcc conflict
/* Integer loops: nested, with unpredictable branches, over arrays of several sizes. */
#include "rt.h"

static u8 sieve[20000];
static u32 steps[1000];
static u16 table[4096];

static u32 collatz(u64 n)
{
    u32 count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        count++;
    }
    return count;
}

static u32 primes(u32 limit)
{
    u32 found = 0;
    for (u32 i = 2; i < limit; i++) {
        if (sieve[i])
            continue;
        found++;
        for (u32 j = 2 * i; j < limit; j += i)
            sieve[j] = 1;
    }
    return found;
}

static u64 gcd(u64 a, u64 b)
{
    while (b) {
        u64 t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static u64 strides(void)
{
    u64 sum = 0;
    for (u32 stride = 1; stride <= 512; stride *= 2)
        for (u32 i = 0; i < 4096; i += stride) {
            table[i] += (u16)(i ^ stride);
            sum += table[4095 - i];
        }
    return sum;
}

static int run(void)
{
    u64 all = primes(20000);
    for (u32 i = 1; i < 1000; i++)
        steps[i] = collatz(i);
    for (u32 i = 1; i < 1000; i++)
        if (steps[i] > 100 && (rnd() & 3))
            all += gcd(rnd() & 0xffffff, i);
    all += strides();
    kept ^= all;
    return (int)all;
}
