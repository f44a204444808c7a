// covers: inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#ifndef IN_MASK_CREATE
#define IN_MASK_CREATE 0x10000000
#endif

static long in;
static uint32_t cookies[2];

/* All that has happened, in words. */
static void events(const char *after)
{
    static const char *names[] = {"access", "modify", "attrib", "close_write", "close", "open", "moved_from", "moved_to", "create", "delete", "delete_self", "move_self",
                                  "?", "unmount", "overflow", "ignored"};
    static char buf[65536] __attribute__((aligned(8)));
    printf("%s:", after);
    for (long n; (n = S(read, in, buf, sizeof buf)) > 0;)
        for (long at = 0; at < n;) {
            struct inotify_event *e = (void *)(buf + at);
            printf(" %d", e->wd);
            for (int bit = 0; bit < 16; bit++)
                if (e->mask & 1u << bit)
                    printf(".%s", names[bit]);
            printf("%s%s%s%s", e->mask & IN_ISDIR ? "/" : "", e->len ? "=" : "", e->len ? e->name : "", e->cookie ? "*" : "");
            if (e->len % 16)
                printf("!");
            if (e->cookie)
                cookies[0] = cookies[1], cookies[1] = e->cookie;
            at += sizeof *e + e->len;
        }
    printf("\n");
}

