// covers: poll select pipe2 socketpair eventfd2 timerfd_create signalfd4 epoll_create1 inotify_init1 pidfd_open memfd_create accept4
#include "child.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

/* What poll(2) and select(2) say of every kind of object in each of its states. */
static void ready(const char *what, long fd)
{
    static const char *names[] = {"IN", "PRI", "OUT", "ERR", "HUP", "NVAL", "RDNORM", "RDBAND", "WRNORM", "WRBAND", "?400", "?800", "?1000", "RDHUP"};
    struct pollfd p = {(int)fd, (short)0x27c7, 0}, none = {(int)fd, 0, 0};
    fd_set r, w, x;
    struct timeval now = {0, 0};
    S(poll, &p, 1, 0), S(poll, &none, 1, 0);
    printf("%s:", what);
    for (int i = 0; i < 14; i++)
        if (p.revents >> i & 1)
            printf(" %s", names[i]);
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_ZERO(&x);
    FD_SET(fd, &r), FD_SET(fd, &w), FD_SET(fd, &x);
    long n = S(select, fd + 1, &r, &w, &x, &now);
    printf("; unasked %#x; select %ld%s%s%s\n", none.revents, n, n > 0 && FD_ISSET(fd, &r) ? " r" : "", n > 0 && FD_ISSET(fd, &w) ? " w" : "",
        n > 0 && FD_ISSET(fd, &x) ? " x" : "");
}
static void sleeps(void)
{
    for (;;)
        pause();
}

int main(void)
{
    int p[2], s[2];
    uint64_t most = 0xfffffffffffffffe;
    static char big[1 << 20];
    ready("file", S(open, "host/file", O_RDONLY)), ready("directory", S(open, "host", O_RDONLY)),
        ready("write-only file", S(open, "host/other", O_WRONLY)), ready("/dev/null", S(open, "/dev/null", O_RDONLY)),
        ready("/dev/zero", S(open, "/dev/zero", O_RDWR)), ready("/dev/urandom", S(open, "/dev/urandom", O_RDONLY)),
        ready("memfd", S(memfd_create, "m", 0)), ready("/proc", S(open, "/proc/self/status", O_RDONLY));
    ready("mounts", S(open, "/proc/self/mounts", O_RDONLY));

    S(pipe2, p, O_NONBLOCK), ready("empty pipe, reader", p[0]), ready("writer", p[1]), S(write, p[1], "x", 1), ready("full reader", p[0]),
        S(write, p[1], big, sizeof big), ready("full writer", p[1]), S(close, p[0]), ready("no reader", p[1]);
    S(pipe2, p, O_NONBLOCK), S(write, p[1], "x", 1), S(close, p[1]), ready("no writer, bytes", p[0]), S(read, p[0], big, 9), ready("no writer", p[0]);

    S(socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s), ready("stream", s[0]), S(write, s[1], "x", 1), ready("with a byte", s[0]),
        S(shutdown, s[1], SHUT_WR), ready("other end shut", s[0]), S(shutdown, s[0], SHUT_WR), ready("both halves", s[0]), S(close, s[1]),
        ready("other end closed", s[0]);
    S(socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s), S(shutdown, s[0], SHUT_RD), ready("own reading shut", s[0]),
        ready("its other end", s[1]), S(write, s[0], "x", 1), S(close, s[1]), ready("unread at the other end", s[0]);
    S(socketpair, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s), ready("datagram", s[0]), S(write, s[1], "", 0), ready("an empty one", s[0]),
        S(close, s[1]), ready("closed", s[0]);
    S(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s), ready("packets", s[0]), S(close, s[1]), ready("closed", s[0]);
    long u = S(socket, AF_UNIX, SOCK_STREAM, 0), c = S(socket, AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = {AF_UNIX, "sock"};
    ready("new stream", u), S(bind, u, &a, sizeof a), ready("bound", u), S(listen, u, 5), ready("listening", u), S(connect, c, &a, sizeof a),
        ready("with a connection", u), ready("not yet accepted", c), S(close, c), ready("that was closed", u);
    ready("new datagram", S(socket, AF_UNIX, SOCK_DGRAM, 0)), ready("new TCP", S(socket, AF_INET, SOCK_STREAM, 0)),
        ready("new UDP", S(socket, AF_INET, SOCK_DGRAM, 0));

    long e = S(eventfd2, 0, 0);
    ready("eventfd 0", e), S(write, e, &most, 8), ready("eventfd full", e);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1), sigprocmask(SIG_BLOCK, &set, 0);
    long f = S(signalfd4, -1, &set, 8, 0), t = S(timerfd_create, CLOCK_MONOTONIC, 0), ep = S(epoll_create1, 0), in = S(inotify_init1, 0);
    ready("signalfd", f), raise(SIGUSR1), ready("with a signal", f), ready("timerfd", t);
    struct itimerspec soon = {{0, 0}, {0, 1}};
    S(timerfd_settime, t, 0, &soon, 0), usleep(1000), ready("expired", t), ready("epoll", ep);
    struct epoll_event ev = {EPOLLIN, {0}};
    S(epoll_ctl, ep, EPOLL_CTL_ADD, t, &ev), ready("epoll with a ready one", ep), ready("inotify", in), S(inotify_add_watch, in, ".", IN_CREATE),
        put("new", ""), ready("with an event", in);
    pid_t pid = child(sleeps);
    long pf = S(pidfd_open, pid, 0);
    ready("pidfd", pf), kill(pid, SIGKILL);
    struct pollfd wait = {(int)pf, POLLIN, 0};
    S(poll, &wait, 1, -1), ready("of a zombie", pf), reap(pid), S(poll, &wait, 1, 0), late("reaped", 609, POLLIN | POLLHUP, wait.revents),
        is(wait.revents & POLLIN);

    /* poll's own: negative descriptors, closed ones, several of one. */
    struct pollfd many[4] = {{-1, POLLIN, 7}, {99, POLLIN, 7}, {(int)e, POLLIN, 7}, {(int)e, POLLOUT, 7}};
    T(poll, many, 4, 0), printf("%#x %#x %#x %#x\n", many[0].revents, many[1].revents, many[2].revents, many[3].revents), T(poll, many, 1, 0),
        T(poll, 0, 0, 0), T(poll, BAD, 1, 0);
    return 0;
}
