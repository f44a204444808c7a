// covers: copy_file_range lseek ftruncate read pread64
#include "guest.h"

/* copy_file_range(2) and files with holes: overlaps, ends, offsets of either kind, and what a copy leaves of holes. */
static void look(const char *what, long fd)
{
    char buf[64];
    long n = S(pread64, fd, buf, sizeof buf, 0);
    printf("%s: %ld '", what, n);
    for (long i = 0; i < n; i++)
        putchar(buf[i] ? buf[i] : '.');
    printf("' offset %ld\n", S(lseek, fd, 0, SEEK_CUR));
}

int main(void)
{
    long in, out, a, b;
    put("in", "0123456789"), put("out", "");
    in = S(open, "in", O_RDWR), out = S(open, "out", O_RDWR);
    T(copy_file_range, in, 0, out, 0, 4, 0), look("in", in), look("out", out), a = 8, b = 2, T(copy_file_range, in, &a, out, &b, 100, 0), num(a),
        num(b), look("in", in), look("out", out), a = 10, T(copy_file_range, in, &a, out, 0, 5, 0), a = 11, T(copy_file_range, in, &a, out, 0, 5, 0),
        T(copy_file_range, in, 0, out, 0, 0, 0), b = 20, a = 0, T(copy_file_range, in, &a, out, &b, 3, 0), look("with a hole", out);
    /* Within a file. */
    a = 0, b = 5, T(copy_file_range, in, &a, in, &b, 5, 0), look("in", in), a = 0, b = 4, T(copy_file_range, in, &a, in, &b, 5, 0), a = 4, b = 0,
        T(copy_file_range, in, &a, in, &b, 4, 0), a = 0, b = 9, T(copy_file_range, in, &a, in, &b, 100, 0), a = 0, b = 10,
        T(copy_file_range, in, &a, in, &b, 100, 0), look("doubled", in), a = b = 0, T(copy_file_range, in, &a, in, &b, 10, 0);
    long again = S(open, "in", O_RDONLY);
    a = 0, b = 1, T(copy_file_range, again, &a, in, &b, 5, 0);
    /* What is refused. */
    long ro = S(open, "in", O_RDONLY), wo = S(open, "out", O_WRONLY), dir = S(open, "host", O_RDONLY), null = S(open, "/dev/null", O_RDWR),
        app = S(open, "out", O_WRONLY | O_APPEND);
    T(copy_file_range, wo, 0, in, 0, 1, 0), T(copy_file_range, in, 0, ro, 0, 1, 0), T(copy_file_range, dir, 0, out, 0, 1, 0),
        T(copy_file_range, in, 0, dir, 0, 1, 0), T(copy_file_range, in, 0, null, 0, 1, 0), T(copy_file_range, null, 0, out, 0, 1, 0),
        T(copy_file_range, in, 0, app, 0, 1, 0), T(copy_file_range, 99, 0, out, 0, 1, 0), T(copy_file_range, in, 0, 99, 0, 1, 0),
        T(copy_file_range, in, 0, out, 0, 1, 1), a = -1, T(copy_file_range, in, &a, out, 0, 1, 0), b = -1, a = 0,
        T(copy_file_range, in, &a, out, &b, 1, 0), T(copy_file_range, in, BAD, out, 0, 1, 0), T(copy_file_range, in, 0, out, BAD, 1, 0),
        a = 0x7fffffffffffffff, T(copy_file_range, in, &a, out, 0, 1, 0);
    long m = S(memfd_create, "m", 0);
    a = 0, T(copy_file_range, in, &a, m, 0, 5, 0);

    /* Holes: seen by lseek, read as zeros. */
    put("holes", ""), S(truncate, "holes", 1 << 20);
    long h = S(open, "holes", O_RDWR);
    S(pwrite64, h, "data", 4, 512 << 10), num(S(lseek, h, 0, SEEK_HOLE)), num(S(lseek, h, 0, SEEK_DATA)),
        num(S(lseek, h, 512 << 10, SEEK_HOLE) > 512 << 10), num(S(lseek, h, 1 << 20, SEEK_DATA)), num(S(lseek, h, (1 << 20) - 1, SEEK_DATA)),
        num(S(lseek, h, (1 << 20) - 1, SEEK_HOLE)), num(S(lseek, h, -1, SEEK_HOLE)), num(S(lseek, h, 0, 5));
    long c = S(open, "copy", O_RDWR | O_CREAT, 0644);
    long total = 0, r;
    for (a = 0; (r = S(copy_file_range, h, &a, c, 0, 1 << 30, 0)) > 0;)
        total += r;
    num(total);
    static char one[1 << 20], two[1 << 20];
    S(pread64, h, one, sizeof one, 0), S(pread64, c, two, sizeof two, 0), is(memcmp(one, two, sizeof one) == 0);
    return 0;
}
