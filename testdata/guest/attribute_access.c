// covers: setxattr getxattr listxattr removexattr fsetxattr rename link chmod lsetxattr
#include "guest.h"
#include <sys/xattr.h>

/* Extended attributes over the life of a file: by name and descriptor, over renames and links, replaced and listed. */
static void list(const char *what, const char *path)
{
    char names[500];
    long n = S(listxattr, path, names, sizeof names);
    if (n < 0) {
        show(what, n);
        return;
    }
    int user = 0, bytes = 0;
    for (long at = 0; at < n; at += (long)strlen(names + at) + 1)
        if (strncmp(names + at, "user.", 5) == 0)
            user++, bytes += (int)strlen(names + at) + 1;
    printf("%s: %d names, %d bytes\n", what, user, bytes);
}
static void get(const char *path, const char *name)
{
    char buf[64];
    long n = S(getxattr, path, name, buf, sizeof buf);
    if (n < 0)
        show(name, n);
    else
        printf("%s of %s: %ld '%.*s'\n", name, path, n, (int)n, buf);
}

int main(void)
{
    char buf[64];
    put("f", "text");
    if (S(setxattr, "f", "user.a", "1", 1, 0) < 0)
        lacks("the file system of the directory for temporary files has no user.* attributes or flags; set TMPDIR");
    T(setxattr, "f", "user.b", "two", 3, XATTR_CREATE), T(setxattr, "f", "user.b", "x", 1, XATTR_CREATE),
        T(setxattr, "f", "user.b", "longer value", 12, XATTR_REPLACE), T(setxattr, "f", "user.c", "x", 1, XATTR_REPLACE),
        T(setxattr, "f", "user.c", "", 0, 0), T(setxattr, "f", "user.d", 0, 0, 0), T(setxattr, "f", "user.x", "x", 1, 3),
        T(setxattr, "f", "user.x", "x", 1, 4), list("four", "f"), get("f", "user.a"), get("f", "user.b"), get("f", "user.c"), get("f", "user.none");
    T(getxattr, "f", "user.b", buf, 0), T(getxattr, "f", "user.b", buf, 5), T(getxattr, "f", "user.b", BAD, 64), T(getxattr, "f", "user.b", BAD, 0),
        T(listxattr, "f", buf, 3), T(setxattr, "f", "user.", "x", 1, 0), T(setxattr, "f", "user", "x", 1, 0), T(setxattr, "f", "", "x", 1, 0),
        T(setxattr, "f", "none.x", "x", 1, 0), T(getxattr, "f", "none.x", buf, 64), T(setxattr, "f", BAD, "x", 1, 0),
        T(setxattr, "f", "user.x", BAD, 1, 0), T(setxattr, "f", "user.x", buf, 65537, 0), T(setxattr, "none", "user.x", "x", 1, 0),
        T(setxattr, BAD, "user.x", "x", 1, 0);
    char name[300] = "user.";
    memset(name + 5, 'n', 250), name[255] = 0, show("a name of 255", S(setxattr, "f", name, "x", 1, 0)),
        show("taken away", S(removexattr, "f", name)), name[255] = 'n', name[256] = 0, show("of 256", S(setxattr, "f", name, "x", 1, 0)),
        show("read of 256", S(getxattr, "f", name, buf, 64));

    /* By other names of the file, and after it has none. */
    long fd = S(open, "f", O_RDONLY), wo = S(open, "f", O_WRONLY);
    T(fsetxattr, fd, "user.e", "by descriptor", 13, 0), T(fgetxattr, wo, "user.e", buf, 64), S(link, "f", "g"), get("g", "user.a"),
        T(setxattr, "g", "user.a", "by g", 4, 0), S(rename, "f", "h"), get("h", "user.a"), put("new", ""), list("another", "new"),
        S(rename, "new", "h"), list("replaced", "h"), S(unlink, "g"), T(fgetxattr, fd, "user.a", buf, 64),
        T(fsetxattr, fd, "user.f", "nameless", 8, 0), T(fgetxattr, fd, "user.f", buf, 64), T(fremovexattr, fd, "user.f"),
        T(fremovexattr, fd, "user.f"), T(fgetxattr, 99, "user.a", buf, 64);
    /* Kinds of files; permissions. */
    S(mkdir, "d", 0755), S(symlink, "d", "l"), S(mknod, "p", S_IFIFO | 0644, 0), T(setxattr, "d", "user.dir", "x", 1, 0),
        T(setxattr, "l", "user.link", "y", 1, 0), list("through the link", "d"), T(lsetxattr, "l", "user.l", "x", 1, 0),
        T(lgetxattr, "l", "user.dir", buf, 64), T(setxattr, "p", "user.p", "x", 1, 0), T(getxattr, "p", "user.p", buf, 64), put("d/in", ""),
        list("not inherited", "d/in"), T(removexattr, "d", "user.dir"), T(removexattr, "d", "user.dir"), T(removexattr, "l", "user.link"),
        list("none left", "d"), T(listxattr, "none", buf, 64), T(listxattr, "f/x", buf, 64), T(setxattr, "/dev/null", "user.x", "x", 1, 0),
        T(setxattr, "/proc/self/status", "user.x", "x", 1, 0);
    return 0;
}
