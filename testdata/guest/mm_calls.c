// covers: mmap munmap mprotect mremap madvise msync mlock munlock mlock2 mlockall munlockall mincore brk
#include "guest.h"
#include <sys/mman.h>

#define RW (PROT_READ | PROT_WRITE)
#define P 4096L
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define HUGE_LEN (-1L)

static char *p, *s, *ro, *fp, *gap;
static long fd, rofd;
static unsigned char vec[64];

static char *anon(long pages, long flags)
{
    return (char *)S(mmap, 0, pages * P, RW, flags, -1, 0);
}

/* What /proc/self/maps says of the mapping that begins at an address. */
static void perms(const char *what, void *at)
{
    char buf[65536], want[32];
    long file = S(open, "/proc/self/maps", O_RDONLY), n = 0, got;
    while ((got = S(read, file, buf + n, sizeof buf - 1 - n)) > 0)
        n += got;
    S(close, file);
    buf[n > 0 ? n : 0] = 0;
    sprintf(want, "%08lx-", (long)at);
    char *line = strstr(buf, want);
    printf("%s: %.4s\n", what, line ? strchr(line, ' ') + 1 : "none");
}

/* A field of /proc/self/status in kB. */
static long status(const char *field)
{
    char buf[8192];
    long file = S(open, "/proc/self/status", O_RDONLY), n = S(read, file, buf, sizeof buf - 1);
    S(close, file);
    buf[n > 0 ? n : 0] = 0;
    char *line = strstr(buf, field);
    return line ? atol(line + strlen(field)) : -1;
}

