// covers: flock fcntl close dup open truncate
#include "guest.h"
#include <poll.h>
#include <sys/file.h>

#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#endif

static struct flock lock;

static long range(long fd, int command, int type, int whence, long start, long len, int pid)
{
    lock = (struct flock){type, whence, start, len, pid};
    return S(fcntl, fd, command, &lock);
}
#define R(fd, command, type, whence, start, len) \
    show(#command " " #type " " #whence " " #start "+" #len, range(fd, command, type, whence, start, len, 0))
static void test(long fd, int command, int type, long start, long len)
{
    long result = range(fd, command, type, SEEK_SET, start, len, 0);
    show("test", result);
    int pid = lock.l_pid == getpid() ? 1 : lock.l_pid;
    printf("  type %d whence %d %ld+%ld pid %d\n", lock.l_type, lock.l_whence, (long)lock.l_start, (long)lock.l_len, pid);
}

static volatile int signals[65], code, band, from;
static void note(int signo, siginfo_t *info, void *context)
{
    (void)context;
    signals[signo]++, code = info->si_code;
    if (code > 0 && code < 10)
        band = (int)info->si_band, from = info->si_fd;
}
static void told(const char *what)
{
    printf("%s: io %d usr1 %d rt %d, code %d", what, signals[SIGIO], signals[SIGUSR1], signals[SIGRTMIN], code);
    if (code > 0 && code < 10)
        printf(" band %x fd %d", band, from);
    printf("\n");
    signals[SIGIO] = signals[SIGUSR1] = signals[SIGRTMIN] = code = 0;
}

int main(void)
{
    put("f", "0123456789"), put("g", "other");
    long a = S(open, "f", O_RDWR), b = S(open, "f", O_RDWR), c = S(open, "f", O_RDONLY), g = S(open, "g", O_RDWR);
    long d = S(dup, a), w = S(open, "f", O_WRONLY), o = S(open, "f", O_PATH);

    /* flock: between descriptions, not descriptors. */
    T(flock, a, LOCK_SH | LOCK_NB), T(flock, b, LOCK_SH | LOCK_NB), T(flock, a, LOCK_EX | LOCK_NB);
    T(flock, b, LOCK_EX | LOCK_NB), T(flock, d, LOCK_SH | LOCK_NB), T(flock, b, LOCK_UN), T(flock, d, LOCK_EX | LOCK_NB);
    T(flock, a, LOCK_EX | LOCK_NB), T(flock, b, LOCK_SH | LOCK_NB), T(flock, c, LOCK_SH | LOCK_NB);
    T(flock, g, LOCK_EX | LOCK_NB), T(flock, b, LOCK_UN), T(flock, b, LOCK_UN | LOCK_NB);
    S(close, a);
    T(flock, b, LOCK_SH | LOCK_NB);
    S(close, d);
    T(flock, b, LOCK_SH | LOCK_NB), T(flock, c, LOCK_EX | LOCK_NB), T(flock, c, LOCK_SH), T(flock, b, LOCK_SH);
    T(flock, b, LOCK_UN), T(flock, c, LOCK_UN);
    T(flock, b, 0), T(flock, b, LOCK_NB), T(flock, b, 16), T(flock, 99, LOCK_SH), T(flock, o, LOCK_SH);
    int p[2];
    S(pipe2, p, O_NONBLOCK);
    long dir = S(open, ".", O_RDONLY), dir2 = S(open, ".", O_RDONLY);
    T(flock, p[0], LOCK_EX | LOCK_NB), T(flock, p[1], LOCK_EX | LOCK_NB);
    T(flock, dir, LOCK_EX | LOCK_NB), T(flock, dir2, LOCK_SH | LOCK_NB);

    /* Records of the process: they never conflict with themselves. */
    a = S(open, "f", O_RDWR);
    R(a, F_SETLK, F_WRLCK, SEEK_SET, 0, 10), R(b, F_SETLK, F_WRLCK, SEEK_SET, 5, 10), R(c, F_SETLK, F_RDLCK, SEEK_SET, 0, 0);
    test(b, F_GETLK, F_WRLCK, 0, 0), test(b, F_GETLK, F_RDLCK, 3, 4);
    R(a, F_SETLK, F_UNLCK, SEEK_SET, 0, 0);
    /* Against those of a description. */
    R(a, F_SETLK, F_WRLCK, SEEK_SET, 10, 10), R(a, F_SETLK, F_RDLCK, SEEK_SET, 30, 5);
    test(b, F_OFD_GETLK, F_WRLCK, 0, 0), test(b, F_OFD_GETLK, F_RDLCK, 0, 0), test(b, F_OFD_GETLK, F_RDLCK, 0, 10);
    test(b, F_OFD_GETLK, F_WRLCK, 20, 100), test(b, F_OFD_GETLK, F_RDLCK, 20, 100);
    R(a, F_SETLK, F_UNLCK, SEEK_SET, 12, 3);
    test(b, F_OFD_GETLK, F_WRLCK, 11, 0), test(b, F_OFD_GETLK, F_WRLCK, 12, 3), test(b, F_OFD_GETLK, F_WRLCK, 13, 0);
    R(b, F_OFD_SETLK, F_WRLCK, SEEK_SET, 0, 11), R(b, F_OFD_SETLK, F_WRLCK, SEEK_SET, 0, 10), R(b, F_OFD_SETLK, F_RDLCK, SEEK_SET, 30, 1);
    R(b, F_OFD_SETLK, F_WRLCK, SEEK_SET, 30, 1);
    test(a, F_GETLK, F_WRLCK, 0, 0), test(a, F_GETLK, F_RDLCK, 0, 0), test(a, F_GETLK, F_RDLCK, 10, 0), test(c, F_OFD_GETLK, F_WRLCK, 0, 0);
    R(a, F_SETLK, F_RDLCK, SEEK_SET, 9, 2), R(a, F_SETLK, F_WRLCK, SEEK_SET, 25, 10), R(a, F_SETLKW, F_RDLCK, SEEK_SET, 25, 10);
    /* What touches is joined. */
    R(b, F_OFD_SETLK, F_UNLCK, SEEK_SET, 0, 0);
    R(a, F_SETLK, F_UNLCK, SEEK_SET, 0, 0);
    R(a, F_SETLK, F_WRLCK, SEEK_SET, 0, 5), R(a, F_SETLK, F_WRLCK, SEEK_SET, 5, 5), R(a, F_SETLK, F_WRLCK, SEEK_SET, 20, 5);
    R(a, F_SETLK, F_RDLCK, SEEK_SET, 10, 2), R(a, F_SETLK, F_RDLCK, SEEK_SET, 3, 1);
    for (int at = 0; at < 26; at += 3)
        test(b, F_OFD_GETLK, F_WRLCK, at, 1);
    test(b, F_OFD_GETLK, F_RDLCK, 3, 0), test(b, F_OFD_GETLK, F_RDLCK, 9, 0);
    /* Closing any descriptor of the file gives up those of the process. */
    S(close, S(open, "f", O_PATH));
    test(b, F_OFD_GETLK, F_WRLCK, 0, 0);
    S(close, S(dup, c));
    test(b, F_OFD_GETLK, F_WRLCK, 0, 0);
    R(b, F_OFD_SETLK, F_RDLCK, SEEK_SET, 0, 3);
    S(close, S(dup, b));
    test(a, F_GETLK, F_WRLCK, 0, 0);
    S(close, b);
    test(a, F_GETLK, F_WRLCK, 0, 0);
    b = S(open, "f", O_RDWR);
    /* Where a range begins. */
    S(lseek, a, 4, SEEK_SET);
    R(a, F_SETLK, F_WRLCK, SEEK_CUR, 2, 3), test(b, F_OFD_GETLK, F_WRLCK, 0, 0);
    R(a, F_SETLK, F_UNLCK, SEEK_SET, 0, 0), R(a, F_SETLK, F_WRLCK, SEEK_END, -3, 2), test(b, F_OFD_GETLK, F_WRLCK, 0, 0);
    R(a, F_SETLK, F_UNLCK, SEEK_SET, 0, 0), R(a, F_SETLK, F_WRLCK, SEEK_SET, 8, -3), test(b, F_OFD_GETLK, F_WRLCK, 0, 0);
    R(a, F_SETLK, F_WRLCK, SEEK_SET, 2, -3), R(a, F_SETLK, F_WRLCK, SEEK_SET, -1, 3), R(a, F_SETLK, F_WRLCK, 3, 0, 1);
    R(a, F_SETLK, F_WRLCK, SEEK_SET, INT64_MAX, 1), R(a, F_SETLK, F_WRLCK, SEEK_SET, INT64_MAX, 2), R(a, F_SETLK, F_WRLCK, SEEK_END, INT64_MAX, 0);
    R(a, F_SETLK, F_WRLCK, SEEK_SET, 100, INT64_MAX), test(b, F_OFD_GETLK, F_WRLCK, 1000, 0);
    R(a, F_SETLK, 3, SEEK_SET, 0, 1), R(a, F_GETLK, 3, SEEK_SET, 0, 1), R(a, F_GETLK, F_UNLCK, SEEK_SET, 0, 1), R(a, F_GETLK, F_WRLCK, 9, 0, 1);
    R(c, F_SETLK, F_WRLCK, SEEK_SET, 0, 1), R(w, F_SETLK, F_RDLCK, SEEK_SET, 0, 1), R(w, F_SETLK, F_UNLCK, SEEK_SET, 0, 0), R(o, F_SETLK, F_RDLCK, SEEK_SET, 0, 1);
    show("pid", range(b, F_OFD_SETLK, F_RDLCK, SEEK_SET, 0, 1, 5)), show("pid", range(b, F_OFD_GETLK, F_RDLCK, SEEK_SET, 0, 1, 5));
    show("pid", range(b, F_SETLK, F_RDLCK, SEEK_SET, 0, 1, 5));
    T(fcntl, a, F_SETLK, BAD), T(fcntl, a, F_GETLK, BAD), T(fcntl, 99, F_SETLK, &lock);
    R(p[1], F_SETLK, F_WRLCK, SEEK_SET, 0, 0), R(p[0], F_SETLK, F_WRLCK, SEEK_SET, 0, 0);

    /* The upper half of a command and of a small argument is not looked at. */
    long copy = S(fcntl, a, F_DUPFD_CLOEXEC | 0x7700000000, 20);
    num(copy), num(S(fcntl, copy, F_GETFD | 0x100000000));
    T(fcntl, a, F_DUPFD | 0x100000000, 0x100000000 + 30), T(fcntl, a, F_DUPFD, -1), T(fcntl, a, F_DUPFD_CLOEXEC, 1 << 30);
    T(fcntl, copy, F_SETFD, 0xfffffffe), T(fcntl, copy, F_GETFD), T(fcntl, copy, F_SETFD, 3), T(fcntl, copy, F_GETFD);
    T(fcntl, p[0], F_GETPIPE_SZ | 0x500000000), T(fcntl, p[0], F_SETPIPE_SZ | 0x500000000, 4096);
    T(fcntl, a, 99), T(fcntl, a, -1), T(fcntl, o, F_SETFL, 0), T(fcntl, o, F_GETFD), T(fcntl, o, F_GETSIG);

    /* Flags. */
    num(S(fcntl, a, F_GETFL));
    T(fcntl, a, F_SETFL, -1 & ~O_DIRECT), num(S(fcntl, a, F_GETFL)), T(fcntl, a, F_SETFL, 0), num(S(fcntl, a, F_GETFL));
    T(fcntl, dir, F_SETFL, O_DIRECT), T(fcntl, p[0], F_SETFL, -1), num(S(fcntl, p[0], F_GETFL));
    T(fcntl, p[0], F_SETFL, O_NONBLOCK), num(S(fcntl, p[0], F_GETFL));

    /* Signals of descriptors. */
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    const int catch[] = {SIGIO, SIGUSR1, SIGRTMIN};
    for (int i = 0; i < 3; i++)
        sigaction(catch[i], &action, NULL);
    char buf[8];
    T(fcntl, p[0], F_GETOWN), T(fcntl, p[0], F_GETSIG), T(fcntl, p[0], F_SETFL, O_NONBLOCK | O_ASYNC);
    S(write, p[1], "x", 1), told("nobody owns it");
    is(S(fcntl, p[0], F_SETOWN, getpid()) == 0), is(S(fcntl, p[0], F_GETOWN) == getpid());
    S(write, p[1], "x", 1), told("written"), S(write, p[1], "x", 1), told("again"), S(read, p[0], buf, 8), told("read");
    T(fcntl, p[0], F_SETSIG, SIGRTMIN), is(S(fcntl, p[0], F_GETSIG) == SIGRTMIN);
    S(write, p[1], "x", 1), told("rt");
    T(fcntl, p[0], F_SETSIG, SIGUSR1), S(write, p[1], "x", 1), told("usr1");
    T(fcntl, p[0], F_SETSIG, SIGIO), S(write, p[1], "x", 1), told("io");
    T(fcntl, p[0], F_SETSIG, 65), T(fcntl, p[0], F_SETSIG, -1), T(fcntl, p[0], F_SETSIG, 0);
    T(fcntl, p[0], F_SETFL, O_NONBLOCK), S(write, p[1], "x", 1), told("off");
    enum { GETOWNER_UIDS = 17 };
    unsigned uids[2] = {9, 9};
    T(fcntl, p[1], GETOWNER_UIDS, uids), num(uids[0]), num(uids[1]), T(fcntl, p[1], GETOWNER_UIDS, BAD);
    T(fcntl, p[0], GETOWNER_UIDS, uids), is(uids[0] == getuid()), is(uids[1] == geteuid());
    struct f_owner_ex owner = {7, 7};
    T(fcntl, p[1], F_GETOWN_EX, &owner), num(owner.type), num(owner.pid);
    owner = (struct f_owner_ex){F_OWNER_TID, getpid()};
    T(fcntl, p[1], F_SETOWN_EX, &owner), is(S(fcntl, p[1], F_GETOWN) == getpid());
    owner = (struct f_owner_ex){7, 7};
    T(fcntl, p[1], F_SETOWN_EX, &owner), T(fcntl, p[1], F_SETOWN_EX, BAD), T(fcntl, p[1], F_GETOWN_EX, BAD);
    T(fcntl, p[1], F_GETOWN_EX, &owner), num(owner.type), is(owner.pid == getpid());
    T(fcntl, p[1], F_SETFL, O_NONBLOCK | O_ASYNC), num(S(fcntl, p[1], F_GETFL));
    T(fcntl, p[1], F_SETSIG, SIGRTMIN), S(read, p[0], buf, 8), told("room"), S(read, p[0], buf, 8), told("empty");
    is(S(fcntl, p[1], F_SETOWN, -getpgrp()) == 0), is(S(fcntl, p[1], F_GETOWN) == -getpgrp());
    T(fcntl, p[1], F_GETOWN_EX, &owner), num(owner.type), is(owner.pid == getpgrp());
    T(fcntl, p[1], F_SETOWN, 0x7ffffff0), T(fcntl, p[1], F_SETOWN, 0x80000000), T(fcntl, p[1], F_SETOWN, 0);
    T(fcntl, p[1], F_GETOWN), is(S(fcntl, p[1], F_SETOWN, getpid()) == 0);
    S(close, p[0]), told("hangup");
    T(fcntl, a, F_SETFL, O_ASYNC), num(S(fcntl, a, F_GETFL)), T(fcntl, a, F_SETOWN, 0), T(fcntl, a, F_GETSIG);

    /* Leases. */
    put("l", "lease");
    long r = S(open, "l", O_RDONLY), l;
    T(fcntl, r, F_GETLEASE), T(fcntl, r, F_SETLEASE, F_UNLCK), T(fcntl, r, F_SETLEASE, 3), T(fcntl, r, F_SETLEASE, F_RDLCK);
    T(fcntl, r, F_GETLEASE);
    OK(open, "l", O_RDONLY), told("read open");
    T(open, "l", O_WRONLY | O_NONBLOCK), told("write open"), T(fcntl, r, F_GETLEASE);
    T(open, "l", O_RDWR | O_NONBLOCK), told("asked only once");
    T(fcntl, r, F_SETLEASE, F_UNLCK), T(fcntl, r, F_GETLEASE), T(fcntl, r, F_SETLEASE, F_RDLCK);
    T(open, "l", O_RDWR), told("a wait, interrupted"), T(fcntl, r, F_SETLEASE, F_UNLCK);
    l = OK(open, "l", O_WRONLY | O_NONBLOCK);
    T(fcntl, r, F_SETLEASE, F_RDLCK), T(fcntl, l, F_SETLEASE, F_RDLCK);
    S(close, l);
    T(fcntl, r, F_SETSIG, SIGRTMIN), T(fcntl, r, F_SETLEASE, F_RDLCK), T(truncate, "l", 2), told("cut"), cat("l");
    T(fcntl, r, F_SETLEASE, F_UNLCK), T(truncate, "l", 2), cat("l");
    put("l2", "lease");
    l = S(open, "l2", O_RDWR);
    T(fcntl, l, F_SETLEASE, F_RDLCK), T(fcntl, l, F_SETLEASE, F_WRLCK), T(fcntl, l, F_GETLEASE);
    T(open, "l2", O_RDONLY | O_NONBLOCK), told("read"), T(fcntl, l, F_GETLEASE);
    T(open, "l2", O_WRONLY | O_NONBLOCK), told("write"), T(fcntl, l, F_GETLEASE);
    OK(open, "l2", O_PATH), T(access, "l2", W_OK);
    S(close, l);
    OK(open, "l2", O_RDWR | O_NONBLOCK);
    T(fcntl, dir, F_SETLEASE, F_RDLCK), T(fcntl, dir, F_GETLEASE), T(fcntl, p[1], F_SETLEASE, F_RDLCK), T(fcntl, o, F_GETLEASE);
    T(fcntl, p[1], F_SETLEASE, F_UNLCK);
    return 0;
}
