// covers: rename renameat2 rmdir mkdir getcwd fchdir
#include "guest.h"

/* Directories that are renamed: over others, into themselves, exchanged, and seen from inside. */
static void is_at(const char *what)
{
    char here[4096], *last;
    long n = S(getcwd, here, sizeof here);
    if (n < 0) {
        show(what, n);
        return;
    }
    last = strrchr(here, '/'), printf("%s: %s\n", what, last + 1);
}

static void links(const char *path)
{
    struct stat st;
    long r = S(stat, path, &st);
    if (r < 0)
        show(path, r);
    else
        printf("%s: type %o\n", path, st.st_mode >> 12);
}

int main(void)
{
    S(mkdir, "a", 0755), S(mkdir, "a/b", 0755), S(mkdir, "a/b/c", 0755), S(mkdir, "empty", 0755), S(mkdir, "full", 0755), put("full/f", "in full"),
        put("file", "file");
    T(rename, "a", "a/x"), T(rename, "a", "a/b/c"), T(rename, "a/b", "a"), T(rename, "a/b/c", "a/b"), T(rename, "a", "a/b/c/d");
    T(rename, "empty", "full"), T(rename, "full", "empty"), cat("empty/f"), T(rename, "file", "a"), T(rename, "a", "file"), T(rename, "empty", "empty/f");
    T(rename, "a/.", "x"), T(rename, "a/b/..", "x"), T(rename, "empty", "a/."), T(rename, "empty", "a/b/.."), T(rename, "/", "x"), T(rename, "a", "/");
    T(rename, "empty", "new/"), T(rename, "new/", "newer"), T(rename, "newer", "file/"), T(rename, "file", "new/"), T(rename, "file/", "new"),
        T(rename, "newer", "none/x");

    /* From inside: the working directory and descriptors follow. */
    T(chdir, "a/b"), is_at("before"), T(rename, "../../a", "../../moved"), is_at("its parent moved"), T(rename, "../b", "../../up"),
        is_at("itself moved"), links("../moved"), links("c");
    T(rename, ".", "../y"), T(rename, "..", "y"), T(rename, "../up", "c/in"), T(chdir, "..");
    long fd = S(open, "up", O_RDONLY | O_DIRECTORY);
    T(rename, "up", "down"), T(mkdirat, fd, "made", 0755), links("down/made"), T(openat, fd, "../file", O_RDONLY), T(rename, "down", "moved/down"),
        T(openat, fd, "../file", O_RDONLY), T(openat, fd, "../../file", O_RDONLY);

    /* One that is replaced while somebody is in it. */
    S(mkdir, "victim", 0755), S(mkdir, "taker", 0755), put("taker/t", ""), T(chdir, "victim");
    T(rename, "../taker", "../victim"), is_at("replaced"), links("."), links(".."), T(open, "x", O_CREAT | O_WRONLY, 0644), T(mkdir, "x", 0755),
        T(open, "t", O_RDONLY), T(chdir, ".."), links("victim/t");
    T(fchdir, fd), T(chdir, "../..");

    /* Exchanges. */
    S(mkdir, "one", 0755), S(mkdir, "two", 0755), S(mkdir, "two/three", 0755), put("one/1", "1"), put("two/2", "2");
    T(renameat2, AT_FDCWD, "one", AT_FDCWD, "two", 2), cat("one/2"), cat("two/1"), T(renameat2, AT_FDCWD, "one", AT_FDCWD, "one/three", 2),
        T(renameat2, AT_FDCWD, "one/three", AT_FDCWD, "one", 2);
    T(renameat2, AT_FDCWD, "one", AT_FDCWD, "file", 2), cat("one"), cat("file/2"), T(renameat2, AT_FDCWD, "one/", AT_FDCWD, "file", 2),
        T(renameat2, AT_FDCWD, "file/", AT_FDCWD, "one", 2), T(renameat2, AT_FDCWD, "file/", AT_FDCWD, "two/", 2);
    T(renameat2, AT_FDCWD, "file/three", AT_FDCWD, "one", 2), T(renameat2, AT_FDCWD, "one", AT_FDCWD, ".", 2),
        T(renameat2, AT_FDCWD, "one", AT_FDCWD, "none", 2);
    T(renameat2, AT_FDCWD, "two", AT_FDCWD, "moved", 1), T(renameat2, AT_FDCWD, "two", AT_FDCWD, "two/x", 1),
        T(renameat2, AT_FDCWD, "none", AT_FDCWD, "two", 1), T(renameat2, AT_FDCWD, "two", AT_FDCWD, "fresh", 1), links("fresh/2"), links("fresh/1");
    T(rmdir, "fresh"), T(rmdir, "fresh/."), T(rmdir, "fresh/.."), T(rmdir, "one"), T(rmdir, "/"), T(rmdir, "none"), T(rmdir, "fresh/1/x"), T(rmdir, "");
    return 0;
}
