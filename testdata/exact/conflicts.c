// covers: conflict
// Walks over memory that meet in the same sets: powers of two apart, one line more than there are ways, backwards.
#include "rt.h"

static u8 memory[1 << 18] __attribute__((aligned(4096)));

static u64 walk(u64 stride, u64 count, u64 rounds)
{
    u64 sum = 0;
    while (rounds--)
        for (u64 i = 0; i < count; i++) {
            sum += memory[i * stride & (sizeof(memory) - 1)];
            memory[(count - i) * stride & (sizeof(memory) - 1)]++;
        }
    return sum;
}

static int run(void)
{
    u64 sum = 0;
    for (u64 stride = 32; stride <= 16384; stride *= 2)
        for (u64 count = 1; count <= 18; count += 3)
            sum += walk(stride, count, 3);
    sum += walk(4096 + 64, 60, 3) + walk(1, 3000, 2);
    return (int)sum;
}
