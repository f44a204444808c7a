// covers: mmap munmap mprotect mremap ftruncate fallocate lseek
#include "guest.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGE 4096L
#define GIB (1L << 30)

static char *map(long fd, long len, long offset)
{
    return (char *)S(mmap, 0, len, RW, MAP_SHARED, fd, offset);
}

/* A file outlives every piece of its mappings, and a mapping every other. */
static void pieces(const char *name)
{
    long fd = S(open, name, O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, 4 * PAGE);
    char *p = map(fd, 4 * PAGE, 0);
    p[0] = 1, p[2 * PAGE] = 2;
    T(mprotect, p + PAGE, PAGE, PROT_READ);
    T(munmap, p, 4 * PAGE);
    p = map(fd, 4 * PAGE, 0);
    num(p[0]++);
    char *away = (char *)S(mmap, 0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is(S(mremap, p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, away) == (long)away);
    num(away[0]++);
    T(munmap, away, PAGE);
    num(p[2 * PAGE]);
    T(munmap, p + 2 * PAGE, PAGE);
    T(munmap, p + PAGE, 3 * PAGE);
    p = map(fd, 4 * PAGE, 0);
    num(p[0]);
    /* The only mapping moves over itself in two pieces, and the name is gone. */
    S(unlink, name), S(close, fd);
    T(mprotect, p + PAGE, PAGE, PROT_READ);
    T(munmap, p, PAGE);
    T(mprotect, p + PAGE, PAGE, RW);
    num(p[2 * PAGE]++);
    T(munmap, p + PAGE, PAGE);
    num(p[2 * PAGE]);
    T(munmap, p, 4 * PAGE);
}

/* A window costs what is in it, wherever in the file it lies. */
static void window(long size)
{
    long fd = S(open, "sparse", O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, size);
    S(pwrite64, fd, "written", 7, size - 2 * PAGE);
    char *p = map(fd, 2 * PAGE, size - 2 * PAGE), c[8] = "";
    printf("%s\n", p);
    memcpy(p + PAGE, "stored", 6);
    S(pread64, fd, c, 6, size - PAGE);
    printf("%s\n", c);
    num(S(lseek, fd, 0, SEEK_DATA) == size - 2 * PAGE);
    num(S(lseek, fd, size - 2 * PAGE, SEEK_HOLE) == size);
    /* A hole takes back what was stored through the mapping. */
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
    num(p[0] | p[PAGE]);
    p[PAGE + 5] = '!';
    S(pread64, fd, c, 6, size - PAGE);
    printf("%d%c\n", c[0], c[5]);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, size - PAGE + 5, 1);
    num(p[PAGE + 5]);
    T(ftruncate, fd, size + GIB);
    T(ftruncate, fd, 10);
    S(unlink, "sparse"), S(close, fd);
}

/* The low 2 GiB: the hint if it can be had, the lowest gap from 1 GiB on otherwise. */
static void low(void)
{
    long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
#define LOW(hint, len) S(mmap, hint, len, RW, flags, -1, 0)
    is(LOW(0x50000000, 2 * PAGE) == 0x50000000);
    long again = LOW(0x50000000, PAGE);
    is(again != 0x50000000 && again >= 0x40000000 && again < 0x80000000);
    is(LOW(0x50002fff, PAGE) == 0x50002000);
    is(LOW(0x30000000, PAGE) == 0x30000000);
    is(LOW(0x7fffe000, 2 * PAGE) == 0x7fffe000);
    long high = LOW(0x7ffff000, 2 * PAGE);
    is(high >= 0x40000000 && high < 0x80000000 - PAGE);
    high = LOW(0x7f0000000000, PAGE);
    is(high >= 0x40000000 && high < 0x80000000);
    is(S(mmap, 0x7f0000000000, PAGE, RW, flags | MAP_FIXED, -1, 0) == 0x7f0000000000);
    show_ok("more than fits", LOW(0, GIB));
}

int main(void)
{
    pieces("made");
    pieces("host/file");
    window(GIB);
    window(5 * GIB);
    low();
}
