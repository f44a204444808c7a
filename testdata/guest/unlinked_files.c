// covers: unlink open ftruncate write lseek rename link fstat mkdir rmdir
#include "guest.h"

/* Files without a name that are still open, and names that go to other files meanwhile. */
static void file(const char *what, long fd)
{
    struct stat st;
    char buf[64];
    S(fstat, fd, &st);
    long n = S(pread64, fd, buf, 63, 0);
    buf[n > 0 ? n : 0] = 0, printf("%s: names %d size %ld '%s'\n", what, (int)st.st_nlink, (long)st.st_size, buf);
}

int main(void)
{
    char path[40], buf[64];
    struct stat a, b;
    put("f", "first");
    long one = S(open, "f", O_RDWR), two = S(open, "f", O_RDWR | O_APPEND), ro = S(open, "f", O_RDONLY), only = S(open, "f", O_PATH);
    T(unlink, "f"), file("unlinked", one), T(unlink, "f"), T(open, "f", O_RDONLY), put("f", "second file"), file("the first", one), S(fstat, one, &a),
        S(stat, "f", &b), is(a.st_ino != b.st_ino), T(write, two, " appended", 9), file("by another", ro), T(ftruncate, one, 3), file("cut", two),
        T(ftruncate, one, 10), T(lseek, one, 0, SEEK_END), T(write, one, "end", 3), T(fchmod, one, 0600), T(fstat, only, &a),
        printf("%o %d\n", a.st_mode & 0777, (int)a.st_nlink), snprintf(path, sizeof path, "/proc/self/fd/%ld", only);
    long again = show("by its O_PATH", S(open, path, O_RDONLY));
    file("opened again", again), S(close, one), S(close, two), file("two closed", again), S(close, again), S(close, only), file("one left", ro),
        S(close, ro), cat("f");
    /* Replaced by rename: the old one lives on. */
    long old = S(open, "f", O_RDWR);
    put("g", "third"), T(rename, "g", "f"), file("replaced", old), cat("f"), T(write, old, "OLD", 3), cat("f"), file("old", old);
    long new = S(open, "f", O_RDWR);
    put("h", "fourth"), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "h", 2), file("exchanged", new), cat("f"), cat("h"), T(unlink, "h"), file("its name gone", new);
    /* Of several names one after the other. */
    put("n1", "names"), S(link, "n1", "n2"), S(link, "n1", "n3");
    long fd = S(open, "n2", O_RDWR);
    file("three", fd), S(unlink, "n2"), file("two", fd), S(rename, "n3", "n1"), file("renamed to itself", fd), S(unlink, "n1"), file("one", fd),
        S(unlink, "n3"), file("none", fd), T(write, fd, "NAMES", 5), file("written", fd);
    /* A directory of such files goes. */
    S(mkdir, "d", 0755), put("d/x", "in d");
    long x = S(open, "d/x", O_RDWR), d = S(open, "d", O_RDONLY);
    T(rmdir, "d"), T(unlinkat, d, "x", 0), T(rmdir, "d"), file("outlives its directory", x), T(write, x, "more than before", 16), file("written", x),
        T(openat, d, "x", O_RDONLY), S(mkdir, "d", 0755), put("d/x", "another"), file("the old one", x), T(openat, d, "x", O_RDONLY), cat("d/x");
    /* Programs and working files: an executable that is removed, a file that is mapped. */
    put("script", "#!/bin/sh\nexit 0\n"), S(chmod, "script", 0755), fd = S(open, "script", O_RDONLY), S(unlink, "script"), T(read, fd, buf, 9),
        snprintf(path, sizeof path, "/proc/self/fd/%ld", fd);
    long n = S(readlink, path, buf, 63);
    buf[n > 0 ? n : 0] = 0, is(n > 10 && strcmp(buf + n - 10, " (deleted)") == 0);
    return 0;
}
