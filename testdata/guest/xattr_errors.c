// covers: setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr getdents getdents64 mknodat
/* Extended attributes, directories and special files: every call with what it refuses. */
#include "cases.h"
#include <sys/xattr.h>

static void attributes(void)
{
    put("f", "x");
    if (S(setxattr, "f", "user.b", "22", 2, 0) == -EOPNOTSUPP)
        lacks("the file system of the temporary directory has no user attributes");
    char b[70000];
    memset(b, 'v', sizeof b);
    static char nm[300];
    strcpy(nm, "user.");
    memset(nm + 5, 'n', 294);
    nm[299] = 0;
    put("f", "x");
    mkdir("d", 0755);
    symlink("f", "l");
    mkfifo("p", 0644);
    T(setxattr, "f", "user.a", "1", 1, 0), T(setxattr, "f", "user.a", "1", 1, XATTR_CREATE);
    T(setxattr, "f", "user.c", "1", 1, XATTR_REPLACE), T(setxattr, "f", "user.a", "123", 3, XATTR_REPLACE);
    T(setxattr, "f", "user.a", "1", 1, 4), T(setxattr, "f", "user.a", "1", 1, 3);
    T(setxattr, "f", "user.", "1", 1, 0), T(setxattr, "f", "user", "1", 1, 0), T(setxattr, "f", "", "1", 1, 0);
    T(setxattr, "f", "other.a", "1", 1, 0), T(setxattr, "f", "a", "1", 1, 0), T(setxattr, "f", nm, "1", 1, 0);
    nm[255] = 0;
    T(setxattr, "f", nm, "1", 1, 0), T(removexattr, "f", nm);
    nm[256] = 'n';
    nm[255] = 'n';
    nm[257] = 0;
    T(setxattr, "f", BAD, "1", 1, 0), T(setxattr, "f", "user.a", BAD, 1, 0), T(setxattr, BAD, "user.a", "1", 1, 0);
    T(setxattr, "none", "user.a", "1", 1, 0), T(setxattr, "f/x", "user.a", "1", 1, 0);
    T(setxattr, "f", "user.z", NULL, 0, 0), T(setxattr, "f", "user.z", NULL, 5, 0);
    T(setxattr, "f", "user.big", b, 65537, 0), T(lsetxattr, "l", "user.a", "1", 1, 0);
    T(setxattr, "p", "user.a", "1", 1, 0), T(setxattr, "d", "user.a", "1", 1, 0);
    T(lgetxattr, "l", "user.a", b, 10), T(getxattr, "l", "user.a", b, 10), T(getxattr, "p", "user.a", b, 10);
    T(llistxattr, "l", b, 100), T(lremovexattr, "l", "user.a"), T(removexattr, "p", "user.a");
    T(getxattr, "f", "user.a", NULL, 0), T(getxattr, "f", "user.a", b, 2), T(getxattr, "f", "user.a", b, 3);
    T(getxattr, "f", "user.none", b, 3), T(getxattr, "f", "user.a", BAD, 3), T(getxattr, "f", "user.", b, 3);
    T(getxattr, "f", "x.y", b, 3), T(getxattr, "f", "", b, 3), T(getxattr, "f", "user.a", b, 70000);
    T(getxattr, "f", "user.z", b, 5), T(listxattr, "f", NULL, 0), T(listxattr, "f", b, 3);
    T(listxattr, "f", BAD, 100), T(listxattr, "d", b, 100), T(listxattr, "p", b, 100);
    T(listxattr, "none", b, 100), T(removexattr, "f", "user.a"), T(removexattr, "f", "user.a");
    T(removexattr, "f", "user."), T(removexattr, "f", "x.y"), T(removexattr, "f", BAD), T(removexattr, "f", "");
    long fd = S(open, "f", O_RDONLY), pf = S(open, "f", O_PATH), wr = S(open, "f", O_WRONLY);
    T(fsetxattr, fd, "user.q", "1", 1, 0), T(fgetxattr, wr, "user.q", b, 9), T(flistxattr, wr, b, 100);
    T(fremovexattr, wr, "user.q"), T(fsetxattr, pf, "user.q", "1", 1, 0), T(fgetxattr, pf, "user.q", b, 9);
    T(flistxattr, pf, b, 9), T(fremovexattr, pf, "user.q"), T(fsetxattr, 99, "user.q", "1", 1, 0);
    T(fgetxattr, 99, "user.q", b, 1), T(flistxattr, 99, b, 1), T(fremovexattr, 99, "user.q");
    int e[2];
    S(pipe, e), T(flistxattr, e[0], b, 1), T(setxattr, "f", "trusted.a", "1", 1, 0);
    T(getxattr, "f", "trusted.a", b, 9), T(lsetxattr, "l", "trusted.a", "1", 1, 0);
    T(lgetxattr, "l", "trusted.a", b, 9), T(removexattr, "f", "trusted.a");
    T(setxattr, "f", "security.foo", "1", 1, 0), T(getxattr, "f", "security.foo", b, 9);
    T(removexattr, "f", "security.foo"), T(setxattr, "f", "system.foo", "1", 1, 0);
    chmod("f", 0444);
    S(setresuid, 1000, 1000, 1000), T(setxattr, "f", "user.a", "1", 1, 0), T(getxattr, "f", "user.b", b, 9);
    T(removexattr, "f", "user.b"), T(setxattr, "f", "trusted.a", "1", 1, 0), T(getxattr, "f", "trusted.a", b, 9);
    T(removexattr, "f", "trusted.a"), T(setxattr, "f", "security.foo", "1", 1, 0);
    T(getxattr, "f", "security.foo", b, 9), T(setxattr, "/proc/self/status", "user.a", "1", 1, 0);
}
static void where_there_are_none(void)
{
    char b[100];
    int p[2];
    S(pipe, p), T(fsetxattr, p[0], "user.a", "b", 1, 0), T(fgetxattr, p[0], "user.a", b, 9);
    T(fremovexattr, p[0], "user.a"), T(flistxattr, p[0], b, 99), T(fsetxattr, p[0], "none.a", "b", 1, 0);
    T(setxattr, "/proc/self/status", "user.a", "b", 1, 0), T(getxattr, "/proc/self/status", "user.a", b, 9);
    T(removexattr, "/proc/self/status", "user.a"), T(listxattr, "/proc/self/status", b, 99);
    /* Values are looked at before anything else. */
    put("f", "x");
    T(setxattr, "f", "security.capability", "b", 1, 0), T(setxattr, "f", "security.capability", "", 0, 0);
    T(setxattr, "f", "security.capability", "\0\0\0\2345678901234567890", 24, 0);
    T(setxattr, "f", "system.posix_acl_access", "b", 1, 0);
    T(setxattr, "f", "system.posix_acl_access", "\2\0\0\0123", 7, 0);
}
static void directories(void)
{
    char b[4096];
    mkdir("g", 0755);
    long d = S(open, "g", O_RDONLY | O_DIRECTORY), f = S(open, "/proc/self/status", O_RDONLY), pth = S(open, "g",
        O_PATH);
    T(getdents64, f, b, 4096), T(getdents64, 99, b, 4096), T(getdents64, d, b, 10), T(getdents64, d, BAD, 4096);
    T(getdents64, pth, b, 4096), T(getdents64, d, b, 4096), T(getdents64, d, b, 4096), T(lseek, d, 0, 0);
    T(getdents64, d, b, 24), T(getdents64, d, b, 24), T(getdents64, d, b, 24), T(getdents, d, b, 10);
    T(lseek, d, 0, 0), T(getdents, d, b, 4096), T(getdents, d, BAD, 9), T(lseek, d, 0, 0);
    rmdir("g");
    T(getdents64, d, b, 4096), T(lseek, d, 0, 1), T(lseek, d, -1, 0), T(read, d, b, 9), T(write, d, b, 9);
}
static void special_files(void)
{
    T(mknodat, AT_FDCWD, "m1", 0, 0), T(mknodat, AT_FDCWD, "m1", S_IFREG | 0644, 0);
    T(mknodat, AT_FDCWD, "m2", S_IFREG | 07777, 0), T(mknodat, AT_FDCWD, "m3", S_IFIFO | 0666, 0);
    T(mknodat, AT_FDCWD, "m4", S_IFSOCK | 0666, 0), T(mknodat, AT_FDCWD, "m5", S_IFDIR | 0666, 0);
    T(mknodat, AT_FDCWD, "m6", S_IFLNK | 0666, 0), T(mknodat, AT_FDCWD, "m7", 0170000, 0);
    T(mknodat, AT_FDCWD, "m8", 0030000, 0), T(mknodat, AT_FDCWD, "", S_IFREG, 0);
    T(mknodat, AT_FDCWD, BAD, S_IFREG, 0), T(mknodat, 99, "x", S_IFREG, 0);
    T(mknodat, AT_FDCWD, "no/x", S_IFREG, 0), T(mknodat, AT_FDCWD, "m1/x", S_IFREG, 0);
    T(mknodat, AT_FDCWD, "m9/", S_IFREG, 0), T(mknodat, AT_FDCWD, "host/link", S_IFREG, 0);
    T(mknodat, AT_FDCWD, "host/dangling", S_IFREG, 0), T(mknodat, AT_FDCWD, ".", S_IFREG, 0);
    T(mknodat, AT_FDCWD, "/", S_IFREG, 0);
    struct stat s;
    stat("m2", &s);
    printf("%o\n", s.st_mode);
    stat("m3", &s);
    printf("%o\n", s.st_mode);
    stat("m4", &s);
    printf("%o\n", s.st_mode);
    long d = S(open, "host", O_RDONLY);
    T(mknodat, d, "mm", S_IFREG | 0600, 0), T(mknodat, d, "file", S_IFREG | 0600, 0), T(open, "m4", O_RDONLY);
    T(open, "m4", O_PATH), T(chmod, "m4", 0600);
    unlink("m1");
    unlink("m2");
    unlink("m3");
    unlink("m4");
    unlink("host/mm");
    S(setresuid, 1000, 1000, 1000), T(mknodat, AT_FDCWD, "c", S_IFCHR | 0600, 0x103);
    T(mknodat, AT_FDCWD, "c", S_IFBLK | 0600, 0x103), T(mknodat, AT_FDCWD, "c", S_IFCHR, 0);
    T(mknodat, AT_FDCWD, "c", S_IFREG, 0);
}

int main(void)
{
    unfiltered();
    CASE(attributes);
    CASE(where_there_are_none);
    CASE(directories);
    CASE(special_files);
    return 0;
}
