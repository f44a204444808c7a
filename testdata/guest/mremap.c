// covers: mremap madvise mincore msync mlock mlock2 munlock mlockall munlockall
#include "guest.h"

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

/* Pages with nothing of others behind them. */
static char *map(size_t len)
{
    char *p = mmap(0, len + (1 << 20), RW, ANON, -1, 0);
    munmap(p + len, 1 << 20);
    return p;
}

int main(void)
{
    char *p = map(4 * 4096), *q;
    for (int i = 0; i < 4; i++)
        p[i * 4096] = (char)('a' + i);

    is(S(mremap, p, 4 * 4096, 2 * 4096, 0) == (long)p);
    unsigned char resident[8];
    T(mincore, p, 2 * 4096, resident);
    T(mincore, p, 4 * 4096, resident);
    /* Room behind it again, so it grows in place. */
    is(S(mremap, p, 2 * 4096, 4 * 4096, 0) == (long)p && p[4096] == 'b' && p[3 * 4096] == 0);
    mprotect(p + 3 * 4096, 4096, PROT_READ);
    T(mremap, p, 4 * 4096, 8 * 4096, 0);
    mprotect(p + 3 * 4096, 4096, RW);
    char *wall = mmap(p + 4 * 4096, 4096, PROT_NONE, ANON | MAP_FIXED, -1, 0);
    is(wall == p + 4 * 4096);
    T(mremap, p, 4 * 4096, 8 * 4096, 0);
    q = (char *)S(mremap, p, 4 * 4096, 8 * 4096, MREMAP_MAYMOVE);
    is(q != p && q[0] == 'a' && q[4096] == 'b' && q[7 * 4096] == 0);
    T(mincore, p, 4096, resident);
    char *to = map(8 * 4096);
    is(S(mremap, q, 8 * 4096, 4 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (long)to);
    is(to[0] == 'a' && to[4096] == 'b');
    T(mincore, q, 4096, resident);
    T(mremap, to, 4 * 4096, 4 * 4096, MREMAP_FIXED, q);
    T(mremap, to, 4 * 4096, 4 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to + 4096);
    T(mremap, to + 1, 4096, 4096, 0);
    T(mremap, to, 4096, 0, 0);
    T(mremap, to, 4096, 4096, 0x100);
    T(mremap, q, 4096, 8192, MREMAP_MAYMOVE);
    T(mremap, to, 4096, -1L, MREMAP_MAYMOVE);

    p = map(4 * 4096);
    memset(p, 'x', 4 * 4096);
    T(madvise, p, 4096, MADV_DONTNEED);
    is(p[0] == 0 && p[4096] == 'x');
    T(madvise, p, 4096, MADV_NORMAL);
    T(madvise, p, 4096, MADV_RANDOM);
    T(madvise, p, 4096, MADV_SEQUENTIAL);
    T(madvise, p, 4096, MADV_WILLNEED);
    T(madvise, p, 4096, MADV_DONTFORK);
    T(madvise, p, 4096, MADV_DOFORK);
    T(madvise, p, 4096, MADV_DONTDUMP);
    T(madvise, p, 4096, MADV_DODUMP);
    T(madvise, p, 4096, MADV_FREE);
    T(madvise, p, 4096, 9999);
    T(madvise, p + 1, 4096, MADV_NORMAL);
    T(madvise, p, 0, MADV_DONTNEED);
    T(madvise, p, -1L, MADV_DONTNEED);
    munmap(p + 4096, 4096);
    memset(p + 8192, 'y', 4096);
    T(madvise, p, 4 * 4096, MADV_DONTNEED);
    is(p[8192] == 0);
    T(madvise, p + 4096, 4096, MADV_DONTNEED);
    /* A file's page comes back from the file, a shared one stays. */
    long fd = S(memfd_create, "f", 0);
    S(write, fd, "file", 4);
    char *priv = mmap(0, 4096, RW, MAP_PRIVATE, fd, 0), *shared = mmap(0, 4096, RW, MAP_SHARED, fd, 0);
    priv[0] = 'F';
    T(madvise, priv, 4096, MADV_DONTNEED);
    printf("%.4s\n", priv);
    shared[0] = 'S';
    T(madvise, shared, 4096, MADV_DONTNEED);
    printf("%.4s\n", shared);
    char *anon = mmap(0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    anon[0] = 'A';
    T(madvise, anon, 4096, MADV_DONTNEED);
    printf("%c\n", anon[0]);

    T(msync, shared, 4096, MS_SYNC);
    T(msync, shared, 4096, MS_ASYNC);
    T(msync, shared, 4096, MS_SYNC | MS_INVALIDATE);
    T(msync, shared, 4096, MS_SYNC | MS_ASYNC);
    T(msync, shared, 4096, 8);
    T(msync, shared + 1, 4096, MS_SYNC);
    T(msync, p + 4096, 4096, MS_SYNC);
    T(msync, shared, 0, MS_SYNC);

    p = map(4096);
    p[0] = 1;
    T(mincore, p, 4096, resident);
    num(resident[0]);
    T(mincore, p + 1, 4096, resident);
    T(mincore, p, 4096, BAD);
    T(mincore, p, -1L, resident);
    T(mincore, p, 0, resident);
    T(mlock, p, 4096);
    T(mlock2, p, 4096, 1);
    T(mlock2, p, 4096, 2);
    T(munlock, p, 4096);
    munmap(p, 4096);
    T(mlock, p, 4096);
    T(munlock, p, 4096);
    T(mlockall, 0);
    T(mlockall, 8);
    T(mlockall, MCL_ONFAULT);
    T(munlockall);
    return 0;
}
