// covers: open write pwrite64 lseek fcntl dup fork pwritev2 ftruncate sendfile splice copy_file_range mmap
#include "child.h"
#include <sys/uio.h>

/* O_APPEND: where bytes go, and the offset afterwards; descriptions that share an offset and those that do not. */
static void at(const char *what, long fd)
{
    printf("%s: offset %ld\n", what, S(lseek, fd, 0, SEEK_CUR));
}

static long shared;
static void writes_there(void)
{
    S(write, shared, "child ", 6);
    S(fcntl, shared, F_SETFL, O_APPEND);
}

int main(void)
{
    char buf[64];
    struct iovec v = {"[v]", 3};
    long a = S(open, "log", O_RDWR | O_CREAT | O_APPEND, 0644), b = S(open, "log", O_WRONLY | O_APPEND), plain = S(open, "log", O_RDWR);
    at("new", a), T(write, a, "one ", 4), at("one", a), at("other", b), T(write, b, "two ", 4), at("two", b), at("first", a),
        T(write, a, "three ", 6), at("three", a), cat("log");
    S(lseek, a, 2, SEEK_SET), T(read, a, buf, 2), at("read", a), T(write, a, "!", 1), at("written", a), T(pwrite64, a, "P", 1, 0), at("pwrite", a), cat("log");
    T(pwritev2, a, &v, 1, 0, 0, 0), T(pwritev2, plain, &v, 1, 0, 0, 0x10 /* RWF_APPEND */), at("RWF_APPEND", plain),
        T(pwritev2, plain, &v, 1, -1, -1, 0x10), at("with the offset", plain), cat("log");
    T(pwritev2, a, &v, 1, 0, 0, 0x20 /* RWF_NOAPPEND, since 6.9 */ & 0), cat("log");
    T(write, plain, "X", 1), at("plain", plain), T(ftruncate, a, 3), at("truncated", a), T(write, a, "after", 5), at("after", a),
        T(write, plain, "", 0), cat("log");

    /* Set and taken away; of all descriptors of the description. */
    long copy = S(dup, plain);
    S(lseek, plain, 0, SEEK_SET), T(fcntl, plain, F_SETFL, O_APPEND),
        printf("copy %#lo, first %#lo\n", S(fcntl, copy, F_GETFL), S(fcntl, a, F_GETFL)), T(write, copy, "+", 1), at("both", plain),
        T(fcntl, copy, F_SETFL, 0), T(pwrite64, plain, "-", 1, 0), cat("log");
    T(fcntl, plain, F_SETFL, O_APPEND | O_TRUNC | O_CREAT | O_WRONLY | O_CLOEXEC), printf("%#lo\n", S(fcntl, plain, F_GETFL)), cat("log");

    /* Copies within the kernel are refused or appended. */
    long from = S(open, "host/file", O_RDONLY), off = 0;
    T(sendfile, a, from, &off, 3), T(copy_file_range, from, 0, a, 0, 3, 0);
    int p[2];
    S(pipe2, p, 0), S(write, p[1], "pipe", 4), T(splice, p[0], 0, a, 0, 4, 0), T(splice, p[0], 0, a, &off, 4, 0), S(close, p[1]),
        show("rest", S(read, p[0], buf, 10));
    T(mmap, 0, 4096, PROT_WRITE, MAP_SHARED, b, 0), T(fallocate, a, 0, 0, 100), cat("log");

    /* A process that forks shares the offset. */
    shared = S(open, "shared", O_RDWR | O_CREAT, 0644);
    S(write, shared, "parent ", 7), reap(child(writes_there)), at("child wrote", shared), printf("%#lo\n", S(fcntl, shared, F_GETFL)),
        S(lseek, shared, 0, SEEK_SET), T(write, shared, "again", 5), cat("shared");
    return 0;
}
