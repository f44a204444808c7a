#include "part.h"

static __attribute__((noinline)) int hidden(int x)
{
    return x % 7;
}

int other(int x)
{
    return hidden(x) + bits(x + 1);
}

__attribute__((weak, noinline)) int one(int x)
{
    return x + 1;
}

int alias_of_one(int x) __attribute__((alias("one")));
int a_one(int x) __attribute__((alias("one")));

static int two(int x)
{
    return bits(x) * 2;
}

int (*part_call(int i))(int)
{
    return i & 1 ? two : alias_of_one;
}
