// covers: fcntl fork close open lseek
#include "child.h"

/* POSIX locks split, merge and replace each other by ranges; who sees which. */
static long fd;

static long lock(int cmd, int type, int whence, long start, long len)
{
    struct flock l = {.l_type = type, .l_whence = whence, .l_start = start, .l_len = len};
    return S(fcntl, fd, cmd, &l);
}
static void ranges(void)
{
    /* As another process finds them, one after the other. */
    long from = 0;
    for (;;) {
        struct flock l = {.l_type = F_WRLCK, .l_start = from, .l_whence = SEEK_SET};
        if (S(fcntl, fd, F_GETLK, &l) || l.l_type == F_UNLCK)
            break;
        printf(" %s[%ld+%ld]%s", l.l_type == F_RDLCK ? "r" : "w", l.l_start, l.l_len, l.l_pid == getppid() ? "" : "?");
        if (l.l_len == 0)
            break;
        from = l.l_start + l.l_len;
    }
    printf("\n");
}
static void found(const char *what)
{
    printf("%s:", what), reap(child(ranges));
}
#define L(type, start, len) (show(#type " " #start " " #len, lock(F_SETLK, type, SEEK_SET, start, len)), found(" "))

static void in_the_child(void)
{
    show("child locks", lock(F_SETLK, F_WRLCK, SEEK_SET, 0, 1)), show("child unlocks what is not its", lock(F_SETLK, F_UNLCK, SEEK_SET, 0, 0)),
        show("child reads with the parent", lock(F_SETLK, F_RDLCK, SEEK_SET, 5, 1)), S(close, S(dup, fd)),
        show("and closed", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1));
}

int main(void)
{
    fd = S(open, "f", O_RDWR | O_CREAT, 0644), S(ftruncate, fd, 1000);
    L(F_WRLCK, 0, 100), L(F_UNLCK, 40, 20), L(F_RDLCK, 10, 10), L(F_RDLCK, 20, 10), L(F_WRLCK, 15, 5), L(F_RDLCK, 0, 0), L(F_UNLCK, 0, 50),
        L(F_WRLCK, 200, 0), L(F_UNLCK, 300, 1), L(F_UNLCK, 0, 0);
    L(F_WRLCK, 10, -5), L(F_WRLCK, 10, -11), L(F_WRLCK, -1, 5), L(F_WRLCK, 4, 0x7fffffffffffffff), L(F_WRLCK, 0x7fffffffffffffff, 0),
        L(F_UNLCK, 0, 0x7fffffffffffffff), L(F_UNLCK, 0, 0);
    S(lseek, fd, 50, SEEK_SET), show("from the offset", lock(F_SETLK, F_WRLCK, SEEK_CUR, -10, 5)), found(" "),
        show("from the end", lock(F_SETLK, F_RDLCK, SEEK_END, -10, 0)), found(" "),
        show("before the start", lock(F_SETLK, F_RDLCK, SEEK_END, -1001, 0)), show("whence 3", lock(F_SETLK, F_RDLCK, 3, 0, 0)),
        show("type 9", lock(F_SETLK, 9, SEEK_SET, 0, 0));
    lock(F_SETLK, F_UNLCK, SEEK_SET, 0, 0), L(F_WRLCK, 5, 1), L(F_WRLCK, 7, 1), L(F_WRLCK, 6, 1);

    /* The process's own conflict with none; F_GETLK of its own says so. */
    struct flock l = {.l_type = F_WRLCK};
    T(fcntl, fd, F_GETLK, &l), num(l.l_type == F_UNLCK), l.l_type = F_UNLCK, T(fcntl, fd, F_GETLK, &l), T(fcntl, fd, F_GETLK, BAD),
        T(fcntl, fd, F_SETLK, BAD), T(fcntl, 99, F_SETLK, &l);
    lock(F_SETLK, F_UNLCK, SEEK_SET, 0, 0), lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 10), reap(child(in_the_child)), found("after the child");

    /* Any descriptor of the file that is closed drops them all. */
    long other = S(open, "f", O_RDONLY);
    found("second open"), S(close, other), found("second closed");
    long ro = S(open, "f", O_RDONLY), wo = S(open, "f", O_WRONLY), keep = fd;
    fd = ro, show("write lock on read-only", lock(F_SETLK, F_WRLCK, SEEK_SET, 0, 1)), show("read", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1)), fd = wo,
        show("read lock on write-only", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1)), show("write", lock(F_SETLK, F_WRLCK, SEEK_SET, 0, 1)), fd = keep,
        found("both");
    fd = S(open, "host", O_RDONLY), show("a directory", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1));
    int p[2];
    S(pipe2, p, 0), fd = p[0], show("a pipe", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1)), fd = S(open, "f", O_PATH),
        show("a path", lock(F_SETLK, F_RDLCK, SEEK_SET, 0, 1));
    return 0;
}
