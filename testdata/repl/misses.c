#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char table[1 << 16], copy[1 << 16];
char input[64];
volatile int kept;

static int odd(int n) { return n * 3 + 1; }
static int even(int n) { return n / 2; }
static int (*const steps[])(int) = {even, odd};

int main(void)
{
    int sum = 0;
    if (read(0, input, sizeof input) > 0)
        kept = input[0];
    for (int i = 0; i < 40; i++) {
        int n = i + 7;
        while (n != 1)
            n = steps[n & 1](n), kept = n;
        memset(table + i * 1000, i, 300);
        __asm__ volatile("rep movsb" : : "S"(table + i * 900), "D"(copy + i * 1100), "c"(150) : "memory");
        sum += table[(i * 7919) & 0xffff] + copy[(i * 104729) & 0xffff];
        kept = sum;
    }
    printf("%d\n", sum);
    return 0;
}
