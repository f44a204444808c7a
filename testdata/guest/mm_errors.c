// covers: mincore mlock mlock2 munlock mlockall munlockall msync mremap process_vm_readv process_vm_writev process_madvise membarrier
/* Memory: locks, residence, moves and copies between processes, with every error. */
#include "cases.h"
#include <sys/uio.h>

#define P 4096L
static char *pg(int count, int prot, int flags)
{
    /* In a hole of its own, so that nothing is joined to it. */
    char *room = (char *)S(mmap, 0, (count + 16) * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (char *)S(mmap, room + 8 * P, count * P, prot, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void residence(void)
{
    unsigned char v[16];
    char *a = pg(4, 3, MAP_PRIVATE);
    a[0] = 1;
    a[2 * P] = 1;
    memset(v, 7, 16);
    T(mincore, a, 4 * P, v);
    for (int i = 0; i < 5; i++)
        printf("%d", v[i]);
    puts(""), T(mincore, a + 1, P, v), T(mincore, a, 0, v), T(mincore, a, 1, v), T(mincore, a, 5 * P, v);
    T(mincore, a, 20 * P, v), T(mincore, a, 4 * P, BAD), T(mincore, KERNEL, P, v), T(mincore, a, -1, v);
    T(mincore, a, 4 * P, KERNEL);
}
static void locks(void)
{
    struct rlimit rl = {4 * P, 4 * P};
    char *a = pg(8, 3, MAP_PRIVATE), *n = pg(2, 0, MAP_PRIVATE);
    T(mlock, a, P), T(mlock, a + 1, P), T(mlock, a, 0), T(mlock, a, -1), T(mlock, a, 20 * P), T(mlock, n, P);
    T(munlock, n, P), T(munlock, a, 20 * P), T(mlock2, a, P, 2), T(mlock2, a, P, 1), T(mlock2, a, P, 0);
    T(munlock, a, 8 * P), T(mlockall, 0), T(mlockall, 8), T(mlockall, 4), T(mlockall, 5), T(munlockall);
    T(mlock, KERNEL, P), T(mlock, a, -P), T(munlock, a, -P), T(munlock, a, -1);
    setrlimit(RLIMIT_MEMLOCK, &rl);
    S(setresuid, 1000, 1000, 1000), T(mlock, a, 4 * P), T(mlock, a, 4 * P), T(mlock, a + 4 * P, P), T(munlock, a, P);
    T(mlock, a + 4 * P, P), T(mlock, a, -P), T(mlock2, a, -P, 1), T(mlockall, 1), T(mlockall, 2);
    show_ok("m", S(mmap, 0, P, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0));
    rl.rlim_cur = 0;
    setrlimit(RLIMIT_MEMLOCK, &rl);
    T(mlock, a, P), T(mlock2, a, P, 1), T(mlockall, 1);
    show_ok("m", S(mmap, 0, P, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0));
}
static void syncing(void)
{
    char *a = pg(4, 3, MAP_PRIVATE);
    T(msync, a, P, MS_SYNC), T(msync, a, P, 0), T(msync, a, P, MS_SYNC | MS_ASYNC), T(msync, a, P, 8);
    T(msync, a + 1, P, 1), T(msync, a, 5 * P, 4), T(msync, a, 0, 4), T(msync, a, -1, 4), T(msync, a + 20 * P, P, 4);
    T(msync, a + 20 * P, 0, 4), T(msync, KERNEL, P, 4);
}
static void moves(void)
{
    char *a = pg(4, 3, MAP_PRIVATE), *b = pg(4, 3, MAP_PRIVATE), *s = pg(4, 3, MAP_SHARED);
    T(mremap, a + 1, P, P, 0, 0), T(mremap, a, P, 0, 0, 0), T(mremap, a, 0, P, 1, 0), T(mremap, a, P, P, 16, 0);
    T(mremap, a, P, P, 2, b), T(mremap, a, P, P, 3, b + 1), T(mremap, a, P, P, 3, a), T(mremap, a, 2 * P, 2 * P, 3,
        a + P);
    T(mremap, a, P, 2 * P, 4, 0), T(mremap, a, P, 2 * P, 5, 0), T(mremap, a, 20 * P, 30 * P, 1, 0);
    T(mremap, a, P, -1, 1, 0), T(mremap, a, P, 1L << 47, 1, 0);
    T(mremap, KERNEL, P, P, 1, 0), T(mremap, a, P, P, 3, KERNEL);
    T(mremap, a, 4 * P, 5 * P, 0, 0), T(mremap, a, -1, P, 1, 0);
    is(S(mremap, b, 4 * P, 2 * P, 0, 0) > 0);
    T(madvise, b + 2 * P, P, 4), is(S(mremap, s, 0, P, 1, 0) > 0);
    is((char *)S(mremap, a, P, P, 1 | 2 | 4, b) == b), is(a[0] == 0);
}
static void other_processes(void)
{
    char a[16] = "", b[16] = "hello";
    struct iovec l = {a, 5}, r = {b, 5}, bad = {BAD, 5}, big = {a, -1};
    int me = getpid();
    T(process_vm_readv, me, &l, 1, &r, 1, 0), puts(a), T(process_vm_readv, me, &l, 1, &r, 1, 1);
    T(process_vm_readv, me, &l, 1, &bad, 1, 0), T(process_vm_readv, me, &bad, 1, &r, 1, 0);
    T(process_vm_readv, 999999, &l, 1, &r, 1, 0), T(process_vm_readv, -1, &l, 1, &r, 1, 0);
    T(process_vm_readv, me, &big, 1, &r, 1, 0), T(process_vm_readv, me, &l, 1, &r, 1025, 0);
    T(process_vm_readv, me, &l, 1025, &r, 1, 0), T(process_vm_readv, me, BAD, 1, &r, 1, 0);
    T(process_vm_readv, me, &l, 0, &r, 1, 0), T(process_vm_readv, me, &l, 1, &r, 0, 0);
    T(process_vm_writev, me, &l, 1, &r, 1, 0), T(process_vm_writev, me, &l, 1, &bad, 1, 0);
}

static void advice(void)
{
    char *a = pg(4, 3, MAP_PRIVATE);
    struct iovec v[3] = {{a, P}, {a + P, 100}, {a + 4 * P, P}}, odd = {a + 1, P}, big = {a, -1};
    long me = S(pidfd_open, getpid(), 0), null = S(open, "/dev/null", O_RDONLY);
    T(process_madvise, me, v, 2, MADV_COLD, 0), T(process_madvise, me, v, 3, MADV_COLD, 0);
    T(process_madvise, me, v + 2, 1, MADV_COLD, 0), T(process_madvise, me, &odd, 1, MADV_COLD, 0);
    T(process_madvise, me, v, 1, MADV_PAGEOUT, 0), T(process_madvise, me, v, 1, MADV_WILLNEED, 0);
    T(process_madvise, me, v, 1, 77, 0), T(process_madvise, me, v, 1, MADV_COLD, 1);
    T(process_madvise, me, v, 0, MADV_COLD, 0), T(process_madvise, me, v, 1025, MADV_COLD, 0);
    T(process_madvise, me, BAD, 1, MADV_COLD, 0), T(process_madvise, me, &big, 1, MADV_COLD, 0);
    T(process_madvise, null, v, 1, MADV_COLD, 0), T(process_madvise, 99, v, 1, MADV_COLD, 0);
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    long other = S(pidfd_open, child, 0);
    S(munmap, a, P);
    T(process_madvise, other, v, 2, MADV_COLD, 0), T(process_madvise, other, v + 2, 1, MADV_COLD, 0);
    T(process_madvise, other, v, 1, MADV_DONTNEED, 0);
    S(setresuid, 1000, 1000, -1), T(process_madvise, other, v, 1, MADV_COLD, 0);
    S(setresuid, 0, 0, -1), kill(child, SIGKILL), waitpid(child, NULL, 0);
}

int main(void)
{
    unfiltered();
    CASE(residence);
    CASE(locks);
    CASE(syncing);
    CASE(moves);
    CASE(other_processes);
    CASE(advice);
    return 0;
}