int main(void)
{
    char buf[4096];
    struct stat st;
    struct timespec both[] = {{1, 0}, {2, 0}}, first[] = {{1, 0}, {0, UTIME_OMIT}}, second_only[] = {{0, UTIME_OMIT}, {1, 0}};
    S(mkdir, "d", 0755), S(mkdir, "e", 0755), put("d/f", "text"), S(symlink, "f", "d/l"), S(mkdir, "d/sub", 0755);
    long plain = S(open, "d/f", O_RDONLY);
    T(inotify_init1, 1), T(inotify_init1, ~IN_CLOEXEC), OK(inotify_init);
    in = S(inotify_init1, IN_NONBLOCK | IN_CLOEXEC);
    is(S(fcntl, in, F_GETFD) == 1), is(S(fcntl, in, F_GETFL) == O_NONBLOCK);
    T(read, in, buf, 100), T(read, in, buf, 0), T(write, in, buf, 1), T(lseek, in, 0, SEEK_SET);
    T(inotify_add_watch, in, "d", 0), T(inotify_add_watch, in, "d", 0x1000), T(inotify_add_watch, in, "d", IN_ALL_EVENTS | IN_MASK_ADD | IN_MASK_CREATE), T(inotify_add_watch, 99, "d", IN_OPEN), T(inotify_add_watch, plain, "d", IN_OPEN);
    T(inotify_add_watch, in, "none", IN_OPEN), T(inotify_add_watch, in, BAD, IN_OPEN), T(inotify_add_watch, in, "", IN_OPEN), T(inotify_add_watch, in, "d/f", IN_OPEN | IN_ONLYDIR), T(inotify_add_watch, in, "d/l/x", IN_OPEN);
    T(inotify_rm_watch, in, 1), T(inotify_rm_watch, 99, 1), T(inotify_rm_watch, plain, 1), T(inotify_rm_watch, in, -1);

    /* A directory sees its files. */
    T(inotify_add_watch, in, "d", IN_ALL_EVENTS);
    long f = S(open, "d/new", O_CREAT | O_RDWR, 0644);
    events("create"), S(write, f, "abc", 3), S(write, f, "def", 3), events("write twice"), S(pread64, f, buf, 3, 0), events("read"), S(pread64, f, buf, 3, 100), events("end of file");
    S(ftruncate, f, 1), events("ftruncate"), S(fallocate, f, 0, 0, 10), events("fallocate"), S(fchmod, f, 0600), events("fchmod"), S(fchown, f, -1, -1), events("fchown of nothing"), S(fchown, f, getuid(), -1), events("fchown"), S(close, f), events("close");
    S(chmod, "d/new", 0644), events("chmod"), S(truncate, "d/new", 3), events("truncate"), S(utimensat, AT_FDCWD, "d/new", both, 0), events("utimens");
    S(utimensat, AT_FDCWD, "d/new", first, 0), events("atime"), S(utimensat, AT_FDCWD, "d/new", second_only, 0), events("mtime");
    S(link, "d/new", "d/hard"), events("link"), S(symlink, "x", "d/soft"), events("symlink"), S(mknod, "d/pipe", S_IFIFO | 0644, 0), events("mknod"), S(mkdir, "d/dir", 0755), events("mkdir");
    S(stat, "d/new", &st), S(access, "d/new", R_OK), S(readlink, "d/l", buf, 9), events("looks");
    f = S(open, "d/new", O_PATH), S(close, f), events("O_PATH"), f = S(open, "d/l", O_RDONLY), S(read, f, buf, 9), S(close, f), events("through a link");
    f = S(open, "d", O_RDONLY), S(getdents64, f, buf, sizeof buf), S(close, f), events("getdents"), f = S(open, "d/sub", O_RDONLY), S(getdents64, f, buf, sizeof buf), S(close, f), events("of a subdirectory");
    S(rename, "d/new", "d/old"), events("rename"), is(cookies[0] == cookies[1] && cookies[0]), S(rename, "d/old", "e/old"), events("out"), S(rename, "e/old", "d/in"), events("in"), is(cookies[0] != cookies[1]);
    S(rename, "d/in", "d/hard"), events("to its other name"), put("d/other", ""), events("put"), S(rename, "d/other", "d/in"), events("over"), S(renameat2, AT_FDCWD, "d/in", AT_FDCWD, "d/hard", 2), events("exchange");
    S(unlink, "d/in"), events("unlink"), S(unlink, "d/hard"), events("last name"), S(rmdir, "d/dir"), events("rmdir"), S(chmod, "d", 0700), events("the directory itself");
    S(setxattr, "d/f", "user.x", "y", 1, 0), events("setxattr"), S(removexattr, "d/f", "user.x"), events("removexattr");
    long o = S(open, "d/pipe", O_RDWR | O_NONBLOCK);
    S(close, o), events("named pipe");

    /* A file that was open before, and one whose name is gone. */
    S(read, plain, buf, 1), events("open before"), S(rename, "d/f", "d/g"), S(read, plain, buf, 1), events("renamed"), S(unlink, "d/g"), events("unlinked"), S(lseek, plain, 0, SEEK_SET), S(read, plain, buf, 1), events("read without name");
    T(inotify_add_watch, in, "d", IN_ALL_EVENTS | IN_EXCL_UNLINK), S(read, plain, buf, 1), events("left out"), S(close, plain), events("closed");

    /* Files themselves, beside their directory. */
    put("d/f", "1"), events("again");
    long w = T(inotify_add_watch, in, "d/f", IN_ALL_EVENTS);
    is(S(inotify_add_watch, in, "d/f", IN_OPEN) == w), cat("d/f"), events("fewer"), is(S(inotify_add_watch, in, "d/f", IN_CLOSE | IN_MASK_ADD) == w), cat("d/f"), events("more");
    T(inotify_add_watch, in, "d/f", IN_CLOSE | IN_MASK_CREATE), T(inotify_add_watch, in, "d/l", IN_CLOSE | IN_DONT_FOLLOW), T(inotify_rm_watch, in, 1), events("no longer"), T(inotify_rm_watch, in, 1);
    T(inotify_add_watch, in, "d/f", IN_ALL_EVENTS), S(rename, "d/f", "e/f"), events("move"), S(link, "e/f", "e/h"), events("link"), S(unlink, "e/h"), events("unlink");
    f = S(open, "e/f", O_RDONLY), S(unlink, "e/f"), events("while open"), S(close, f), events("gone"), T(inotify_rm_watch, in, w);
    T(inotify_add_watch, in, "e", IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR), S(rename, "e", "d/e"), events("move"), S(rmdir, "d/e"), events("rmdir");
    put("a", ""), put("b", ""), T(inotify_add_watch, in, "b", IN_ALL_EVENTS), S(rename, "a", "b"), events("replaced");
    T(inotify_add_watch, in, "b", IN_OPEN | IN_ONESHOT), cat("b"), events("once"), cat("b"), events("never again");

    /* A buffer that is too small, and what is ready. */
    T(inotify_add_watch, in, ".", IN_CREATE | IN_DELETE);
    struct pollfd p = {in, POLLIN | POLLOUT, 0};
    int n = -1;
    T(poll, &p, 1, 0), T(ioctl, in, FIONREAD, &n), num(n);
    put("0123456789abcde", ""), put("0123456789abcdef", "");
    T(poll, &p, 1, 0), num(p.revents), T(ioctl, in, FIONREAD, &n), num(n), T(read, in, buf, 31), T(read, in, buf, 79), T(read, in, buf, 79), T(read, in, buf, 48), T(read, in, buf, 48);
    long ep = S(epoll_create1, 0);
    struct epoll_event e = {EPOLLIN | EPOLLET, {.u64 = 1}}, got[2];
    T(epoll_ctl, ep, EPOLL_CTL_ADD, in, &e), T(epoll_wait, ep, got, 2, 0), S(unlink, "0123456789abcde"), T(epoll_wait, ep, got, 2, -1), T(epoll_wait, ep, got, 2, 0), S(unlink, "0123456789abcdef"), T(epoll_wait, ep, got, 2, 0), events("both");

    /* Two instances; the second goes. */
    long second = S(inotify_init1, IN_NONBLOCK);
    T(inotify_add_watch, second, ".", IN_CREATE), put("c", ""), events("first"), T(read, second, buf, 100), T(close, second), S(unlink, "c"), events("still");
    char host[] = "host";
    T(inotify_add_watch, in, host, IN_ALL_EVENTS), cat("host/file"), events("of the host"), S(unlink, "host/other"), events("unlink"), S(rename, "host/file", "host/moved"), events("rename"), S(rename, "host/moved", "host/file"), events("back");
    long wd = S(inotify_add_watch, in, "host/tool", IN_ALL_EVENTS);
    S(chmod, "host/tool", 0700), S(chmod, "host/tool", 0755), events("both hear of it"), T(inotify_rm_watch, in, wd), events("one");
    return 0;
}
