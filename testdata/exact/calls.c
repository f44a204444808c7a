// covers: call indirect-call recursion
/* Calls: recursion shallow and deep, through pointers, jump tables, tail calls, many arguments. */
#include "rt.h"

typedef u64 (*op)(u64, u64);

__attribute__((noinline)) static u64 add(u64 a, u64 b) { return a + b; }
__attribute__((noinline)) static u64 sub(u64 a, u64 b) { return a - b; }
__attribute__((noinline)) static u64 mix(u64 a, u64 b) { return (a << 5 | a >> 59) ^ b; }
__attribute__((noinline)) static u64 mul(u64 a, u64 b) { return a * b + 1; }

static op ops[] = { add, sub, mix, mul };

__attribute__((noinline)) static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static u64 ackermann(u64 m, u64 n)
{
    if (!m)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

__attribute__((noinline)) static u64 deep(u64 n)
{
    volatile u64 here[6];
    here[n % 6] = n;
    return n ? deep(n - 1) + here[n % 6] : 0;
}

__attribute__((noinline)) static u64 many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u8 i, u16 j)
{
    return a + b * c - d + e * f + g + h + i + j;
}

__attribute__((noinline)) static u64 machine(const u8 *code)
{
    u64 acc = 1, other = 3;
    for (u32 fuel = 4000; fuel--; code++) {
        switch (*code) {
        case 0: code -= acc & 15; break;
        case 1: acc += other; break;
        case 2: acc ^= acc >> 7; break;
        case 3: other = acc * 3; break;
        case 4: acc = ops[acc & 3](acc, other); break;
        case 5: acc -= 17; break;
        case 6: other++; break;
        case 7: if (acc & 4) code++; break;
        case 8: acc = many(acc, other, 3, 4, 5, 6, acc, 8, 9, 10); break;
        default: acc = 1; code -= 20; break;
        }
    }
    return acc;
}

static u8 code[24 + 64 + 4096];

static int run(void)
{
    for (u32 i = 0; i < sizeof code; i++)
        code[i] = i < 24 ? 6 : (u8)(rnd() % 10);
    u64 sum = machine(code + 24);
    sum += fib(15) + ackermann(2, 6) + deep(3000);
    for (u32 i = 0; i < 500; i++)
        sum = ops[rnd() & 3](sum, i);
    kept = sum;
    return (int)sum;
}
