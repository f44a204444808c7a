// covers: fcntl ioctl socketpair pipe2 open kill
#include "child.h"
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <poll.h>

/* O_ASYNC: which signal comes when, to whom, and with which descriptor and band. */
static volatile int count, signo_, code, fd_, band;
static void note(int signo, siginfo_t *info, void *context)
{
    (void)context;
    count++, signo_ = signo, code = info->si_code, fd_ = info->si_fd, band = (int)info->si_band;
}
static void told(const char *what, int fd)
{
    printf("%s: %d", what, count);
    if (count && signo_ == SIGIO && code == SI_KERNEL)
        printf(" SIGIO of the kernel");
    else if (count)
        printf(" SIGRTMIN+%d code %d fd %d band %#x", signo_ - SIGRTMIN, code, fd_ == fd, band);
    printf("\n"), count = 0;
}
static int own(int fd)
{
    struct f_owner_ex o = {-1, -1};
    long r = S(fcntl, fd, F_GETOWN_EX, &o);
    printf("owner %ld type %d %s\n", r, o.type, o.pid == 0 ? "nobody" : o.pid == getpid() ? "itself" : o.pid == getpgrp() ? "its group" : "another");
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    int s[2], p[2], on = 1, off = 0;
    char buf[9];
    S(setpgid, 0, 0), sigaction(SIGIO, &action, 0), sigaction(SIGRTMIN, &action, 0), sigaction(SIGURG, &action, 0);
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, s), S(pipe2, p, 0);

    own(s[0]), T(fcntl, s[0], F_SETFL, O_ASYNC), printf("%#lo\n", S(fcntl, s[0], F_GETFL)), S(write, s[1], "a", 1), told("no owner", s[0]);
    T(fcntl, s[0], F_SETOWN, getpid()), own(s[0]), S(write, s[1], "b", 1), told("an owner", s[0]), S(read, s[0], buf, 9), told("read", s[0]);
    T(fcntl, s[0], F_SETSIG, SIGRTMIN), num(S(fcntl, s[0], F_GETSIG) - SIGRTMIN), S(write, s[1], "c", 1), told("F_SETSIG", s[0]),
        S(write, s[1], "d", 1), told("more", s[0]), T(fcntl, s[0], F_SETSIG, 65), T(fcntl, s[0], F_SETSIG, -1), T(fcntl, s[0], F_SETSIG, 0),
        S(write, s[1], "e", 1), told("as it was", s[0]);
    T(fcntl, s[0], F_SETSIG, SIGRTMIN), S(close, s[1]), told("closed", s[0]);

    /* Pipes: both ends. */
    T(fcntl, p[0], F_SETFL, O_ASYNC), T(fcntl, p[0], F_SETSIG, SIGRTMIN), T(fcntl, p[0], F_SETOWN, getpid()), S(write, p[1], "x", 1),
        told("pipe", p[0]), S(write, p[1], "y", 1), told("again", p[0]);
    T(ioctl, p[0], FIOASYNC, &off), S(write, p[1], "z", 1), told("off", p[0]), T(ioctl, p[1], FIOASYNC, &on), S(fcntl, p[1], F_SETSIG, SIGRTMIN),
        S(fcntl, p[1], F_SETOWN, getpid()), S(read, p[0], buf, 1), told("read of some", p[1]), S(read, p[0], buf, 9), told("read of all", p[1]);
    int d = (int)S(dup, p[0]);
    T(ioctl, p[0], FIOASYNC, &on), S(write, p[1], "w", 1), told("a copy", p[0]), S(close, d), S(close, p[1]), told("no writer left", p[0]);

    /* Owners: groups, threads, none; what is refused. */
    S(pipe2, p, O_NONBLOCK), T(fcntl, p[0], F_SETOWN, -getpgrp()), own(p[0]), is(S(fcntl, p[0], F_GETOWN) == -getpgrp());
    struct f_owner_ex o = {F_OWNER_TID, (int)S(gettid)};
    T(fcntl, p[0], F_SETOWN_EX, &o), own(p[0]), T(fcntl, p[0], F_SETSIG, SIGRTMIN), T(fcntl, p[0], F_SETFL, O_ASYNC | O_NONBLOCK),
        S(write, p[1], "t", 1), told("to the thread", p[0]);
    o.type = 3, T(fcntl, p[0], F_SETOWN_EX, &o), o = (struct f_owner_ex){F_OWNER_PID, 0x3ffffe}, T(fcntl, p[0], F_SETOWN_EX, &o),
        T(fcntl, p[0], F_SETOWN, 0x3ffffe), T(fcntl, p[0], F_SETOWN, (int)0x80000000), own(p[0]), o.pid = 0, T(fcntl, p[0], F_SETOWN_EX, &o),
        own(p[0]), S(write, p[1], "u", 1), told("nobody", p[0]), T(fcntl, p[0], F_SETOWN_EX, BAD), T(fcntl, p[0], F_GETOWN_EX, BAD);
    T(fcntl, p[0], F_SETOWN, getpid()), T(fcntl, p[0], F_SETOWN, 0), own(p[0]);
    /* Regular files take the flag, and nothing follows. */
    int f = open("f", O_RDWR | O_CREAT | O_ASYNC, 0644);
    printf("%#lo\n", S(fcntl, f, F_GETFL)), T(fcntl, f, F_SETFL, O_ASYNC), printf("%#lo\n", S(fcntl, f, F_GETFL)), T(fcntl, f, F_SETOWN, getpid()),
        S(write, f, "x", 1), told("file", f);
    return 0;
}
