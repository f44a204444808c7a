/* Runs from lines that D1 holds, then for as long through more than it holds, where nearly every
   third instruction misses, then the first again. */
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, LINES = 1 << 14, ROUNDS = 2000 };

static volatile unsigned char all[LINES][LINE];

static unsigned walk(unsigned lines, unsigned accesses) {
    unsigned sum = 0;
    for (unsigned i = 0; i < accesses; i++) {
        sum += all[i % lines][0];
        all[i * 7 % lines][1] = sum;
    }
    return sum;
}

int main(int argc, char **argv) {
    unsigned accesses = argc > 1 ? strtoul(argv[1], 0, 10) : LINES * ROUNDS / 4;
    unsigned sum = walk(64, accesses / 8);
    sum += walk(LINES, accesses);
    sum += walk(64, accesses / 8);
    printf("%u\n", sum);
    return 0;
}
