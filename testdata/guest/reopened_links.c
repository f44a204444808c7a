// covers: open openat readlink pipe2 memfd_create eventfd2 epoll_create1 socketpair unlink fstat
#include "guest.h"
#include <sys/socket.h>

/* Links of /proc/self/fd: what they say of each kind of file, what opening them gives, and with which access. */
static void link_(const char *what, long fd)
{
    char path[40], text[300];
    snprintf(path, sizeof path, "/proc/self/fd/%ld", fd);
    long n = S(readlink, path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    char *at = strrchr(text, '/'), *number = strchr(text, '[');
    if (number && strncmp(text, "anon_inode", 10) && strcmp(number, "[") > 0)
        *number = 0;
    struct stat st, target;
    S(lstat, path, &st), memset(&target, 0, sizeof target);
    long r = S(stat, path, &target);
    printf("%s: '%s' link mode %o, stat %s type %o\n", what,
        at && text[0] == '/' && strncmp(text, "/dev", 4) && strncmp(text, "/memfd", 6) ? at + 1 : text, st.st_mode & 0777,
        r < 0 ? strerrorname_np((int)-r) : "ok", target.st_mode >> 12);
    const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_DIRECTORY, O_RDONLY | O_NOFOLLOW, O_PATH, O_RDONLY | O_CREAT | O_EXCL};
    printf("  opened:");
    for (int i = 0; i < 7; i++) {
        long again = S(open, path, flags[i] | O_NONBLOCK, 0600);
        printf(" %s", again < 0 ? strerrorname_np((int)-again) : "ok"), S(close, again);
    }
    printf("\n");
}

int main(void)
{
    int p[2], s[2];
    char buf[32], path[40];
    put("f", "of the file"), put("gone", "without a name"), S(chmod, "f", 0444);
    long f = S(open, "f", O_RDONLY), gone = S(open, "gone", O_RDWR), dir = S(open, "host", O_RDONLY), mem = S(memfd_create, "with a name", 0),
        tmp = S(open, ".", O_TMPFILE | O_RDWR, 0600);
    S(unlink, "gone"), S(pipe2, p, O_NONBLOCK), S(socketpair, AF_UNIX, SOCK_STREAM, 0, s), S(mknod, "fifo", S_IFIFO | 0600, 0);
    link_("file", f), link_("removed", gone), link_("directory", dir), link_("memfd", mem), link_("pipe, reading end", p[0]),
        link_("pipe, writing end", p[1]), link_("socket", s[0]), link_("eventfd", S(eventfd2, 0, 0)), link_("epoll", S(epoll_create1, 0)),
        link_("inotify", S(inotify_init1, 0)), link_("timerfd", S(timerfd_create, 1, 0)), link_("/dev/null", S(open, "/dev/null", O_RDONLY)),
        link_("fifo", S(open, "fifo", O_RDWR)), link_("path", S(open, "host/dangling", O_PATH | O_NOFOLLOW)),
        link_("/proc file", S(open, "/proc/self/status", O_RDONLY));
    if (tmp < 0)
        lacks("the file system of the directory for temporary files has no O_TMPFILE; set TMPDIR");
    snprintf(path, sizeof path, "/proc/self/fd/%ld", p[0] + 0l);
    /* The other end of a pipe, by the name of this one. */
    long w = show("writer by the reader's name", S(open, path, O_WRONLY));
    T(write, w, "through", 7), T(read, p[0], buf, 32), S(close, p[1]), T(read, p[0], buf, 32), S(close, w), T(read, p[0], buf, 32);
    snprintf(path, sizeof path, "/proc/self/fd/%ld", gone);
    long again = show("removed, for writing", S(open, path, O_RDWR | O_TRUNC));
    T(write, again, "new", 3), T(pread64, gone, buf, 32, 0);
    struct stat st;
    S(fstat, again, &st), num(st.st_nlink), num(st.st_size), snprintf(path, sizeof path, "/proc/self/fd/%ld", mem),
        again = show("memfd", S(open, path, O_RDWR)), T(write, again, "shared", 6), T(pread64, mem, buf, 32, 0),
        T(open, "/proc/self/fd/99", O_RDONLY), T(open, "/proc/self/fd/x", O_RDONLY), T(open, "/proc/self/fd/-1", O_RDONLY),
        T(open, "/proc/self/fd/03", O_RDONLY), snprintf(path, sizeof path, "/proc/self/fd/%ld/file", dir),
        show("beneath a directory", S(access, path, R_OK)), snprintf(path, sizeof path, "/proc/self/fd/%ld/..", dir),
        show("above it", S(access, path, F_OK)), snprintf(path, sizeof path, "/proc/self/fd/%ld/x", f),
        show("beneath a file", S(open, path, O_RDONLY)), T(unlink, "/proc/self/fd/0"), T(rename, "/proc/self/fd/0", "x"),
        T(symlink, "x", "/proc/self/fd/50"), T(mkdir, "/proc/self/fd/51", 0755), T(chmod, "/proc/self/fd", 0700),
        num(S(readlink, "/proc/self/fd/99", buf, 32)), T(readlink, "/dev/stdin", buf, 32);
    return 0;
}
