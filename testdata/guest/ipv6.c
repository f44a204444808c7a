// covers: socket bind connect listen accept4 getsockname getpeername setsockopt getsockopt sendto recvfrom
#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

/* IPv6 over the loopback, IPv4 through its sockets, and who may have a port beside whom. */
static struct sockaddr_in6 six(const char *text, int port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    inet_pton(AF_INET6, text, &a.sin6_addr);
    return a;
}
static struct sockaddr_in four(unsigned address, int port)
{
    struct sockaddr_in a = {AF_INET, htons(port), {htonl(address)}, {0}};
    return a;
}
static int port_of(long fd)
{
    struct sockaddr_in6 a;
    socklen_t n = sizeof a;
    return S(getsockname, fd, &a, &n) ? -1 : ntohs(a.sin6_port);
}
static void name(const char *what, long fd, int peer)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    char text[64];
    long r = peer ? S(getpeername, fd, &a, &n) : S(getsockname, fd, &a, &n);
    if (r < 0) {
        show(what, r);
        return;
    }
    struct sockaddr_in6 *b = (void *)&a;
    struct sockaddr_in *c = (void *)&a;
    printf("%s: %d bytes %s flow %u scope %u\n", what, (int)n,
        inet_ntop(a.ss_family, a.ss_family == AF_INET6 ? (void *)&b->sin6_addr : (void *)&c->sin_addr, text, sizeof text),
        a.ss_family == AF_INET6 ? b->sin6_flowinfo : 0, a.ss_family == AF_INET6 ? b->sin6_scope_id : 0);
}
#define TCP6 S(socket, AF_INET6, SOCK_STREAM, 0)
#define TCP4 S(socket, AF_INET, SOCK_STREAM, 0)
static long bound(const char *what, int family, const char *address, int port, int only)
{
    long s = S(socket, family, SOCK_STREAM, 0);
    struct sockaddr_in6 a = six(address, port);
    struct sockaddr_in b = four(strcmp(address, "any") ? INADDR_LOOPBACK : INADDR_ANY, port);
    if (only >= 0)
        S(setsockopt, s, IPPROTO_IPV6, IPV6_V6ONLY, &only, 4);
    show(what, family == AF_INET6 ? S(bind, s, &a, sizeof a) : S(bind, s, &b, sizeof b));
    return s;
}

