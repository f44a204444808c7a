// covers: connect bind listen accept4 poll getsockopt getsockname getpeername fcntl
#include "guest.h"
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

/* connect(2) of TCP: without waiting, twice, to nobody, to odd addresses. */
static struct sockaddr_in at(unsigned address, int port)
{
    struct sockaddr_in a = {AF_INET, htons(port), {htonl(address)}, {0}};
    return a;
}
static int port_of(long fd)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    return S(getsockname, fd, &a, &n) ? -1 : ntohs(a.sin_port);
}
static long error(long fd)
{
    int e = -1;
    socklen_t n = sizeof e;
    S(getsockopt, fd, SOL_SOCKET, SO_ERROR, &e, &n);
    return -e;
}
static int ready(long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT, 0};
    S(poll, &p, 1, 1000);
    return p.revents;
}
#define TCP(flags) S(socket, AF_INET, SOCK_STREAM | (flags), 0)

int main(void)
{
    char buf[16];
    long l = TCP(0), c = TCP(SOCK_NONBLOCK), free_ = TCP(0);
    struct sockaddr_in a = at(INADDR_LOOPBACK, 0), b;
    socklen_t n = sizeof b;
    S(bind, l, &a, sizeof a), S(bind, free_, &a, sizeof a);
    int port = port_of(l), nobody = port_of(free_);
    a = at(INADDR_LOOPBACK, nobody), T(connect, TCP(0), &a, sizeof a), a = at(INADDR_LOOPBACK, port),
        show("bound, not listening", S(connect, TCP(0), &a, sizeof a)), T(listen, l, 5);

    /* Without waiting. */
    T(connect, c, &a, sizeof a), num(ready(c)), show("error", error(c)), T(connect, c, &a, sizeof a), T(connect, c, &a, sizeof a),
        T(getpeername, c, &b, &n), is(ntohs(b.sin_port) == port), S(close, S(accept4, l, 0, 0, 0));
    long r = TCP(SOCK_NONBLOCK);
    a = at(INADDR_LOOPBACK, nobody), show("refused, without waiting", S(connect, r, &a, sizeof a)), num(ready(r)), show("error", error(r)),
        show("error again", error(r)), T(read, r, buf, 1), num(ready(r)), a = at(INADDR_LOOPBACK, port), T(connect, r, &a, sizeof a),
        num(ready(r) & POLLOUT), T(connect, r, &a, sizeof a), S(close, S(accept4, l, 0, 0, 0));
    long r2 = TCP(SOCK_NONBLOCK);
    a = at(INADDR_LOOPBACK, nobody), S(connect, r2, &a, sizeof a), ready(r2), show("asked by connect", S(connect, r2, &a, sizeof a)),
        show("then", S(read, r2, buf, 1));

    /* Ports of its own: bound before, several connections from one. */
    long o = TCP(0);
    a = at(INADDR_LOOPBACK, 0), T(bind, o, &a, sizeof a);
    int own = port_of(o);
    a = at(INADDR_LOOPBACK, port), T(connect, o, &a, sizeof a), is(port_of(o) == own), n = sizeof b;
    long s = S(accept4, l, &b, &n, 0);
    is(ntohs(b.sin_port) == own), T(bind, o, &a, sizeof a), T(listen, o, 1), T(connect, l, &a, sizeof a), T(accept4, o, 0, 0, 0), S(close, s);
    /* Addresses. */
    a = at(INADDR_ANY, port), T(connect, s = TCP(0), &a, sizeof a), n = sizeof b, S(getpeername, s, &b, &n),
        is(ntohl(b.sin_addr.s_addr) == INADDR_LOOPBACK), a = at(0x7f000005, port), T(connect, TCP(0), &a, sizeof a), a = at(INADDR_BROADCAST, port),
        T(connect, TCP(0), &a, sizeof a), a = at(0xe0000001, port), T(connect, TCP(0), &a, sizeof a), a = at(INADDR_LOOPBACK, 0),
        T(connect, TCP(0), &a, sizeof a);
    a = at(INADDR_LOOPBACK, port), T(connect, TCP(0), &a, 15), T(connect, TCP(0), &a, 8), T(connect, TCP(0), &a, 1), T(connect, TCP(0), BAD, 16),
        T(connect, TCP(0), &a, 200), T(connect, TCP(0), &a, -1), a.sin_family = AF_UNIX, T(connect, TCP(0), &a, sizeof a), a.sin_family = AF_UNSPEC,
        T(connect, TCP(0), &a, sizeof a), T(bind, TCP(0), &a, sizeof a), a = at(0x08080808, 0), T(bind, TCP(0), &a, sizeof a),
        a = at(INADDR_LOOPBACK, port), T(bind, TCP(0), &a, sizeof a), T(bind, TCP(0), &a, 15);
    T(read, TCP(0), buf, 1), T(write, (signal(SIGPIPE, SIG_IGN), TCP(0)), "x", 1), T(getpeername, TCP(0), &b, &n), T(shutdown, TCP(0), SHUT_RD),
        T(sendto, TCP(0), "x", 1, 0, &a, sizeof a);
    return 0;
}
