/* Makes functions at run time and changes them after they have run. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
    /* mov eax, edi; imul eax, eax, K; add eax, K; ret */
    unsigned char code[] = {0x89, 0xf8, 0x69, 0xc0, 1, 0, 0, 0, 0x05, 1, 0, 0, 0, 0xc3};
    unsigned char *area =
        mmap(0, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned sum = 1;
    for (unsigned round = 0; round < 400; round++) {
        unsigned char *at = area + (round % 9) * 4000;
        unsigned factor = round * 7 + 3;
        memcpy(code + 4, &factor, 4);
        memcpy(code + 9, &round, 4);
        memcpy(at, code, sizeof code);
        unsigned (*function)(unsigned) = (unsigned (*)(unsigned))(void *)at;
        for (int i = 0; i < 50; i++)
            sum = function(sum);
        if (round % 40 == 39) {
            mprotect(area, 1 << 16, PROT_READ | PROT_EXEC);
            sum = function(sum);
            mprotect(area, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC);
        }
    }
    printf("%u\n", sum);
    return 0;
}
