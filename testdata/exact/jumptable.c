// covers: jump-table indirect-jump
// A machine of sixteen operations behind a switch, and the same with computed gotos.
#include "rt.h"

static u8 code[512];

static u64 by_switch(u64 steps)
{
    u64 a = 1, b = 2, pc = 0;
    while (steps--) {
        switch (code[pc++ & 511]) {
        case 0: a += b; break;
        case 1: b ^= a; break;
        case 2: a -= 7; break;
        case 3: b = (b << 3) | (b >> 61); break;
        case 4: if (a & 1) pc += 3; break;
        case 5: a *= 3; break;
        case 6: b += pc; break;
        case 7: pc += b & 7; break;
        case 8: a = ~a; break;
        case 9: b >>= 1; break;
        case 10: a ^= 0x5555; break;
        case 11: kept += a; break;
        case 12: a += kept; break;
        case 13: if (b & 2) pc -= 5; break;
        case 14: b -= a; break;
        default: a++; break;
        }
    }
    return a ^ b;
}

static u64 by_goto(u64 steps)
{
    static const void *const labels[] = {&&add, &&sub, &&mix, &&skip};
    u64 a = 1, pc = 0;
#define NEXT if (!steps--) return a; goto *labels[code[pc++ & 511] & 3]
    NEXT;
add:
    a += 3;
    NEXT;
sub:
    a -= pc;
    NEXT;
mix:
    a ^= a << 5;
    NEXT;
skip:
    pc += a & 1;
    NEXT;
}

static int run(void)
{
    for (u64 i = 0; i < sizeof(code); i++)
        code[i] = rnd() & 15;
    return (int)(by_switch(4000) + by_goto(4000));
}
