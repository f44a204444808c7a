// covers: memfd_create fcntl fallocate ftruncate flock madvise
/* Seals of memory files, advice on memory, and what fcntl refuses. */
#include "cases.h"

static void seals(void)
{
    char text[300];
    memset(text, 'n', 299);
    text[299] = 0;
    char c[8];
    T(memfd_create, BAD, 0), T(memfd_create, text, 0);
    text[250] = 0;
    T(memfd_create, text, 0);
    text[249] = 0;
    is(S(memfd_create, text, 0) > 0), T(memfd_create, "x", 0x80), T(memfd_create, "x", 0x10000000);
    is(S(memfd_create, "", 0) > 0);
    long m = S(memfd_create, "m", 0), q = S(memfd_create, "q", MFD_ALLOW_SEALING);
    T(fcntl, m, F_GET_SEALS), T(fcntl, m, F_ADD_SEALS, F_SEAL_SHRINK), T(fcntl, q, F_GET_SEALS);
    T(ftruncate, q, 8192), T(fcntl, q, F_ADD_SEALS, 0x400), T(fcntl, q, F_ADD_SEALS, F_SEAL_SHRINK);
    T(ftruncate, q, 4096), T(ftruncate, q, 8193), T(fcntl, q, F_ADD_SEALS, F_SEAL_GROW), T(ftruncate, q, 9000);
    T(pwrite64, q, "abc", 3, 8192), T(fallocate, q, 0, 0, 10000), T(fallocate, q, 3, 0, 4096);
    char *w = (char *)S(mmap, 0, 4096, 3, MAP_SHARED, q, 0);
    T(fcntl, q, F_ADD_SEALS, F_SEAL_WRITE), T(fcntl, q, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), T(write, q, "x", 1);
    w[0] = 'w';
    T(pread64, q, c, 1, 0), T(mmap, 0, 4096, 3, MAP_SHARED, q, 0), T(munmap, w, 4096);
    T(fcntl, q, F_ADD_SEALS, F_SEAL_WRITE), is(S(mmap, 0, 4096, 3, MAP_PRIVATE, q, 0) > 0);
    T(fallocate, q, 3, 0, 4096), T(fcntl, q, F_ADD_SEALS, F_SEAL_SEAL), T(fcntl, q, F_ADD_SEALS, F_SEAL_SHRINK);
    T(fcntl, q, F_GET_SEALS), put("f", ""), T(fcntl, S(open, "f", O_RDWR), F_GET_SEALS), T(fcntl, 99, F_GET_SEALS);
}
static void advice(void)
{
    char *a = (char *)S(mmap, 0, 4 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *s = (char *)S(mmap, 0, 4096, 3,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0), *l = (char *)S(mmap, 0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    S(mlock, l, 4096);
    a[0] = a[4096] = 1;
    T(madvise, a, 4096, -1), T(madvise, a, 4096, 5), T(madvise, a, 4096, 7), T(madvise, a, 4096, 99);
    T(madvise, a + 1, 4096, 4), T(madvise, a, 0, 4), T(madvise, a, 0, 99), T(madvise, a, -1, 4);
    T(madvise, a, -4096, 4), T(madvise, KERNEL, 4096, 4), T(madvise, l, 4096, MADV_DONTNEED);
    T(madvise, l, 4096, MADV_FREE), T(madvise, l, 4096, MADV_COLD), T(madvise, l, 4096, MADV_PAGEOUT);
    T(madvise, s, 4096, MADV_FREE), T(madvise, s, 4096, MADV_WIPEONFORK), T(madvise, a, 4096, MADV_REMOVE);
    T(madvise, s, 4096, MADV_REMOVE), T(madvise, s, 4096, MADV_DONTNEED), T(madvise, a, 4096, MADV_DONTNEED);
    printf("%d %d\n", a[0], a[4096]);
    T(munmap, a + 8192, 4096), T(madvise, a, 4 * 4096, MADV_DONTNEED);
    printf("%d\n", a[4096]);
    T(madvise, a + 8192, 4096, MADV_NORMAL);
}
static void commands_of_fcntl(void)
{
    long a = S(open, "host/file", O_RDWR);
    int p[2];
    S(pipe, p);
    struct f_owner_ex ow = {1, 0};
    struct flock bl = {7, 0, 0, 0}, wl = {F_WRLCK, 9, 0, 0}, fl = {F_WRLCK, 0, 0, 0};
    uint64_t h;
    T(fcntl, a, F_DUPFD, -1), T(fcntl, a, F_DUPFD, 100000000), T(fcntl, a, F_DUPFD_CLOEXEC, -5);
    T(fcntl, 99, F_GETFD), T(fcntl, a, 999), T(fcntl, a, -1), T(fcntl, a, F_GETLK, BAD), T(fcntl, a, F_SETLK, &bl);
    T(fcntl, a, F_SETLK, &wl);
    fl.l_start = -1;
    T(fcntl, a, F_SETLK, &fl);
    fl.l_start = 0;
    fl.l_pid = 5;
    T(fcntl, a, F_OFD_SETLK, &fl);
    fl.l_pid = 0;
    long ro = S(open, "host/file", O_RDONLY);
    T(fcntl, ro, F_SETLK, &fl), T(fcntl, a, F_SETOWN, 999999), T(fcntl, a, F_SETOWN, 0x80000000);
    T(fcntl, a, F_SETOWN_EX, &ow);
    ow.type = 7;
    T(fcntl, a, F_SETOWN_EX, &ow), T(fcntl, a, F_SETOWN_EX, BAD), T(fcntl, a, F_GETOWN_EX, BAD);
    T(fcntl, a, F_SETSIG, 65), T(fcntl, a, F_SETSIG, -1), T(fcntl, a, F_SETSIG, 10), T(fcntl, a, F_GETSIG);
    T(fcntl, a, 1035, BAD), T(fcntl, a, 1035, &h);
    h = 2;
    T(fcntl, a, 1036, &h);
    h = 99;
    T(fcntl, a, 1036, &h), T(fcntl, p[0], F_GETPIPE_SZ), T(fcntl, p[0], F_SETPIPE_SZ, 1);
    T(fcntl, p[0], F_SETPIPE_SZ, 5000), T(fcntl, p[0], F_SETPIPE_SZ, -1), T(fcntl, a, F_GETPIPE_SZ);
    T(flock, a, 0), T(flock, a, 1 | 2), T(flock, 99, 1), T(flock, a, 64), T(fcntl, a, F_SETLEASE, 9);
    T(fcntl, p[0], F_SETLEASE, 0), T(fcntl, a, F_NOTIFY, 0);
}

int main(void)
{
    unfiltered();
    CASE(seals);
    CASE(advice);
    CASE(commands_of_fcntl);
    return 0;
}
