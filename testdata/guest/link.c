// covers: link linkat symlink symlinkat readlink readlinkat
#include "guest.h"

int main(void)
{
    char buf[64], name[300];
    struct stat a, b;

    T(link, "host/file", "hard");
    stat("host/file", &a), stat("hard", &b);
    is(a.st_ino == b.st_ino);
    num(a.st_nlink);
    long fd = S(open, "hard", O_WRONLY | O_APPEND);
    S(write, fd, "more", 4);
    cat("host/file");
    T(link, "host/file", "hard");
    T(link, "nothing", "x");
    T(link, "host", "x");
    T(link, "host/file", "nothing/x");
    T(link, "host/file", "host/file/x");
    T(link, "host/file/x", "x");
    T(link, "", "x");
    T(link, "host/file", "");
    T(link, "host/file", BAD);
    T(link, BAD, "x");
    T(link, "host/link", "hardlink");
    T(readlink, "hardlink", buf, sizeof buf);
    T(link, "host/dangling", "hard2");
    T(link, "/dev/null", "null");
    T(link, "/proc/self/status", "status");
    T(mkdir, "/proc/new", 0755), T(rename, "/proc/version", "/proc/new"), T(rename, "/proc/version", "version");
    T(unlink, "/proc/self/stat"), T(open, "/proc/new", O_CREAT | O_RDWR, 0644);
    T(rmdir, "/proc/self/fd"), T(symlink, "a", "/proc/self/new");
    T(link, "host/file", "x/");
    T(unlink, "host/file");
    stat("hard", &b);
    num(b.st_nlink);

    long dir = S(open, "host", O_RDONLY);
    fd = S(open, "hard", O_RDONLY);
    T(linkat, dir, "other", AT_FDCWD, "o2", 0);
    T(linkat, AT_FDCWD, "o2", dir, "o3", 0);
    T(linkat, AT_FDCWD, "hardlink", AT_FDCWD, "x", AT_SYMLINK_FOLLOW);
    S(symlink, "hard", "to-hard");
    T(linkat, AT_FDCWD, "to-hard", AT_FDCWD, "followed", AT_SYMLINK_FOLLOW);
    T(linkat, AT_FDCWD, "to-hard", AT_FDCWD, "unfollowed", 0);
    lstat("followed", &a), lstat("unfollowed", &b);
    is(S_ISREG(a.st_mode) && S_ISLNK(b.st_mode));
    T(linkat, 99, "x", AT_FDCWD, "y", 0);
    T(linkat, fd, "x", AT_FDCWD, "y", 0);
    T(linkat, AT_FDCWD, "hard", 99, "y", 0);
    T(linkat, AT_FDCWD, "hard", AT_FDCWD, "y", 1);
    T(linkat, AT_FDCWD, "", AT_FDCWD, "y", 0);

    T(symlink, "target", "sym");
    T(symlink, "target", "sym");
    T(symlink, "", "sym2");
    T(symlink, "target", "");
    T(symlink, "target", "nothing/x");
    T(symlink, "target", "host/other/x");
    T(symlink, "target", "host");
    T(symlink, "target", "x/");
    T(symlink, BAD, "x");
    T(symlink, "target", BAD);
    T(symlinkat, "../elsewhere", dir, "sym");
    T(symlinkat, "target", 99, "x");
    T(symlinkat, "target", fd, "x");
    memset(name, 't', sizeof name), name[299] = 0;
    show("symlink with a long target", S(symlink, name, "long"));
    show("symlink with a long name", S(symlink, "t", name));
    show("readlink of the long one", S(readlink, "long", name, sizeof name));
    static char huge[4200];
    memset(huge, '/', 4199);
    show("symlink with a target of 4199", S(symlink, huge, "huge"));
    huge[4095] = 0;
    show("symlink with a target of 4095", S(symlink, huge, "huge"));

    memset(buf, '#', sizeof buf);
    T(readlink, "host/link", buf, sizeof buf);
    printf("%.6s\n", buf);
    T(readlink, "host/link", buf, 2);
    T(readlink, "host/link", buf, 0);
    T(readlink, "host/link", buf, -1);
    T(readlink, "host/link", BAD, 10);
    T(readlink, BAD, buf, 10);
    T(readlink, "host/other", buf, 10);
    T(readlink, "host", buf, 10);
    T(readlink, "nothing", buf, 10);
    T(readlink, "host/link/", buf, 10);
    T(readlink, "", buf, 10);
    T(readlinkat, dir, "link", buf, 10);
    T(readlinkat, 99, "link", buf, 10);
    T(readlinkat, fd, "link", buf, 10);
    T(readlinkat, dir, "", buf, 10);
    T(readlinkat, S(open, "sym", O_PATH | O_NOFOLLOW), "", buf, 10);
    T(readlinkat, AT_FDCWD, "", buf, 10);

    /* Forty links are followed, not more. */
    for (int i = 0; i < 42; i++) {
        char from[16], to[16];
        sprintf(to, "c%d", i), sprintf(from, "c%d", i + 1);
        S(symlink, i == 0 ? "hard" : to, from);
    }
    T(access, "c39", F_OK);
    T(access, "c40", F_OK);
    T(access, "c41", F_OK);
    T(access, "c42", F_OK);
    /* Links in the middle of a path, and to the root. */
    S(symlink, "host", "h"), S(symlink, "/", "root"), S(symlink, "h/../h/.", "twice");
    cat("h/other");
    cat("twice/other");
    T(access, "root/dev/null", F_OK);
    T(access, "host/link/..", F_OK);
    return 0;
}