int main(void)
{
    char buf[32];
    int n = -1, on = 1;
    socklen_t len = 4;
    struct sockaddr_in6 a = six("::1", 0), b;
    long l = TCP6, c = TCP6;
    if (S(bind, l, &a, sizeof a) < 0)
        lacks("the loopback has no IPv6 address here");
    S(close, l), l = TCP6;
    T(getsockopt, l, IPPROTO_IPV6, IPV6_V6ONLY, &n, &len), num(n), T(bind, l, &a, 16), T(bind, l, &a, 23), T(bind, l, &a, 24), name("bound", l, 0),
        T(listen, l, 5);
    int port = port_of(l);
    a = six("::1", port), T(connect, c, &a, sizeof a), name("own", c, 0), name("peer", c, 1), len = sizeof b;
    long s = S(accept4, l, &b, &len, 0);
    num(len), is(b.sin6_family == AF_INET6 && ntohs(b.sin6_port) == port_of(c)), T(write, c, "six", 3), T(read, s, buf, 9), S(close, c), S(close, s),
        S(close, l);

    /* IPv4 comes to "::" as mapped addresses. */
    l = TCP6, a = six("::", 0), T(bind, l, &a, sizeof a), T(listen, l, 5), port = port_of(l);
    struct sockaddr_in f = four(INADDR_LOOPBACK, port);
    c = TCP4, T(connect, c, &f, sizeof f), s = S(accept4, l, 0, 0, 0), name("listener", l, 0), name("accepted", s, 0), name("its peer", s, 1),
        name("client", c, 0), T(write, c, "four", 4), T(read, s, buf, 9), n = -1, len = 4, T(getsockopt, s, SOL_SOCKET, SO_DOMAIN, &n, &len),
        num(n == AF_INET6), S(close, c), S(close, s);
    c = TCP6, a = six("::ffff:127.0.0.1", port), T(connect, c, &a, sizeof a), name("mapped client", c, 0), name("mapped peer", c, 1), S(close, c),
        S(close, S(accept4, l, 0, 0, 0)), c = TCP6, a = six("::", port), T(connect, c, &a, sizeof a), name("to ::", c, 1), S(close, c),
        S(close, S(accept4, l, 0, 0, 0)), S(close, l);
    l = TCP6, T(setsockopt, l, IPPROTO_IPV6, IPV6_V6ONLY, &on, 4), a = six("::", 0), T(bind, l, &a, sizeof a), T(listen, l, 5),
        T(setsockopt, l, IPPROTO_IPV6, IPV6_V6ONLY, &on, 4), f = four(INADDR_LOOPBACK, port_of(l)),
        show("not for IPv4", S(connect, TCP4, &f, sizeof f)), a = six("::ffff:127.0.0.1", port_of(l)),
        show("nor mapped", S(connect, TCP6, &a, sizeof a)), c = TCP6, S(setsockopt, c, IPPROTO_IPV6, IPV6_V6ONLY, &on, 4),
        show("mapped, of one for IPv6 alone", S(connect, c, &a, sizeof a)), show("bound mapped", S(bind, c, &a, sizeof a)), S(close, l);

    /* Who has a port. */
    l = bound("::", AF_INET6, "::", 0, 0), port = port_of(l), S(close, bound("any beside ::", AF_INET, "any", port, -1)),
        S(close, bound("127.0.0.1 beside ::", AF_INET, "x", port, -1)), S(close, bound("::1 beside ::", AF_INET6, "::1", port, 0)), S(close, l),
        l = bound("::, IPv6 alone", AF_INET6, "::", port, 1), S(close, bound("any beside it", AF_INET, "any", port, -1)),
        S(close, bound("mapped beside it", AF_INET6, "::ffff:127.0.0.1", port, 0)), S(close, bound(":: beside it", AF_INET6, "::", port, 1)),
        S(close, l), l = bound("127.0.0.1", AF_INET, "x", port, -1), S(close, bound(":: beside it", AF_INET6, "::", port, 0)),
        S(close, bound(":: for IPv6 alone beside it", AF_INET6, "::", port, 1)), S(close, bound("::1 beside it", AF_INET6, "::1", port, 0)),
        S(close, bound("mapped beside it", AF_INET6, "::ffff:127.0.0.1", port, 0)), S(close, l);

    /* Datagrams, and addresses that do not fit. */
    long d = S(socket, AF_INET6, SOCK_DGRAM, 0), e = S(socket, AF_INET, SOCK_DGRAM, 0);
    a = six("::", 0), S(bind, d, &a, sizeof a), f = four(INADDR_LOOPBACK, port_of(d)), T(sendto, e, "x", 1, 0, &f, sizeof f), len = sizeof b,
        T(recvfrom, d, buf, 9, 0, &b, &len), printf("%s\n", inet_ntop(AF_INET6, &b.sin6_addr, buf, sizeof buf)),
        T(sendto, d, "back", 4, 0, &b, sizeof b), T(recvfrom, e, buf, 9, 0, 0, 0), T(sendto, d, "four", 4, 0, &f, sizeof f),
        T(recvfrom, d, buf, 9, MSG_DONTWAIT, 0, 0), a = six("::1", port_of(d)), T(sendto, d, "self", 4, 0, &a, sizeof a),
        T(recvfrom, d, buf, 9, 0, 0, 0), T(sendto, e, "x", 1, 0, &a, sizeof a), T(connect, TCP4, &a, sizeof a), T(connect, TCP6, &f, sizeof f),
        a = six("fe80::1", 1), T(connect, TCP6, &a, sizeof a), a = six("2001:db8::1", 0), T(bind, TCP6, &a, sizeof a), a = six("fe80::1", 0),
        T(bind, TCP6, &a, sizeof a), T(socket, AF_INET6, SOCK_STREAM, IPPROTO_UDP), T(socket, AF_INET6, SOCK_SEQPACKET, 0);
    return 0;
}
