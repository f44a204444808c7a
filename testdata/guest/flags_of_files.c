// covers: preadv2 pwritev2 vmsplice fcntl ioctl statx memfd_create
#include "guest.h"
#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x20
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8
#endif
#ifndef F_CREATED_QUERY
#define F_CREATED_QUERY 1028
#endif

static char buf[65536 * 2], page[4096 * 3] __attribute__((aligned(4096)));

int main(void)
{
    struct stat st;
    struct iovec one = {"12345", 5}, in = {buf, 5}, none = {buf, 0}, two[2] = {{"ab", 2}, {"cde", 3}};
    int p[2], n = -1, on = 1, off = 0;

    /* Flags of a read or a write. */
    put("f", "0123456789");
    long f = S(open, "f", O_RDWR), a = S(open, "f", O_RDWR | O_APPEND), r = S(open, "f", O_RDONLY);
    T(pwritev2, f, &one, 1, 2, 0, RWF_APPEND), cat("f"), num(S(lseek, f, 0, SEEK_CUR)), T(pwritev2, f, two, 2, -1, -1, RWF_APPEND), cat("f"), num(S(lseek, f, 0, SEEK_CUR)), T(pwritev2, a, &one, 1, 0, 0, 0), cat("f");
    SINCE(609, 5, pwritev2, a, &one, 1, 0, 0, RWF_NOAPPEND);
    SINCE(609, -EINVAL, pwritev2, a, &one, 1, 0, 0, RWF_NOAPPEND | RWF_APPEND);
    T(pwritev2, f, &one, 1, 0, 0, 1 << 20), T(preadv2, f, &in, 1, 0, 0, 1 << 20), T(preadv2, r, &none, 1, 0, 0, 1 << 20), T(pwritev2, r, &one, 1, 0, 0, 1 << 20), T(preadv2, f, &in, 1, 0, 0, RWF_APPEND), T(preadv2, 99, &in, 1, 0, 0, 1 << 20), T(preadv2, f, BAD, 1, 0, 0, 1 << 20);
    long nowait = S(preadv2, f, &in, 1, 0, 0, RWF_NOWAIT);
    is(nowait == 5 || nowait == -EOPNOTSUPP || nowait == -EAGAIN);
    S(pipe2, p, 0);
    T(preadv2, p[0], &in, 1, -1, -1, RWF_NOWAIT), T(pwritev2, p[1], two, 2, -1, -1, RWF_NOWAIT), T(preadv2, p[0], &in, 1, -1, -1, RWF_NOWAIT | RWF_HIPRI), T(preadv2, p[0], &in, 1, -1, -1, RWF_NOWAIT);
    one = (struct iovec){buf, sizeof buf};
    T(pwritev2, p[1], &one, 1, -1, -1, RWF_NOWAIT), T(pwritev2, p[1], &one, 1, -1, -1, RWF_NOWAIT), num(S(fcntl, p[1], F_GETFL));

    /* Memory into a pipe and out of it. */
    int v[2];
    S(pipe2, v, 0), memset(page, 'p', sizeof page);
    struct iovec pieces[3] = {{page + 4000, 200}, {page, 1}, {page + 1, 0}}, out[2] = {{buf, 100}, {buf + 100, 1000}}, far = {BAD, 5}, whole = {page, sizeof page}, some[2] = {{page, 10}, {BAD, 5}};
    T(vmsplice, v[1], pieces, 3, 0), T(ioctl, v[0], FIONREAD, &n), num(n), T(vmsplice, v[0], out, 2, 0), T(vmsplice, v[0], out, 2, SPLICE_F_NONBLOCK);
    T(vmsplice, v[1], pieces, 3, 16), T(vmsplice, f, pieces, 1, 0), T(vmsplice, 99, pieces, 1, 0), T(vmsplice, v[1], BAD, 1, 0), T(vmsplice, v[1], pieces, 1025, 0), T(vmsplice, v[1], pieces, 0, 0), T(vmsplice, v[1], &pieces[2], 1, 0), T(vmsplice, v[1], &far, 1, 0), T(vmsplice, v[1], some, 2, 0), T(read, v[0], buf, 100);
    for (int i = 0; i < 5; i++)
        S(vmsplice, v[1], &whole, 1, SPLICE_F_GIFT);
    T(vmsplice, v[1], &whole, 1, SPLICE_F_NONBLOCK), T(vmsplice, v[1], &whole, 1, SPLICE_F_NONBLOCK | SPLICE_F_MORE), T(ioctl, v[0], FIONREAD, &n), num(n), T(vmsplice, v[0], &far, 1, 0);
    T(close, v[1]), one = (struct iovec){buf, sizeof buf}, T(vmsplice, v[0], &one, 1, 0), T(vmsplice, v[0], &one, 1, 0), S(pipe2, v, 0), S(close, v[0]), signal(SIGPIPE, SIG_IGN), T(vmsplice, v[1], &whole, 1, 0);

    /* Commands of fcntl. */
    uint64_t hint = 99, five = 5, six = 6;
    T(fcntl, f, F_GET_RW_HINT, &hint), num(hint), T(fcntl, f, F_SET_RW_HINT, &five), T(fcntl, r, F_GET_RW_HINT, &hint), num(hint), T(fcntl, f, F_SET_RW_HINT, &six), T(fcntl, f, F_GET_RW_HINT, BAD), T(fcntl, f, F_SET_RW_HINT, BAD), T(fcntl, 99, F_GET_RW_HINT, &hint), T(fcntl, f, 9999, 0);
    long fresh = S(open, "fresh", O_CREAT | O_RDWR, 0644), again = S(open, "fresh", O_CREAT | O_RDWR, 0644);
    SINCE(612, 1, fcntl, fresh, F_CREATED_QUERY, 0);
    SINCE(612, 0, fcntl, again, F_CREATED_QUERY, 0);
    long m = S(memfd_create, "m", MFD_ALLOW_SEALING);
    S(ftruncate, m, 8192);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0), *look = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, m, 0);
    map[0] = 'x';
    T(fcntl, m, F_ADD_SEALS, F_SEAL_WRITE), T(fcntl, m, F_GET_SEALS), T(fcntl, m, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), map[1] = 'y', T(write, m, "z", 1), num(look[0]), munmap(map, 4096), T(fcntl, m, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW), T(ftruncate, m, 9000), T(ftruncate, m, 100), T(fcntl, m, F_ADD_SEALS, 1 << 10);
    T(fcntl, f, F_ADD_SEALS, F_SEAL_WRITE), T(fcntl, f, F_GET_SEALS), T(fcntl, r, F_ADD_SEALS, F_SEAL_WRITE), T(fcntl, p[0], F_GET_SEALS), T(fcntl, m, F_ADD_SEALS, F_SEAL_SEAL), T(fcntl, m, F_ADD_SEALS, F_SEAL_SHRINK);
    if (release() >= 603) {
        long x = S(memfd_create, "x", MFD_NOEXEC_SEAL), y = S(memfd_create, "y", MFD_ALLOW_SEALING | 16);
        if (S(fcntl, x, F_GET_SEALS) != F_SEAL_EXEC || S(fchmod, x, 0777) != -EPERM || S(fchmod, x, 0600) != 0)
            printf("MFD_NOEXEC_SEAL\n");
        if (S(fcntl, y, F_ADD_SEALS, F_SEAL_EXEC) != 0 || S(fcntl, y, F_GET_SEALS) != (F_SEAL_EXEC | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
            printf("F_SEAL_EXEC\n");
    }
    T(fcntl, p[0], F_SETPIPE_SZ, 1), T(fcntl, f, F_SETPIPE_SZ, 4096), T(fcntl, f, F_GETPIPE_SZ), T(fcntl, v[1], F_SETPIPE_SZ, 0), T(fcntl, v[1], F_SETPIPE_SZ, 4097), T(fcntl, v[1], F_SETPIPE_SZ, -1);

    /* Commands of ioctl that work on any file. */
    long dir = S(open, "host", O_RDONLY), text = S(open, "/proc/self/stat", O_RDONLY), path = S(open, "f", O_PATH), null = S(open, "/dev/null", O_RDWR);
    int64_t size = -1;
    T(ioctl, p[0], FIOASYNC, &on), num(S(fcntl, p[0], F_GETFL) & O_ASYNC), T(ioctl, p[0], FIOASYNC, &off), num(S(fcntl, p[0], F_GETFL) & O_ASYNC), T(ioctl, f, FIOASYNC, &on), T(ioctl, f, FIOASYNC, &off), T(ioctl, p[0], FIOASYNC, BAD), T(ioctl, path, FIOCLEX), T(ioctl, path, FIONREAD, &n);
    S(ftruncate, f, 10000), S(pwrite64, f, page, 4096, 0), T(ioctl, f, FIOQSIZE, &size), is(size >= 0 && size % 512 == 0), T(ioctl, dir, FIOQSIZE, &size), T(ioctl, p[0], FIOQSIZE, &size), T(ioctl, f, FIOQSIZE, BAD), T(ioctl, f, FIGETBSZ, &n), is(n >= 512), T(ioctl, f, FIGETBSZ, BAD);
    T(ioctl, dir, FIONREAD, &n), T(ioctl, null, FIONREAD, &n), T(ioctl, p[1], FIONREAD, &n), T(ioctl, f, FICLONE, 99), T(ioctl, f, FICLONE, p[0]), T(ioctl, f, FICLONE, dir), T(ioctl, r, FICLONE, f), T(ioctl, a, FICLONE, f), T(ioctl, p[1], FICLONE, f), T(ioctl, f, FICLONERANGE, BAD), T(ioctl, 99, FICLONE, f);
    T(ioctl, f, TCGETS, buf), T(ioctl, p[0], TIOCGWINSZ, buf), T(ioctl, text, TCGETS, buf);
    if (getuid())
        T(ioctl, f, FIBMAP, &n), T(ioctl, f, FIFREEZE, 0);

    /* Fields of statx beyond those of stat. */
    struct statx sx;
    S(statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS | 0x1000, &sx), is(sx.stx_mask & 0x1000), is(sx.stx_attributes_mask & 0x2000), is(sx.stx_attributes & 0x2000);
    S(statx, AT_FDCWD, "f", 0, STATX_SIZE, &sx), is(sx.stx_mask & STATX_SIZE), num(sx.stx_size), is(!(sx.stx_attributes & 0x2000)), S(fstat, f, &st), is(sx.stx_ino == st.st_ino);
    S(statx, AT_FDCWD, "/proc", 0, 0, &sx), is(sx.stx_attributes & 0x2000);
    return 0;
}
