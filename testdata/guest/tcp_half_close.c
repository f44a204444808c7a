// covers: socket bind listen connect accept4 shutdown read write poll close getsockopt setsockopt recvfrom
#include "guest.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* The ends of a TCP connection: half of it, all of it, with bytes that nobody has read, and with a reset. */
static int l, c, s;

static int connected(void)
{
    struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    socklen_t n = sizeof a;
    l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(l, (void *)&a, sizeof a) || listen(l, 5) || getsockname(l, (void *)&a, &n) || connect(c, (void *)&a, n))
        printf("not connected\n");
    s = accept(l, 0, 0);
    return S(close, l);
}
static void ready(const char *what, int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDHUP, 0};
    /* Linux carries the loopback's packets in the background. */
    for (int i = 0; i < 50; i++)
        if (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR))
            break;
        else
            usleep(200);
    printf("%s:%s%s%s%s%s\n", what, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "", p.revents & POLLRDHUP ? " rdhup" : "",
        p.revents & POLLHUP ? " hup" : "", p.revents & POLLERR ? " err" : "");
}
static long error(int fd)
{
    int e = -1;
    socklen_t n = sizeof e;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n);
    return -e;
}
static int state(int fd)
{
    struct tcp_info i;
    socklen_t n = sizeof i;
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n);
    return i.tcpi_state;
}
static void settle(int fd, int wanted)
{
    for (int i = 0; i < 200 && state(fd) != wanted; i++)
        usleep(200);
}

int main(void)
{
    char buf[64];
    signal(SIGPIPE, SIG_IGN);
    connected(), T(write, c, "last words", 10), T(shutdown, c, SHUT_WR), T(shutdown, c, SHUT_WR), T(write, c, "x", 1), ready("other", s),
        settle(s, TCP_CLOSE_WAIT), num(state(s)), T(read, s, buf, 64), T(read, s, buf, 64), T(read, s, buf, 64), T(write, s, "answer", 6),
        T(recvfrom, c, buf, 6, MSG_WAITALL, 0, 0);
    ready("own", c), T(shutdown, s, SHUT_WR), T(read, c, buf, 64), ready("both shut", c), ready("other", s), T(shutdown, s, SHUT_RDWR),
        T(read, s, buf, 64), S(close, c), S(close, s);

    /* Reading that is shut: what comes later is read all the same. */
    connected(), T(shutdown, c, SHUT_RD), ready("own", c), T(read, c, buf, 64), T(write, s, "late", 4), usleep(2000), T(read, c, buf, 64),
        T(read, c, buf, 64), T(write, c, "x", 1), T(read, s, buf, 64), S(close, c), S(close, s);

    /* Closed with bytes unread: a reset, which the other side learns once. */
    connected(), T(write, c, "unread", 6), usleep(2000), S(close, s), ready("reset", c), show("error", error(c)), show("again", error(c)),
        T(read, c, buf, 64), T(write, c, "x", 1), T(shutdown, c, SHUT_WR), S(close, c);
    connected(), T(write, c, "unread", 6), usleep(2000), S(close, s), ready("reset", c), T(read, c, buf, 64), T(read, c, buf, 64),
        T(write, c, "x", 1), show("error", error(c)), S(close, c);
    /* Closed without: an end, then a reset for who writes on. */
    connected(), S(close, s), ready("end", c), T(read, c, buf, 64), T(write, c, "into nothing", 12), ready("reset", c), T(write, c, "x", 1),
        T(read, c, buf, 64), show("error", error(c)), S(close, c);
    connected(), S(write, s, "bye", 3), S(close, s), ready("end", c), T(read, c, buf, 64), T(write, c, "x", 1), ready("reset", c),
        T(read, c, buf, 64), T(read, c, buf, 64), T(write, c, "x", 1), S(close, c);

    /* Lingering for no time: a reset at once, and what was sent is lost. */
    struct linger now = {1, 0};
    connected(), T(write, s, "lost", 4), usleep(2000), T(setsockopt, s, SOL_SOCKET, SO_LINGER, &now, sizeof now), S(close, s), ready("reset", c),
        T(read, c, buf, 64), T(read, c, buf, 64), S(close, c);
    /* AF_UNSPEC takes a connection apart. */
    struct sockaddr none = {AF_UNSPEC, {0}};
    connected(), T(connect, c, &none, sizeof none), num(state(c)), T(write, c, "x", 1), ready("other", s), T(read, s, buf, 64),
        T(getsockopt, c, SOL_SOCKET, SO_ERROR, buf, BAD), S(close, c), S(close, s);
    connected();
    int n = -1;
    T(ioctl, c, FIONREAD, &n), num(n), S(write, s, "12345", 5), usleep(2000), T(ioctl, c, FIONREAD, &n), num(n),
        T(recvfrom, c, buf, 3, MSG_PEEK, 0, 0), T(recvfrom, c, buf, 3, MSG_TRUNC, 0, 0), T(recvfrom, c, buf, 64, MSG_DONTWAIT, 0, 0),
        T(recvfrom, c, buf, 64, MSG_DONTWAIT, 0, 0), S(shutdown, s, SHUT_WR), ready("end", c), T(recvfrom, c, buf, 64, MSG_WAITALL, 0, 0),
        T(recvfrom, c, buf, 64, MSG_PEEK, 0, 0);
    return 0;
}