static void mmaps(void)
{
#define M(...) OK(mmap, __VA_ARGS__)
    M(0, P, RW, 0, -1, 0);
    M(0, P, RW, MAP_ANONYMOUS, -1, 0);
    M(0, P, RW, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0);
    M(0, P, RW, 4 | MAP_ANONYMOUS, -1, 0);
    M(0, P, RW, ANON, -1, 1);
    M(0, P, RW, ANON, 99, 0);
    M(0, P, RW, ANON, -1, P);
    M(0, P, RW, ANON, -1, -P);
    M(0, P, 0x1000, ANON, -1, 0);
    M(0, P, -1, ANON, -1, 0);
    M(0, 0, RW, MAP_PRIVATE, 99, 0);
    M(0, 0, RW, MAP_PRIVATE, fd, 1);
    M(0, 0, RW, 0, fd, 0);
    M(1, P, RW, ANON | MAP_FIXED, -1, 0);
    M(1, P, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    M(p + 1, P, RW, ANON | MAP_FIXED, -1, 0);
    M(KERNEL, P, RW, ANON | MAP_FIXED, -1, 0);
    M(KERNEL, P, RW, ANON, -1, 0);
    M(-P, P, RW, ANON | MAP_FIXED, -1, 0);
    M(p, P, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
    M(p, P, RW, ANON | MAP_FIXED_NOREPLACE | MAP_FIXED, -1, 0);
    M(0, P, RW, ANON | MAP_GROWSDOWN, -1, 0);
    M(0, P, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
    M(0, P, RW, MAP_PRIVATE | MAP_GROWSDOWN, fd, 0);
    M(0, P, RW, ANON | MAP_POPULATE | MAP_NONBLOCK | MAP_NORESERVE | MAP_STACK | MAP_DENYWRITE | MAP_EXECUTABLE, -1, 0);
    M(0, P, RW, ANON | 0x80000000, -1, 0);
    M(0, P, RW, ANON | MAP_SYNC, -1, 0);
    M(0, P, RW, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
    M(0, P, RW, MAP_SHARED_VALIDATE, fd, 0);
    M(0, P, RW, MAP_SHARED_VALIDATE | 0x80000000, fd, 0);
    M(0, P, RW, MAP_PRIVATE | 0x80000000, fd, 0);
    M(0, P, RW, MAP_SHARED, rofd, 0);
    M(0, P, PROT_EXEC, MAP_SHARED, rofd, 0);
    M(0, P, RW, MAP_PRIVATE, rofd, 0);
    M(0, P, PROT_READ, MAP_SHARED, fd, 1L << 50);
    M(0, P, PROT_READ, MAP_SHARED, fd, -P);
    M(0, P, PROT_READ, MAP_SHARED, fd, 0x7ffffffffffff000);
    M(0, 1L << 45, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    M(0, HUGE_LEN, RW, ANON, -1, 0);
    M(0, -P, RW, ANON, -1, 0);
}

static void protect(void)
{
    char *q = anon(8, ANON);
    T(mprotect, q, P, PROT_WRITE);
    perms("write only", q);
    T(mprotect, q, P, PROT_EXEC);
    perms("execute only", q);
    T(mprotect, q, P, PROT_WRITE | PROT_EXEC);
    perms("write and execute", q);
    T(mprotect, q, P, PROT_NONE);
    perms("none", q);
    T(mprotect, q, P, RW);
    T(mprotect, q + 1, 0, RW);
    T(mprotect, q, 0, 0xffff);
    T(mprotect, q, P, 0xffff);
    T(mprotect, q, P, 1L << 32);
    T(mprotect, q, P, PROT_GROWSDOWN | PROT_GROWSUP);
    T(mprotect, q, P, PROT_READ | PROT_GROWSUP);
    T(mprotect, q, P, PROT_READ | PROT_GROWSDOWN);
    T(mprotect, gap, 3 * P, PROT_READ);
    T(mprotect, gap + P, P, PROT_READ);
    T(mprotect, gap, -1, PROT_READ);
    T(mprotect, KERNEL, P, PROT_READ);
    T(mprotect, ro, P, RW);
    T(mprotect, ro, P, PROT_WRITE);
    T(mprotect, ro, P, PROT_READ | PROT_EXEC);
    T(mprotect, ro, P, PROT_READ);
    T(mprotect, ro, 2 * P, PROT_NONE);
    /* Up to what refuses it, everything has changed. */
    char *both = anon(2, ANON);
    S(mmap, both + P, P, PROT_READ, MAP_SHARED | MAP_FIXED, rofd, 0);
    T(mprotect, both, 2 * P, PROT_WRITE);
    perms("first", both);
    T(pkey_mprotect, q, P, RW, -1);
    T(pkey_mprotect, q, P, RW, 99);
    T(pkey_mprotect, q, P, RW, -2);
    T(pkey_alloc, 1, 0);
    T(pkey_alloc, 0, 4);
    T(pkey_free, 99);
    T(munmap, q, 8 * P);
    T(munmap, q + 1, P);
    T(munmap, q, 0);
    T(munmap, q, 1);
    T(munmap, q, HUGE_LEN);
    T(munmap, KERNEL, P);
    T(munmap, -P, P);
}

static void remaps(void)
{
    char *q = anon(8, ANON), *r;
#define R(...) OK(mremap, __VA_ARGS__)
    R(q, P, P, 8, 0);
    R(q, P, P, MREMAP_FIXED, q + 4 * P);
    R(q, P, P, MREMAP_DONTUNMAP, 0);
    R(q, P, 2 * P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    R(q + 1, P, P, 0, 0);
    R(q, P, 0, 0, 0);
    R(q, P, 0, MREMAP_MAYMOVE, 0);
    R(q, P, HUGE_LEN, MREMAP_MAYMOVE, 0);
    R(q, HUGE_LEN, P, MREMAP_MAYMOVE, 0);
    R(q, P, 2 * P, 0, 0);
    R(gap, 3 * P, 4 * P, MREMAP_MAYMOVE, 0);
    R(gap + P, P, P, 0, 0);
    R(gap + P, P, 2 * P, MREMAP_MAYMOVE, 0);
    R(KERNEL, P, P, 0, 0);
    R(q, 2 * P, P, MREMAP_MAYMOVE | MREMAP_FIXED, q + P);
    R(q, P, P, MREMAP_MAYMOVE | MREMAP_FIXED, q + 1);
    R(q, P, P, MREMAP_MAYMOVE | MREMAP_FIXED, KERNEL);
    R(q, P, P, MREMAP_MAYMOVE | MREMAP_FIXED, -P);
    R(q, 0, P, MREMAP_MAYMOVE, 0);
    R(q, 0, P, 0, 0);
    /* An old size of nothing makes a second view of shared memory. */
    s[0] = 's';
    r = (char *)S(mremap, s, 0, P, MREMAP_MAYMOVE, 0);
    is(r != s && r[0] == 's' && (s[1] = 't') && r[1] == 't');
    R(s, 0, P, 0, 0);
    /* The pages go, the place stays. */
    q[0] = 'q';
    r = (char *)S(mremap, q, P, P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    is(r != q && r[0] == 'q' && q[0] == 0);
    s[0] = 'S';
    r = (char *)S(mremap, s, P, P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    is((long)r == -EINVAL || (r[0] == 'S' && s[0] == 'S'));
    r = anon(4, ANON);
    is(S(mremap, q, P, P, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, r) == (long)r);
    perms("stays", q);
    /* Shrinking in place, with an address that is not looked at. */
    is(S(mremap, q, 8 * P, 2 * P, 0, KERNEL) == (long)q);
    is(S(mremap, q, 2 * P, 2 * P, MREMAP_MAYMOVE, 0) == (long)q);
}

static void advice(void)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                              26, 27, 99, 200, -1};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        char what[64];
        /* Features that a kernel may be built without. */
        int open = all[i] == 12 || all[i] == 13 || all[i] == 14 || all[i] == 15 || all[i] >= 22;
        if (open)
            continue;
        char *q = anon(2, ANON);
        q[0] = 'q';
        sprintf(what, "madvise %d of private memory", all[i]);
        show(what, S(madvise, q, P, all[i]));
        if (all[i] != 8)
            printf("  leaves %d\n", q[0]);
        S(munmap, q, 2 * P);
        q = (char *)S(mmap, 0, 2 * P, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        q[0] = 'q';
        sprintf(what, "madvise %d of shared memory", all[i]);
        show(what, S(madvise, q, P, all[i]));
        printf("  leaves %d\n", q[0]);
        S(munmap, q, 2 * P);
        q = (char *)S(mmap, 0, P, PROT_READ, MAP_PRIVATE, rofd, 0);
        sprintf(what, "madvise %d of a file", all[i]);
        show(what, S(madvise, q, P, all[i]));
        S(munmap, q, P);
    }
    SINCE(514, 0, madvise, p, P, MADV_POPULATE_READ);
    SINCE(514, 0, madvise, p, P, MADV_POPULATE_WRITE);
    SINCE(514, 0, madvise, s, P, MADV_POPULATE_WRITE);
    SINCE(514, -EINVAL, madvise, ro, P, MADV_POPULATE_WRITE);
    T(madvise, p + 1, P, 0);
    T(madvise, p + 1, P, 99);
    T(madvise, p, 0, 4);
    T(madvise, gap + P, 0, 4);
    T(madvise, p, -1, 4);
    T(madvise, p, -P, 4);
    T(madvise, KERNEL, P, 4);
    T(madvise, gap + P, P, 4);
    T(madvise, gap, 3 * P, 4);
    T(madvise, gap, 3 * P, 3);
    T(madvise, 0, P, 4);
    S(mprotect, gap, P, RW), S(mprotect, gap + 2 * P, P, RW);
    gap[0] = 1, gap[2 * P] = 1;
    T(madvise, gap, 3 * P, MADV_DONTNEED);
    num(gap[0] + gap[2 * P]);
    /* Back to the file's bytes. */
    fp[0] = 'F';
    T(madvise, fp, P, MADV_DONTNEED);
    printf("%c\n", fp[0]);
    /* Of a shared file: to zeros, in the file too. */
    char *q = (char *)S(mmap, 0, P, RW, MAP_SHARED, fd, 0);
    T(madvise, q, P, MADV_REMOVE);
    printf("%d\n", q[0]);
    cat("f");
    SINCE(514, 0, madvise, q, P, MADV_POPULATE_WRITE);
    T(mprotect, q, P, PROT_READ);
    SINCE(514, -EINVAL, madvise, q, P, MADV_POPULATE_WRITE);
    SINCE(514, 0, madvise, q, P, MADV_POPULATE_READ);
    T(mprotect, q, P, PROT_NONE);
    SINCE(514, -EINVAL, madvise, q, P, MADV_POPULATE_READ);
    SINCE(514, -ENOMEM, madvise, gap, 3 * P, MADV_POPULATE_READ);
    q = (char *)S(mmap, 0, 4 * P, RW, MAP_SHARED, fd, 0);
    SINCE(514, -EFAULT, madvise, q, 4 * P, MADV_POPULATE_READ);
}

static void sync_and_lock(void)
{
    static const int flags[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, -1};
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        char what[32];
        sprintf(what, "msync with %d", flags[i]);
        show(what, S(msync, p, P, flags[i]));
    }
    T(msync, p + 1, P, MS_SYNC);
    T(msync, p + 1, P, 99);
    T(msync, p, 0, MS_SYNC);
    T(msync, gap + P, 0, MS_SYNC);
    T(msync, p, -1, MS_SYNC);
    T(msync, p, -P, MS_SYNC);
    T(msync, gap, 3 * P, MS_SYNC);
    T(msync, gap, 3 * P, MS_ASYNC);
    T(msync, gap + P, P, MS_ASYNC);
    T(msync, gap + P, P, 0);
    T(msync, KERNEL, P, MS_SYNC);

    num(status("VmLck:"));
    T(mlock, p, P);
    num(status("VmLck:"));
    T(mlock, p + 1, P);
    num(status("VmLck:"));
    T(msync, p, P, MS_SYNC);
    T(msync, p, P, MS_INVALIDATE);
    T(msync, p, P, MS_INVALIDATE | MS_SYNC);
    T(msync, p + 2 * P, P, MS_INVALIDATE);
    T(madvise, p, P, MADV_DONTNEED);
    T(madvise, p, P, MADV_FREE);
    T(madvise, p, P, MADV_PAGEOUT);
    T(madvise, p, P, MADV_COLD);
    T(munlock, p, P);
    num(status("VmLck:"));
    T(munlock, p, 4 * P);
    num(status("VmLck:"));
    T(mlock, gap, 3 * P);
    T(munlock, gap, 3 * P);
    T(mlock, gap + P, P);
    T(mlock, gap + P, 0);
    T(mlock, p, 0);
    T(mlock, p, -1);
    T(mlock, KERNEL, P);
    T(munlock, p, -1);
    T(munlock, p, -P);
    T(mlock2, p, P, 2);
    T(mlock2, p, P, -1);
    T(mlock2, p, P, 1);
    num(status("VmLck:"));
    T(mprotect, p, P, PROT_NONE);
    num(status("VmLck:"));
    T(mlock, p, P);
    T(mprotect, p, P, RW);
    T(munlock, p, P);
    T(mlockall, 0);
    T(mlockall, MCL_ONFAULT);
    T(mlockall, 8);
    T(mlockall, -1);
    T(munlockall);
    char *q = anon(2, ANON | MAP_LOCKED);
    num(status("VmLck:"));
    T(munmap, q, P);
    num(status("VmLck:"));
    is(S(mremap, q + P, P, 3 * P, MREMAP_MAYMOVE, 0) > 0);
    num(status("VmLck:"));
    T(munlockall);
    num(status("VmLck:"));
    T(mlockall, MCL_FUTURE);
    num(status("VmLck:"));
    q = anon(4, ANON);
    num(status("VmLck:"));
    T(munlockall);
    S(munmap, q, 4 * P);

    T(mincore, p, P, vec);
    p[0] = 1, p[P] = 1;
    T(mincore, p, P, vec);
    num(vec[0]);
    T(mincore, p + 1, P, vec);
    T(mincore, p, 2 * P, KERNEL);
    T(mincore, p, 2 * P, 16);
    T(mincore, p, 0, vec);
    T(mincore, p, 0, 16);
    T(mincore, gap, 3 * P, vec);
    T(mincore, gap + P, P, vec);
    T(mincore, p, -1, vec);
    T(mincore, KERNEL, P, vec);
}

int main(void)
{
    put("f", "of the file");
    put("readable", "of the other file");
    fd = S(open, "f", O_RDWR), rofd = S(open, "readable", O_RDONLY);
    p = anon(4, ANON);
    s = anon(2, MAP_SHARED | MAP_ANONYMOUS);
    ro = (char *)S(mmap, 0x300000000, P, PROT_READ, MAP_SHARED | MAP_FIXED, rofd, 0);
    fp = (char *)S(mmap, 0, P, RW, MAP_PRIVATE, fd, 0);
    gap = (char *)S(mmap, 0x200000000, 3 * P, RW, ANON | MAP_FIXED, -1, 0);
    S(munmap, gap + P, P);
    mmaps();
    protect();
    remaps();
    advice();
    sync_and_lock();
}
