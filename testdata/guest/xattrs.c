// covers: setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr ioctl
#include "guest.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in order, without those that the host's security modules give. */
static void names(const char *path)
{
    char list[4096], *found[64];
    long n = S(listxattr, path, list, sizeof list);
    int count = 0;
    for (long at = 0; at < n; at += strlen(list + at) + 1)
        if (strncmp(list + at, "security.", 9) != 0)
            found[count++] = list + at;
    qsort(found, count, sizeof *found, by_name);
    printf("%s:", path);
    for (int i = 0; i < count; i++)
        printf(" %s", found[i]);
    printf("\n");
}

static void value(const char *path, const char *name)
{
    char buf[64];
    long n = S(getxattr, path, name, buf, sizeof buf);
    if (n < 0)
        show(name, n);
    else
        printf("%s of %s: %.*s\n", name, path, (int)n, buf);
}

int main(void)
{
    char buf[64], name[300];
    put("f", "x"), S(mkdir, "d", 0755), S(symlink, "f", "link"), S(mkdir, "sticky", 01777);
    int some = 0;
    long fd = S(open, "f", O_RDWR);
    if (S(setxattr, "f", "user.one", "x", 1, 0) == -EOPNOTSUPP || S(ioctl, fd, FS_IOC_GETFLAGS, &some) == -ENOTTY)
        lacks("the file system of the directory for temporary files has no user.* attributes or flags; set TMPDIR");
    S(removexattr, "f", "user.one");
    long o = S(open, "f", O_PATH), dir = S(open, "d", O_RDONLY);
    T(setxattr, "f", "user.one", "first", 5, 0), T(setxattr, "f", "user.two", "", 0, XATTR_CREATE);
    names("f"), value("f", "user.one"), value("f", "user.two"), value("link", "user.one");
    T(setxattr, "f", "user.one", "x", 1, XATTR_CREATE), T(setxattr, "f", "user.none", "x", 1, XATTR_REPLACE);
    T(setxattr, "f", "user.one", "changed", 7, XATTR_REPLACE), value("f", "user.one");
    T(getxattr, "f", "user.one", NULL, 0), T(getxattr, "f", "user.one", buf, 6), T(getxattr, "f", "user.one", BAD, 7);
    T(fsetxattr, fd, "user.three", "3", 1, 0), T(fgetxattr, fd, "user.three", buf, 64), names("f");
    T(listxattr, "f", buf, 3), is(S(listxattr, "f", NULL, 0) >= 27), T(listxattr, "f", BAD, 1000);
    T(fsetxattr, o, "user.x", "3", 1, 0), T(fgetxattr, o, "user.x", buf, 9), T(flistxattr, o, buf, 9), T(fremovexattr, o, "user.x");
    T(removexattr, "f", "user.one"), T(removexattr, "f", "user.one"), T(fremovexattr, fd, "user.two"), names("f");
    T(setxattr, "d", "user.d", "dir", 3, 0), value("d", "user.d"), names("d"), T(fgetxattr, dir, "user.d", buf, 64);
    T(lsetxattr, "link", "user.l", "v", 1, 0), T(lgetxattr, "link", "user.l", buf, 64), T(lremovexattr, "link", "user.l");
    T(setxattr, "link", "user.l", "v", 1, 0), names("f"), T(llistxattr, "host/dangling", buf, 0);
    T(setxattr, "f", "user.", "v", 1, 0), T(getxattr, "f", "user.", buf, 64), T(setxattr, "f", "user", "v", 1, 0);
    T(setxattr, "f", "other.x", "v", 1, 0), T(getxattr, "f", "other.x", buf, 64), T(removexattr, "f", "other.x");
    T(setxattr, "f", "user.x", "v", 1, 4), T(setxattr, "f", "user.x", "v", 65537, 0), T(setxattr, "f", "user.x", BAD, 1, 0);
    memset(name, 'n', 299), memcpy(name, "user.", 5), name[255] = 0;
    T(setxattr, "f", name, "v", 1, 0), T(getxattr, "f", name, buf, 64), T(removexattr, "f", name);
    name[255] = 'n', name[256] = 0;
    T(setxattr, "f", name, "v", 1, 0), T(setxattr, "f", BAD, "v", 1, 0), T(setxattr, "f", "", "v", 1, 0);
    T(setxattr, "/dev/null", "user.x", "v", 1, 0), T(getxattr, "/dev/null", "user.x", buf, 1);
    T(mknod, "fifo", S_IFIFO | 0600, 0), T(setxattr, "fifo", "user.x", "v", 1, 0), T(getxattr, "fifo", "user.x", buf, 1);

    /* They stay with the file, not with the name. */
    S(rename, "f", "g"), names("g"), S(link, "g", "h"), names("h"), value("h", "user.three");
    S(unlink, "g"), S(unlink, "h"), T(fgetxattr, fd, "user.three", buf, 64);
    put("f", "new"), names("f");
    /* A file that was there before. */
    T(setxattr, "host/file", "user.mine", "v", 1, 0), names("host/file"), cat("host/file");
    S(rename, "host/file", "host/moved"), value("host/moved", "user.mine"), T(removexattr, "host/moved", "user.mine");
    S(rename, "host/moved", "host/file"), names("host/file");

    /* Flags of files. */
    int flags = 0;
    long host = S(open, "f", O_RDONLY);
    show("get", S(ioctl, host, FS_IOC_GETFLAGS, &flags)), num(flags & FS_NODUMP_FL), num(flags & FS_NOATIME_FL);
    flags |= FS_NODUMP_FL;
    show("set", S(ioctl, host, FS_IOC_SETFLAGS, &flags)), flags = 0;
    show("get", S(ioctl, host, FS_IOC_GETFLAGS, &flags)), num(flags & FS_NODUMP_FL), num(flags & FS_IMMUTABLE_FL);
    flags &= ~FS_NODUMP_FL;
    show("set", S(ioctl, host, FS_IOC_SETFLAGS, &flags)), S(ioctl, host, FS_IOC_GETFLAGS, &flags), num(flags & FS_NODUMP_FL);
    show("directory", S(ioctl, dir, FS_IOC_GETFLAGS, &flags));
    int p[2];
    S(pipe2, p, 0);
    show("pipe", S(ioctl, p[0], FS_IOC_GETFLAGS, &flags)), show("bad", S(ioctl, host, FS_IOC_GETFLAGS, BAD));
    show("path", S(ioctl, o, FS_IOC_GETFLAGS, &flags)), show("bad", S(ioctl, host, FS_IOC_SETFLAGS, BAD));
    return 0;
}
