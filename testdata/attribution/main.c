/* Code of several files, inlined into each other: functions of this one, of part.c and of part.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"

int kept = 1;

static inline int square(int x)
{
    return x * x;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline, cold)) int seldom(int x)
{
    return bits(x) + 1;
}

#define BOTH(x) (square(x) + bits(x))

int main(int argc, char **argv)
{
    int numbers[500];
    unsigned seed = 7;
    for (int i = 0; i < 500; i++) {
        seed = seed * 1103515245 + 12345;
        numbers[i] = seed >> 16 & 0x7fff;
    }
    qsort(numbers, 500, sizeof *numbers, compare);
    long total = 0;
    for (int i = 0; i < 500; i++) {
        total += BOTH(numbers[i]) + other(numbers[i]);
        if (numbers[i] % 97 == 0)
            total += seldom(i);
    }
#line 500 "generated.y"
    total += square(argc);
    for (int i = 0; i < 3; i++)
        total += part_call(i)(i);
#line 44 "main.c"
    char text[64];
    snprintf(text, sizeof text, "%ld", total);
    puts(text);
    return (int)strlen(text) + kept == 0;
}
