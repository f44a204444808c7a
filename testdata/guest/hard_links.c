// covers: link linkat unlink stat rename open
#include "guest.h"

/* Names of a file: their number, what they share, and what may not get another. */
static void names(const char *path)
{
    struct stat st;
    long r = S(lstat, path, &st);
    if (r < 0)
        show(path, r);
    else
        printf("%s: type %o names %d size %ld\n", path, st.st_mode >> 12, (int)st.st_nlink, S_ISREG(st.st_mode) ? st.st_size : 0);
}

int main(void)
{
    char buf[64];
    put("a", "first"), S(mkdir, "d", 0755);
    T(link, "a", "b"), T(link, "a", "d/c"), T(link, "b", "b"), T(link, "a", "d"), T(link, "a", "d/"), T(link, "a", "new/"), T(link, "a/", "new"),
        T(link, "d", "e"), T(link, "d/.", "e"), T(link, ".", "e"), T(link, "none", "e"), T(link, "a", "none/e"), T(link, "a", "a/e"),
        T(link, "", "e"), T(link, "a", "");
    names("a"), names("b"), names("d/c"), S(chmod, "b", 0600), S(truncate, "d/c", 3), cat("a");
    S(unlink, "a"), names("b"), S(rename, "b", "d/c"), names("b"), names("d/c");

    /* Other kinds of files. */
    S(mknod, "p", S_IFIFO | 0644, 0), T(link, "p", "p2"), names("p"), S(symlink, "d/c", "l"), T(link, "l", "l2"), names("l2"),
        T(linkat, AT_FDCWD, "l", AT_FDCWD, "l3", AT_SYMLINK_FOLLOW), names("l3"), names("d/c"), T(link, "host/dangling", "l4"),
        T(linkat, AT_FDCWD, "host/dangling", AT_FDCWD, "l5", AT_SYMLINK_FOLLOW);
    T(link, "/dev/null", "null"), T(link, "/proc/self/status", "status"), T(link, "d/c", "/proc/x"), T(link, "d/c", "/dev/null/x");

    /* A pipe has two names, one stream. */
    long r = S(open, "p", O_RDONLY | O_NONBLOCK), w = S(open, "p2", O_WRONLY | O_NONBLOCK);
    T(write, w, "x", 1), T(read, r, buf, 5), S(close, r), S(close, w);

    /* By descriptor: flags, and files without a name. */
    long fd = S(open, "d/c", O_RDONLY), dir = S(open, "d", O_RDONLY);
    T(linkat, fd, "", AT_FDCWD, "e1", 0), T(linkat, AT_FDCWD, "", AT_FDCWD, "e1", AT_EMPTY_PATH), T(linkat, dir, "", AT_FDCWD, "e1", AT_EMPTY_PATH),
        T(linkat, fd, "x", AT_FDCWD, "e1", 0), T(linkat, 99, "x", AT_FDCWD, "e1", 0), T(linkat, 99, "", AT_FDCWD, "e1", AT_EMPTY_PATH),
        T(linkat, AT_FDCWD, "d/c", 99, "e1", 0), T(linkat, AT_FDCWD, "d/c", fd, "e1", 0), T(linkat, AT_FDCWD, "d/c", AT_FDCWD, "e1", 0x100),
        T(linkat, dir, "c", dir, "e2", 0), names("d/e2"), T(linkat, AT_FDCWD, "d/c", AT_FDCWD, "e3", 1);
    snprintf(buf, sizeof buf, "/proc/self/fd/%ld", fd), show("by /proc", S(linkat, AT_FDCWD, buf, AT_FDCWD, "e4", AT_SYMLINK_FOLLOW)),
        show("the link there", S(linkat, AT_FDCWD, buf, AT_FDCWD, "e5", 0)), names("e4");
    S(unlink, "d/c"), S(unlink, "d/e2"), S(unlink, "e4"), S(unlink, "l3"), S(unlink, "b"), names("d/c");
    struct stat st;
    S(fstat, fd, &st), num(st.st_nlink), show("none left", S(linkat, AT_FDCWD, buf, AT_FDCWD, "e6", AT_SYMLINK_FOLLOW)), T(read, fd, buf, 8);
    long mem = S(memfd_create, "m", 0);
    snprintf(buf, sizeof buf, "/proc/self/fd/%ld", mem), show("memfd", S(linkat, AT_FDCWD, buf, AT_FDCWD, "e7", AT_SYMLINK_FOLLOW));

    /* Many, and a directory's own. */
    char name[16];
    put("many", "");
    for (int i = 0; i < 200; i++)
        snprintf(name, sizeof name, "m%d", i), S(link, "many", name);
    names("many");
    for (int i = 0; i < 199; i++)
        snprintf(name, sizeof name, "m%d", i), S(unlink, name);
    names("m199");
    return 0;
}
