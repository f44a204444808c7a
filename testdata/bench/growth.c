/* Work of a size that is asked for: `growth loop N` executes about N instructions, `growth map N` makes
   N mappings and touches each, `growth code` runs CODE blocks of code once each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef CODE
void code(void);
#define STRING(x) #x
#define VALUE(x) STRING(x)
/* A block has 50 bytes. */
__asm__(".globl code\n"
        "code:\n"
        ".rept " VALUE(CODE) "\n"
        ".rept 8\n"
        "addl $0x12345678, %ecx\n"
        ".endr\n"
        "jmp 1f\n"
        "1:\n"
        ".endr\n"
        "ret\n");
#else
static void code(void) {}
#endif

static unsigned cells[1 << 14];

static unsigned loop(long n)
{
    unsigned sum = 0;
    /* Ten instructions a round. */
    for (long i = 0; i < n / 10; i++) {
        unsigned *cell = &cells[(unsigned)(i * 2654435761u) >> 18];
        *cell += i;
        sum ^= *cell;
        if (sum & 64)
            sum += 3;
    }
    return sum;
}

static int map(long n)
{
    for (long i = 0; i < n; i++) {
        /* Neighbours differ, so that they stay apart. */
        int protection = i & 1 ? PROT_READ | PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC;
        char *page = mmap(0, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            return 1;
        *page = 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? strtol(argv[2], 0, 10) : 0;
    if (!strcmp(what, "loop"))
        printf("%u\n", loop(n));
    else if (!strcmp(what, "map"))
        return map(n);
    else
        code();
    return 0;
}
