// covers: open openat fstat fchdir dup fcntl linkat fchmodat2 fchownat readlinkat execveat flock
#include "guest.h"
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

/* Descriptors of O_PATH: what names a place may be done with them, what needs an open file may not. */
static void refused(long fd)
{
    char buf[64];
    struct pollfd p = {(int)fd, POLLIN, 0};
    int n = 0;
    T(read, fd, buf, 1), T(pread64, fd, buf, 1, 0), T(write, fd, "x", 1), T(lseek, fd, 0, SEEK_CUR);
    T(getdents64, fd, buf, sizeof buf), T(ftruncate, fd, 0), T(fallocate, fd, 0, 0, 1), T(fsync, fd);
    T(fchmod, fd, 0600), T(fchown, fd, -1, -1), T(flock, fd, LOCK_SH), T(ioctl, fd, FIONREAD, &n);
    T(fgetxattr, fd, "user.a", buf, sizeof buf), T(fsetxattr, fd, "user.a", "b", 1, 0), T(flistxattr, fd, buf, sizeof buf);
    T(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0), T(readahead, fd, 0, 1), T(fadvise64, fd, 0, 1, 0);
    T(poll, &p, 1, 0), num(p.revents);
    T(fcntl, fd, F_GETLK, buf), T(fcntl, fd, F_SETFL, O_APPEND), T(fcntl, fd, F_GETOWN, 0), T(fcntl, fd, F_GETLEASE, 0);
}

int main(void)
{
    struct stat st;
    struct statfs fs;
    char buf[64];

    long fd = T(open, "host/file", O_PATH | O_RDWR | O_APPEND | O_TRUNC | O_CREAT | O_EXCL | O_NONBLOCK);
    printf("flags %#lo, to close %ld\n", S(fcntl, fd, F_GETFL), S(fcntl, fd, F_GETFD));
    refused(fd);
    T(fstat, fd, &st), num(st.st_size);
    T(fstatfs, fd, &fs);
    long copy = T(dup, fd);
    T(fcntl, copy, F_SETFD, FD_CLOEXEC), num(S(fcntl, copy, F_GETFD)), num(S(fcntl, fd, F_GETFD));
    T(close, copy), T(fchdir, fd), T(openat, fd, "x", O_RDONLY);

    /* The file behind it, by its name in /proc: opened anew, changed, linked. */
    snprintf(buf, sizeof buf, "/proc/self/fd/%ld", fd);
    long again = show("open anew", S(open, buf, O_RDWR | O_APPEND));
    T(write, again, "more\n", 5), T(close, again);
    show("chmod", S(chmod, buf, 0640)), S(fstat, fd, &st), printf("mode %o size %ld\n", st.st_mode, st.st_size);
    show("link", S(linkat, AT_FDCWD, buf, AT_FDCWD, "second", AT_SYMLINK_FOLLOW)), S(fstat, fd, &st), num(st.st_nlink);
    T(unlink, "host/file"), show("open unlinked", again = S(open, buf, O_RDONLY)), T(read, again, buf, 11), T(close, again);
    T(fchownat, fd, "", -1, -1, AT_EMPTY_PATH), T(fchownat, fd, "", -1, -1, 0);

    /* A directory: where others begin. */
    long dir = T(open, "host", O_PATH | O_DIRECTORY);
    T(openat, dir, "tool", O_RDONLY), T(mkdirat, dir, "new", 0755), T(unlinkat, dir, "new", AT_REMOVEDIR), T(fchdir, dir);
    T(access, "tool", X_OK), T(chdir, ".."), T(getdents64, dir, buf, sizeof buf), T(fsync, dir);
    T(open, "host/tool", O_PATH | O_DIRECTORY), T(open, "none", O_PATH), T(open, "host/tool/x", O_PATH);

    /* A link itself. */
    long link = T(open, "host/dangling", O_PATH | O_NOFOLLOW);
    S(fstat, link, &st), is(S_ISLNK(st.st_mode)), T(readlinkat, link, "", buf, sizeof buf), T(openat, link, "x", O_RDONLY);
    T(open, "host/dangling", O_PATH), T(open, "host/dangling", O_NOFOLLOW);
    snprintf(buf, sizeof buf, "/proc/self/fd/%ld", link), show("open a link anew", S(open, buf, O_RDONLY));
    T(fstat, dir, &st), T(fchdir, link);

    /* One without permission: a name is no access. */
    S(chmod, "host/other", 0), fd = T(open, "host/other", O_PATH), T(fstat, fd, &st), T(close, fd);
    return 0;
}
