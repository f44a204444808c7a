// covers: copy_file_range splice tee vmsplice sendfile preadv preadv2 pwritev pwritev2 sync_file_range fadvise64 readahead syncfs fsync fdatasync statx
/* Copies inside the kernel, vectors at offsets, advice on files and statx, with every error. */
#include "cases.h"
#include <sys/uio.h>

static void between_files(void)
{
    put("a", "0123456789"), put("b", "");
    long a = S(open, "a", O_RDWR), b = S(open, "b", O_RDWR), ap = S(open, "b", O_WRONLY | O_APPEND), ro = S(open, "b",
           O_RDONLY), wo = S(open, "a", O_WRONLY), d = S(open, ".", O_RDONLY),
           pth = S(open, "a", O_PATH);
    int p[2];
    S(pipe, p);
    long o = 2, q = 3, neg = -1;
    T(copy_file_range, a, 0, b, 0, 4, 0), T(copy_file_range, a, &o, b, &q, 4, 0), num(o), num(q);
    T(copy_file_range, a, &o, b, 0, 100, 0), T(copy_file_range, a, &o, b, 0, 100, 0);
    T(copy_file_range, a, 0, b, 0, 4, 1), T(copy_file_range, wo, 0, b, 0, 4, 0);
    T(copy_file_range, a, 0, ro, 0, 4, 0), T(copy_file_range, a, 0, ap, 0, 4, 0);
    T(copy_file_range, d, 0, b, 0, 4, 0), T(copy_file_range, a, 0, d, 0, 4, 0);
    T(copy_file_range, p[0], 0, b, 0, 4, 0), T(copy_file_range, a, 0, p[1], 0, 4, 0);
    T(copy_file_range, 99, 0, b, 0, 4, 0), T(copy_file_range, a, 0, 99, 0, 4, 0);
    T(copy_file_range, pth, 0, b, 0, 4, 0), T(copy_file_range, a, &neg, b, 0, 4, 0);
    T(copy_file_range, a, 0, b, &neg, 4, 0), T(copy_file_range, a, BAD, b, 0, 4, 0);
    o = 0;
    q = 2;
    T(copy_file_range, a, &o, a, &q, 4, 0);
    q = 5;
    T(copy_file_range, a, &o, a, &q, 4, 0), T(copy_file_range, a, 0, b, 0, 0, 0);
    o = 1L << 62;
    T(copy_file_range, a, &o, b, 0, 4, 0);
    o = 0;
    q = 0x7fffffffffffffff;
    T(copy_file_range, a, &o, b, &q, 4, 0), cat("b");
}
static void through_pipes(void)
{
    put("a", "0123456789"), put("b", "");
    long a = S(open, "a", O_RDWR), b = S(open, "b", O_RDWR), ap = S(open, "b", O_WRONLY | O_APPEND), d = S(open, ".",
           O_RDONLY), pth = S(open, "a", O_PATH);
    int p[2], q[2];
    S(pipe2, p, O_NONBLOCK), S(pipe2, q, O_NONBLOCK);
    long o = 2, neg = -1;
    char c[99];
    T(splice, a, 0, p[1], 0, 4, 0), T(splice, a, &o, p[1], 0, 4, 0), num(o), T(splice, p[0], 0, b, 0, 3, 0);
    T(splice, p[0], &o, b, 0, 3, 0), T(splice, a, 0, p[1], &o, 3, 0), T(splice, a, 0, b, 0, 3, 0);
    T(splice, p[0], 0, p[1], 0, 3, 0), T(splice, p[0], 0, q[1], 0, 3, 0), T(splice, p[0], 0, ap, 0, 3, 0);
    T(splice, a, 0, p[0], 0, 3, 0), T(splice, p[1], 0, b, 0, 3, 0), T(splice, 99, 0, b, 0, 3, 0);
    T(splice, p[0], 0, 99, 0, 3, 0), T(splice, pth, 0, p[1], 0, 3, 0), T(splice, d, 0, p[1], 0, 3, 0);
    T(splice, a, &neg, p[1], 0, 3, 0), T(splice, a, BAD, p[1], 0, 3, 0), T(splice, a, 0, p[1], 0, 3, 16);
    T(splice, a, 0, p[1], 0, 0, 16), T(splice, p[0], 0, b, 0, 100, 0), T(splice, p[0], 0, b, 0, 100, 0);
    T(splice, p[0], 0, b, 0, 100, 2), S(read, q[0], c, 99), S(write, p[1], "teetee", 6), T(tee, p[0], q[1], 4, 0);
    T(tee, p[0], p[1], 4, 0), T(tee, a, q[1], 4, 0), T(tee, p[0], b, 4, 0), T(tee, p[1], q[1], 4, 0);
    T(tee, p[0], q[0], 4, 0), T(tee, 99, q[1], 4, 0), T(tee, p[0], q[1], 0, 0), T(tee, p[0], q[1], 4, 16);
    T(tee, p[0], q[1], 100, 2), S(read, p[0], c, 99), T(tee, p[0], q[1], 4, 2);
    struct iovec v = {"vmsplice", 8}, r = {c, 8}, bad = {BAD, 4};
    T(vmsplice, p[1], &v, 1, 0), T(vmsplice, p[0], &r, 1, 0), T(vmsplice, p[0], &r, 1, 2);
    T(vmsplice, p[1], &bad, 1, 0), T(vmsplice, p[1], BAD, 1, 0), T(vmsplice, a, &v, 1, 0);
    T(vmsplice, 99, &v, 1, 0), T(vmsplice, p[1], &v, 1025, 0), T(vmsplice, p[1], &v, 0, 0);
    T(vmsplice, p[1], &v, 1, 32), T(vmsplice, p[1], &v, 1, 8), T(sendfile, b, a, 0, 3);
    o = 1;
    T(sendfile, b, a, &o, 3), num(o), T(sendfile, p[1], a, 0, 3), T(sendfile, b, p[0], 0, 3);
    T(sendfile, ap, a, 0, 3), T(sendfile, 99, a, 0, 3), T(sendfile, b, 99, 0, 3), T(sendfile, a, a, 0, 3);
    T(sendfile, b, d, 0, 3), T(sendfile, d, a, 0, 3), T(sendfile, b, a, &neg, 3), T(sendfile, b, a, BAD, 3);
    T(sendfile, b, a, 0, 0), T(sendfile, b, pth, 0, 2), cat("b");
}
static void beyond_the_largest_offset(void)
{
    put("a", "0123456789"), put("b", "");
    long a = S(open, "a", O_RDWR), b = S(open, "b", O_RDWR), o = 2, last = INT64_MAX;
    int p[2], q[2];
    S(pipe2, p, O_NONBLOCK), S(pipe2, q, O_NONBLOCK), S(write, p[1], "pipe", 4);
    T(sendfile, b, a, 0, -1), T(sendfile, b, a, &o, -5), T(sendfile, b, a, &last, 1), T(sendfile, 99, a, 0, -1);
    T(sendfile, b, a, &o, INT64_MAX), printf("%ld\n", o), T(lseek, a, 0, SEEK_CUR), T(lseek, b, 0, SEEK_CUR);
    T(splice, a, &o, p[1], 0, -1, 0), T(splice, a, &o, p[1], 0, INT64_MAX, 0), T(splice, a, 0, p[1], 0, 1L << 63, 0);
    T(splice, p[0], 0, b, &o, -1, 0), T(splice, p[0], 0, b, 0, -1, 0), T(splice, p[0], 0, b, &last, 1, 0);
    T(tee, p[0], q[1], -1, 0), T(splice, p[0], 0, q[1], 0, -1, 0);
}
static void at_offsets(void)
{
    char c[64];
    long a = S(open, "host/file", O_RDWR), dir = S(open, ".", O_RDONLY);
    struct iovec v[2] = {{c, 4}, {c + 8, 4}}, bad[2] = {{c, 4}, {BAD, 4}};
    int p[2];
    S(pipe, p), T(preadv2, a, v, 2, 0, 0, 0), T(preadv2, a, v, 2, 0, 0, 1), T(preadv2, a, v, 2, 0, 0, 2);
    T(preadv2, a, v, 2, 0, 0, 4), T(preadv2, a, v, 2, 0, 0, 16), T(preadv2, a, v, 2, 0, 0, -1);
    T(preadv2, a, v, 2, -1, 0, 0), T(preadv2, a, v, 2, -2, 0, 0), T(preadv2, p[0], v, 2, 0, 0, 0);
    T(preadv2, p[0], v, 2, -1, 0, 8), T(preadv2, dir, v, 2, 0, 0, 0), T(preadv, a, v, 2, -1);
    T(preadv, a, bad, 2, 0), T(preadv, a, v, -1, 0), T(preadv, a, v, 1025, 0), T(preadv, a, BAD, 1, 0);
    T(preadv, 99, v, 1, 0), T(pwritev2, a, v, 2, 0, 0, 2), T(pwritev2, a, v, 2, 0, 0, 4);
    T(pwritev2, a, v, 1, 0, 0, 16), T(pwritev2, p[1], v, 2, 0, 0, 0), T(pwritev2, p[1], v, 2, -1, 0, 8);
    T(pwritev, a, bad, 2, 0), T(pwritev, a, v, 1, -5), T(pwritev, dir, v, 1, 0), T(sync_file_range, a, 0, 0, 0);
    T(sync_file_range, a, 0, 0, 7), T(sync_file_range, a, 0, 0, 8), T(sync_file_range, a, -1, 0, 0);
    T(sync_file_range, a, 0, -1, 0), T(sync_file_range, p[0], 0, 0, 0), T(sync_file_range, 99, 0, 0, 0);
    T(sync_file_range, dir, 0, 0, 0), T(sync_file_range, a, 1L << 62, 1L << 62, 0);
    for (int i = -1;i<8;i++){T(fadvise64, a, 0, 0, i);}
    T(fadvise64, p[0], 0, 0, 0), T(fadvise64, 99, 0, 0, 0), T(fadvise64, a, 0, -1, 0), T(fadvise64, a, -1, 5, 0);
    T(fadvise64, dir, 0, 0, 0), T(fadvise64, S(open, "host/file", O_PATH), 0, 0, 0), T(readahead, a, 0, 9);
    T(readahead, p[0], 0, 9), T(readahead, 99, 0, 9), T(readahead, dir, 0, 9);
    T(readahead, S(open, "host/file", O_WRONLY), 0, 9), T(readahead, a, -1, 9);
    T(readahead, S(socket, 1, 1, 0), 0, 9), T(syncfs, 99), T(syncfs, p[0]), T(fsync, p[0]), T(fdatasync, dir);
    T(fsync, 99);
}
/* Tables of mounts and of the machine can be copied, others of a process cannot. */
static void out_of_proc(void)
{
    static const char *const files[] = {"meminfo", "mounts", "self/mountinfo", "self/mountstats", "self/status", "self/maps", "self/smaps"};
    char path[64];
    long to = S(memfd_create, "copied", 0);
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        sprintf(path, "/proc/%s", files[i]);
        show(path, S(sendfile, to, S(open, path, O_RDONLY), 0, 5));
    }
}
static void attributes_of_files(void)
{
    char b[256];
    put("f", "abc"), T(statx, AT_FDCWD, "f", 0, 0x7ff, b), T(statx, AT_FDCWD, "f", 0x6000, 0x7ff, b);
    T(statx, AT_FDCWD, "f", 0x4000, 0, b), T(statx, AT_FDCWD, "f", 0x80000000, 0, b);
    T(statx, AT_FDCWD, "f", 0x400, 0, b), T(statx, AT_FDCWD, "f", 0, 0x80000000, b);
    T(statx, AT_FDCWD, "", 0, 0, b), T(statx, AT_FDCWD, "", 0x1000, 0, b), T(statx, 99, "", 0x1000, 0, b);
    T(statx, 99, "f", 0, 0, b), T(statx, AT_FDCWD, BAD, 0, 0, b), T(statx, AT_FDCWD, "f", 0, 0, BAD);
    T(statx, AT_FDCWD, "none", 0, 0, b), T(statx, AT_FDCWD, "f/x", 0, 0, b);
    T(statx, AT_FDCWD, "host/dangling", 0, 0, b), T(statx, AT_FDCWD, "host/dangling", 0x100, 0, b);
}

int main(void)
{
    unfiltered();
    CASE(between_files);
    CASE(through_pipes);
    CASE(beyond_the_largest_offset);
    CASE(at_offsets);
    CASE(out_of_proc);
    CASE(attributes_of_files);
    return 0;
}
