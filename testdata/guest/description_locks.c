// covers: fcntl flock dup fork open close
#include "child.h"
#include <sys/file.h>

/* Locks of open file descriptions and of flock(2): who shares them, who drops them, and that the kinds are apart. */
static long a, b, copy;

static long ofd(long fd, int cmd, int type, long start, long len)
{
    struct flock l = {.l_type = type, .l_start = start, .l_len = len};
    return S(fcntl, fd, cmd, &l);
}
static void found(const char *what, long fd, int cmd)
{
    struct flock l = {.l_type = F_WRLCK};
    long r = S(fcntl, fd, cmd, &l);
    if (r < 0)
        show(what, r);
    else if (l.l_type == F_UNLCK)
        printf("%s: nobody\n", what);
    else
        printf("%s: %s [%ld+%ld] of %s\n", what, l.l_type == F_RDLCK ? "read" : "write", l.l_start, l.l_len,
            l.l_pid == -1 ? "a description" : l.l_pid == getpid() ? "itself" : l.l_pid == getppid() ? "its parent" : "a process");
}
static void inherited(void)
{
    found("child, same description", a, F_OFD_GETLK), found("child, as a process", a, F_GETLK),
        show("child locks through it", ofd(a, F_OFD_SETLK, F_WRLCK, 50, 5)), show("child as a process", ofd(a, F_SETLK, F_WRLCK, 0, 5)),
        S(close, copy), S(close, a);
}
static void another(void)
{
    show("flock of another open", S(flock, b, LOCK_SH | LOCK_NB)), show("of the inherited", S(flock, a, LOCK_EX | LOCK_NB)),
        show("unlock by the child", S(flock, copy, LOCK_UN));
}

int main(void)
{
    S(close, S(open, "f", O_RDWR | O_CREAT, 0644));
    a = S(open, "f", O_RDWR), b = S(open, "f", O_RDWR), copy = S(dup, a);
    show("a writes", ofd(a, F_OFD_SETLK, F_WRLCK, 0, 10)), show("b reads", ofd(b, F_OFD_SETLK, F_RDLCK, 5, 10)),
        show("b beside", ofd(b, F_OFD_SETLK, F_RDLCK, 10, 10)), show("copy is a", ofd(copy, F_OFD_SETLK, F_RDLCK, 0, 10)),
        show("now b reads", ofd(b, F_OFD_SETLK, F_RDLCK, 5, 10));
    found("a asks", a, F_OFD_GETLK), found("b asks", b, F_OFD_GETLK), found("the process asks", a, F_GETLK),
        show("the process locks", ofd(a, F_SETLK, F_WRLCK, 0, 5)), show("the process, beside", ofd(a, F_SETLK, F_WRLCK, 100, 5)),
        found("b asks beyond", b, F_OFD_GETLK);
    struct flock l = {.l_type = F_WRLCK, .l_pid = 1};
    show("with a pid", S(fcntl, a, F_OFD_SETLK, &l)), show("asked with one", S(fcntl, a, F_OFD_GETLK, &l)), S(close, S(dup, a)),
        found("a copy closed", b, F_OFD_GETLK);
    reap(child(inherited)), found("after the child", b, F_OFD_GETLK), S(close, a), found("a closed", b, F_OFD_GETLK), S(close, copy),
        found("both closed", b, F_OFD_GETLK);
    a = S(open, "f", O_RDONLY), show("write lock on read-only", ofd(a, F_OFD_SETLK, F_WRLCK, 0, 1)),
        show("upgrade", ofd(b, F_OFD_SETLK, F_WRLCK, 0, 0)), found("a asks", a, F_OFD_GETLK), S(close, b), S(close, a);

    /* flock(2): of a description too, apart from the ranges. */
    a = S(open, "f", O_RDONLY), b = S(open, "f", O_RDONLY), copy = S(dup, a);
    T(flock, a, LOCK_EX), T(flock, b, LOCK_SH | LOCK_NB), T(flock, b, LOCK_EX | LOCK_NB), T(flock, copy, LOCK_SH | LOCK_NB),
        T(flock, b, LOCK_SH | LOCK_NB), T(flock, a, LOCK_EX | LOCK_NB), T(flock, b, LOCK_UN), T(flock, b, LOCK_UN), T(flock, a, LOCK_EX | LOCK_NB);
    long c = S(open, "f", O_RDWR);
    show("a range beside", ofd(c, F_OFD_SETLK, F_WRLCK, 0, 0)), show("and of the process", ofd(c, F_SETLK, F_WRLCK, 0, 0)), S(close, c);
    T(flock, a, 0), T(flock, a, LOCK_NB), T(flock, a, LOCK_SH | LOCK_EX), T(flock, a, 3), T(flock, a, 16), T(flock, a, LOCK_UN | LOCK_NB),
        T(flock, 99, LOCK_SH), T(flock, a, LOCK_EX);
    reap(child(another)), T(flock, b, LOCK_EX | LOCK_NB), T(flock, b, LOCK_UN);
    /* An upgrade that fails has lost what it had. */
    T(flock, a, LOCK_SH), T(flock, b, LOCK_SH), T(flock, a, LOCK_EX | LOCK_NB), T(flock, b, LOCK_EX | LOCK_NB), T(flock, a, LOCK_SH | LOCK_NB);
    long d = S(open, "host", O_RDONLY), d2 = S(open, "host", O_RDONLY);
    T(flock, d, LOCK_EX), T(flock, d2, LOCK_EX | LOCK_NB), S(close, d), T(flock, d2, LOCK_EX | LOCK_NB);
    return 0;
}
