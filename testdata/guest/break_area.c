// covers: brk setrlimit mmap munmap mprotect fork
#include "child.h"

/* The heap that brk(2) has: growing, shrinking, zeros, what is in its way, and its limits. */
static char *start, *end;

static long to(char *p)
{
    return S(brk, p) - (long)start;
}
static void in_a_child(void)
{
    start[0] = 9, num(to(start + 8192)), start[5000] = 4, to(start);
}
static void limited(void)
{
    struct rlimit data;
    S(getrlimit, RLIMIT_DATA, &data), data.rlim_cur = 4096, S(setrlimit, RLIMIT_DATA, &data);
    num(to(start + (1 << 24))), num(to(start + 100)), num(to(start));
}

int main(void)
{
    struct rlimit all;
    end = (char *)S(brk, 0), start = (char *)(((long)end + 4095) & -4096), S(brk, start);
    num(to(0)), num(to(start + 1)), start[4095] = 1, num(to(start + 4096)), num(to(start + 3 * 4096)), memset(start, 7, 3 * 4096),
        num(to(start + 4097)), is(start[4096] == 7), is(start[2 * 4096 - 1] == 7);
    /* What was given back comes again as zeros, but not within a page. */
    num(to(start + 3 * 4096)), is(start[2 * 4096] == 0), is(start[4097] == 7), num(to(start + 10)), num(to(start + 4096)), is(start[10] == 7),
        num(to(start)), num(to(start + 4096)), is(start[10] == 0);
    /* Below the beginning, at once and far beyond: nothing changes. */
    num(to((char *)4096)), num(to(start - (1l << 40))), num(to(KERNEL)), num(to((char *)-1)), num(to(start + (1l << 46))), is(start[0] == 0);

    /* Something in its way. */
    char *block = mmap(start + 10 * 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    is(block == start + 10 * 4096), num(to(start + 10 * 4096)), num(to(start + 10 * 4096 + 1)), num(to(start + 20 * 4096)), S(munmap, block, 4096),
        num(to(start + 20 * 4096));
    /* A hole in it, and rights of a part. */
    start[5 * 4096] = 5, T(munmap, start + 4 * 4096, 4096), num(to(start + 21 * 4096)), is(start[5 * 4096] == 5),
        T(mprotect, start + 6 * 4096, 4096, PROT_READ), num(to(start + 5 * 4096)), num(to(start + 8 * 4096)), start[6 * 4096] = 6,
        is(start[6 * 4096] == 6), T(mprotect, start + 4 * 4096, 4096, PROT_READ), num(to(start));
    /* A copy for a child. */
    num(to(start + 4096)), start[0] = 3, reap(child(in_a_child)), is(start[0] == 3), num(to(0)), reap(child(limited)),
        S(getrlimit, RLIMIT_DATA, &all), num(to(start));
    /* As the C library has it. */
    is(sbrk(0) == end || 1), is(sbrk(1l << 46) == (void *)-1 && errno == ENOMEM);
    return 0;
}
