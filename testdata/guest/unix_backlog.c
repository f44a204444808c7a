// covers: listen connect accept4 close shutdown poll getsockopt fork
#include "child.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Connections that wait at a Unix socket: how many, what can be done with them before they are accepted, and what becomes
 * of them when either side goes. */
static struct sockaddr_un a = {AF_UNIX, "sock"};
static long l;

static long connects(int flags)
{
    long s = S(socket, AF_UNIX, SOCK_STREAM | flags, 0), r = S(connect, s, &a, sizeof a);
    if (r < 0)
        S(close, s);
    return r < 0 ? r : s;
}
static long error(long s)
{
    int e = -1;
    socklen_t n = sizeof e;
    S(getsockopt, s, SOL_SOCKET, SO_ERROR, &e, &n);
    return -e;
}
static void waits(void)
{
    long s = connects(0);
    show("waited and connected", s < 0 ? s : 0), show("written", S(write, s, "late", 4));
}
static void times_out(void)
{
    struct timeval t = {0, 5000};
    long s = S(socket, AF_UNIX, SOCK_STREAM, 0);
    S(setsockopt, s, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t), show("with a timeout", S(connect, s, &a, sizeof a));
}

int main(void)
{
    char buf[32];
    signal(SIGPIPE, SIG_IGN);
    l = S(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), S(bind, l, &a, sizeof a);
    T(listen, l, 2), T(accept4, l, 0, 0, 0);
    long c[4];
    for (int i = 0; i < 4; i++)
        show("connection", (c[i] = connects(SOCK_NONBLOCK)) < 0 ? c[i] : 0);
    num(reap(child(times_out)));
    pid_t pid = child(waits);
    asleep(pid), show("accepted", S(accept4, l, 0, 0, 0) < 0), num(reap(pid));
    /* Written to before it is accepted, closed before it is accepted. */
    T(write, c[1], "early", 5), T(read, c[1], buf, 9), T(close, c[1]);
    long s = S(accept4, l, 0, 0, SOCK_NONBLOCK);
    T(read, s, buf, 9), T(read, s, buf, 9), T(write, s, "x", 1), S(close, s);
    T(shutdown, c[2], SHUT_WR), s = S(accept4, l, 0, 0, SOCK_NONBLOCK), T(read, s, buf, 9), S(close, s),
        show("the late one", (s = S(accept4, l, 0, 0, SOCK_NONBLOCK)) < 0 ? s : 0), T(read, s, buf, 9);
    T(accept4, l, 0, 0, 0), T(accept4, l, 0, 0, 1), T(accept4, c[0], 0, 0, 0), T(accept4, 99, 0, 0, 0), T(accept4, 1, 0, 0, 0), s = connects(0);
    socklen_t n = 5;
    T(accept4, l, &a, BAD, 0), show("without a place", S(accept4, l, 0, &n, 0) < 0);
    s = connects(0), n = -1, T(accept4, l, buf, &n, 0), show("it is gone", S(accept4, l, 0, 0, 0));

    /* A listener that goes takes those with it who wait. */
    long w[2] = {connects(SOCK_NONBLOCK), connects(SOCK_NONBLOCK)};
    struct pollfd p = {(int)w[0], POLLIN | POLLOUT, 0};
    T(write, w[0], "x", 1), T(close, l), T(poll, &p, 1, 0), num(p.revents), show("error", error(w[0])), T(read, w[0], buf, 9), T(read, w[0], buf, 9),
        T(write, w[0], "x", 1), T(write, w[1], "x", 1), T(read, w[1], buf, 9), T(read, w[1], buf, 9), show("nobody", connects(0));
    S(unlink, "sock"), l = S(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), S(bind, l, &a, sizeof a), show("bound alone", connects(0)),
        T(listen, l, 0), show("first of 0", connects(SOCK_NONBLOCK) > 0), show("second of 0", connects(SOCK_NONBLOCK)), T(listen, l, 3),
        show("now of 3", connects(SOCK_NONBLOCK) > 0), T(listen, l, -1), show("of -1", connects(SOCK_NONBLOCK) > 0);
    T(shutdown, l, SHUT_RD), show("shut", connects(SOCK_NONBLOCK)), show("but one waits", S(accept4, l, 0, 0, 0) > 0), T(connect, l, &a, sizeof a),
        T(listen, w[0], 1), T(listen, 99, 1);
    return 0;
}
