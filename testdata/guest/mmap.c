// covers: mmap munmap mprotect brk
#include "guest.h"
#include <setjmp.h>
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static sigjmp_buf back;
static int code;
static void *where;
static void on_fault(int s, siginfo_t *i, void *c)
{
    (void)c;
    code = i->si_code, where = i->si_addr;
    siglongjmp(back, s);
}

static int reads(volatile char *p)
{
    int s = sigsetjmp(back, 1);
    if (s == 0)
        (void)*p;
    return s;
}

static int writes(volatile char *p)
{
    int s = sigsetjmp(back, 1);
    if (s == 0)
        *p = 'w';
    return s;
}

static int runs(void *p)
{
    int s = sigsetjmp(back, 1);
    if (s == 0)
        ((void (*)(void))p)();
    return s;
}

#define at(p) printf("%s: read %d write %d\n", #p, reads(p), writes(p))
#define MAP(addr, len, prot, flags, fd, off) show_ok("mmap(" #addr ", " #len ", " #prot ", " #flags ", " #fd ", " #off ")", \
                                                     S(mmap, addr, len, prot, flags, fd, off))
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

int main(void)
{
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &sa, NULL), sigaction(SIGBUS, &sa, NULL);
    long fd = S(open, "host/file", O_RDWR), ro = S(open, "host/file", O_RDONLY), wo = S(open, "host/file", O_WRONLY);

    char *p = (char *)MAP(0, 3 * 4096, RW, ANON, -1, 0);
    is(((long)p & 4095) == 0 && p[0] == 0 && p[3 * 4096 - 1] == 0);
    T(munmap, p + 4096, 4096);
    at(p);
    at(p + 4096);
    is(code == SEGV_MAPERR && where == p + 4096);
    at(p + 8192);
    /* Into the hole and nowhere else. */
    is(MAP(p + 4096, 4096, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0) == (long)(p + 4096));
    MAP(p + 4096, 4096, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    MAP(p - 4096, 8192, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    p[0] = 'x';
    is(MAP(p, 4096, RW, ANON | MAP_FIXED, -1, 0) == (long)p && p[0] == 0);
    MAP(p + 1, 4096, RW, ANON | MAP_FIXED, -1, 0);
    is(MAP(p, 4096, RW, ANON, -1, 0) != (long)p);

    T(mprotect, p, 4096, PROT_READ);
    at(p);
    is(code == SEGV_ACCERR && where == p);
    T(mprotect, p, 4096, PROT_NONE);
    at(p);
    T(mprotect, p, 4096, RW);
    at(p);
    T(mprotect, p, 1, PROT_READ);
    at(p + 100);
    T(mprotect, p, 0, PROT_READ);
    T(mprotect, p + 1, 4096, PROT_READ);
    T(mprotect, p, 4096, 0x100);
    T(mprotect, p, -1L, PROT_READ);
    S(munmap, p + 8192, 4096);
    T(mprotect, p, 3 * 4096, RW);
    at(p);
    at(p + 4096);
    T(mprotect, KERNEL, 4096, PROT_READ);

    T(munmap, p, 0);
    T(munmap, p + 1, 4096);
    T(munmap, p, 4096);
    T(munmap, p, 4096);
    T(munmap, KERNEL, 4096);
    T(munmap, 0, -1L);
    MAP(0, 0, RW, ANON, -1, 0);
    MAP(0, 4096, RW, MAP_ANONYMOUS, -1, 0);
    MAP(0, 4096, RW, MAP_PRIVATE, -1, 0);
    MAP(0, 4096, RW, MAP_PRIVATE, 99, 0);
    MAP(0, 4096, RW, MAP_PRIVATE, fd, 1);
    MAP(0, -1L, RW, ANON, -1, 0);
    MAP(0, 1L << 47, RW, ANON | MAP_NORESERVE, -1, 0);
    MAP(KERNEL, 4096, RW, ANON | MAP_FIXED, -1, 0);
    MAP(0, 4096, RW, MAP_SHARED, ro, 0);
    MAP(0, 4096, PROT_READ, MAP_SHARED, ro, 0);
    MAP(0, 4096, RW, MAP_PRIVATE, ro, 0);
    MAP(0, 4096, PROT_READ, MAP_SHARED, wo, 0);
    MAP(0, 4096, PROT_READ, MAP_PRIVATE, wo, 0);
    MAP(0, 4096, PROT_READ, MAP_PRIVATE, S(open, "host", O_RDONLY), 0);
    MAP(0, 4096, PROT_READ, MAP_PRIVATE, S(open, "host/file", O_PATH), 0);
    MAP(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
    MAP(0, 64L << 30, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    char *one = (char *)S(mmap, 0, 4096, PROT_READ, MAP_SHARED, ro, 0);
    T(mprotect, one, 4096, PROT_NONE);

    /* A file's pages: its bytes, zeroes to the end of the page, SIGBUS behind. */
    char *f = (char *)MAP(0, 8192, RW, MAP_PRIVATE, fd, 0);
    printf("%.11s %d %d\n", f, f[12], f[4095]);
    at(f + 4096);
    is(code == BUS_ADRERR && where == f + 4096);
    f[0] = 'O';
    char c;
    S(pread64, fd, &c, 1, 0);
    printf("%c\n", c);

    /* Code: written, then allowed to run. */
    unsigned char *text = (unsigned char *)MAP(0, 4096, RW, ANON, -1, 0);
    text[0] = 0xc3;
    num(runs(text));
    is(code == SEGV_ACCERR && where == text);
    T(mprotect, text, 4096, PROT_READ | PROT_EXEC);
    num(runs(text));
    num(writes((char *)text));
    T(mprotect, text, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    text[0] = 0x90, text[1] = 0xc3;
    num(runs(text));
    num(runs(NULL));
    is(code == SEGV_MAPERR && where == 0);

    /* The break. */
    long now = S(brk, 0);
    is(S(brk, now + 10000) == now + 10000);
    char *heap = (char *)now;
    heap[9999] = 'h';
    is(heap[9999] == 'h');
    is(S(brk, now) == now);
    is(S(brk, now + 10000) == now + 10000 && heap[9999] == 0);
    is(S(brk, 1) == now + 10000);
    is(S(brk, 1L << 46) == now + 10000);
    S(brk, now);

    /* Grown stacks, and where they end. */
    volatile char deep[1 << 20];
    deep[0] = 1;
    is(deep[0] == 1);
    return 0;
}
