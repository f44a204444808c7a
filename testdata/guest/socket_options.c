// covers: getsockopt setsockopt
#include "guest.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Options of sockets that are the same on every machine: their first values, what they take, their errors. */
struct option {
    const char *name;
    int level, option, value;
};
#define O(level, name, value) {#name, level, name, value}
static const struct option options[] = {
    O(SOL_SOCKET, SO_REUSEADDR, 5), O(SOL_SOCKET, SO_TYPE, 1), O(SOL_SOCKET, SO_ERROR, 1), O(SOL_SOCKET, SO_DONTROUTE, 1),
    O(SOL_SOCKET, SO_BROADCAST, 1), O(SOL_SOCKET, SO_KEEPALIVE, 1), O(SOL_SOCKET, SO_OOBINLINE, -1), O(SOL_SOCKET, SO_PRIORITY, 6),
    O(SOL_SOCKET, SO_RCVLOWAT, 0), O(SOL_SOCKET, SO_RCVLOWAT, 9), O(SOL_SOCKET, SO_SNDLOWAT, 9),
    O(SOL_SOCKET, SO_ACCEPTCONN, 1), O(SOL_SOCKET, SO_PROTOCOL, 1), O(SOL_SOCKET, SO_DOMAIN, 1), O(SOL_SOCKET, SO_PEEK_OFF, -1),
    O(SOL_SOCKET, SO_SNDBUF, 10000), O(SOL_SOCKET, SO_SNDBUF, 1), O(SOL_SOCKET, SO_RCVBUF, 10000), O(SOL_SOCKET, SO_RCVBUF, 0),
    O(SOL_SOCKET, SO_DETACH_FILTER, 0), O(SOL_SOCKET, 999, 1), O(IPPROTO_IP, IP_TOS, 8), O(IPPROTO_IP, IP_TTL, 0),
    O(IPPROTO_IP, IP_TTL, 256), O(IPPROTO_IP, IP_TTL, 5), O(IPPROTO_IP, IP_TTL, -1), O(IPPROTO_IP, IP_PKTINFO, 1),
    O(IPPROTO_IP, IP_RECVERR, 1), O(IPPROTO_IP, IP_RECVTTL, 1), O(IPPROTO_IP, IP_MTU_DISCOVER, 9), O(IPPROTO_IP, 999, 1),
    O(IPPROTO_IPV6, IPV6_V6ONLY, 1), O(IPPROTO_IPV6, IPV6_UNICAST_HOPS, 300), O(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1),
    O(IPPROTO_TCP, TCP_NODELAY, 1), O(IPPROTO_TCP, TCP_CORK, 1), O(IPPROTO_TCP, TCP_KEEPIDLE, 0), O(IPPROTO_TCP, TCP_KEEPIDLE, 40000),
    O(IPPROTO_TCP, TCP_KEEPIDLE, 30), O(IPPROTO_TCP, TCP_KEEPINTVL, 30), O(IPPROTO_TCP, TCP_KEEPCNT, 128), O(IPPROTO_TCP, TCP_KEEPCNT, 3),
    O(IPPROTO_TCP, TCP_SYNCNT, 3), O(IPPROTO_TCP, TCP_USER_TIMEOUT, -1), O(IPPROTO_TCP, TCP_USER_TIMEOUT, 7), O(IPPROTO_TCP, 999, 1),
    O(777, 1, 1),
};

static void all(const char *what, long fd)
{
    printf("-- %s\n", what);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        int before = -99, after = -99, value = o->value;
        socklen_t len = sizeof before;
        long first = S(getsockopt, fd, o->level, o->option, &before, &len);
        if (o->option == SO_SNDBUF || o->option == SO_RCVBUF)
            before = 0; /* the machine's */
        printf("%s: %s %d %d", o->name, first < 0 ? strerrorname_np((int)-first) : "ok", before, (int)len);
        long set = S(setsockopt, fd, o->level, o->option, &value, sizeof value);
        len = sizeof after;
        S(getsockopt, fd, o->level, o->option, &after, &len);
        printf("; %d: %s, then %d\n", o->value, set < 0 ? strerrorname_np((int)-set) : "ok", after);
    }
}

int main(void)
{
    long u = S(socket, AF_UNIX, SOCK_STREAM, 0), d = S(socket, AF_UNIX, SOCK_DGRAM, 0);
    long t = S(socket, AF_INET, SOCK_STREAM, 0), q = S(socket, AF_INET, SOCK_DGRAM, 0), t6 = S(socket, AF_INET6, SOCK_STREAM, 0);
    all("unix stream", u);
    all("tcp", t);
    all("udp", q);
    all("tcp6", t6);
    int v = 1, pair[2];
    socklen_t len = sizeof v;
    T(getsockopt, 99, SOL_SOCKET, SO_TYPE, &v, &len);
    T(getsockopt, 1, SOL_SOCKET, SO_TYPE, &v, &len);
    T(getsockopt, u, SOL_SOCKET, SO_TYPE, BAD, &len);
    T(getsockopt, u, SOL_SOCKET, SO_TYPE, &v, BAD);
    len = (socklen_t)-1;
    T(getsockopt, u, SOL_SOCKET, SO_TYPE, &v, &len);
    len = 1;
    v = 0x55555555;
    T(getsockopt, u, SOL_SOCKET, SO_TYPE, &v, &len);
    printf("%x %d\n", (unsigned)v, (int)len);
    T(setsockopt, u, SOL_SOCKET, SO_REUSEADDR, &v, 3);
    T(setsockopt, u, SOL_SOCKET, SO_REUSEADDR, BAD, 4);
    T(setsockopt, u, SOL_SOCKET, SO_REUSEADDR, &v, -1);
    T(setsockopt, 1, SOL_SOCKET, SO_REUSEADDR, &v, 4);

    struct linger l = {1, 7};
    T(setsockopt, t, SOL_SOCKET, SO_LINGER, &l, 4);
    T(setsockopt, t, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    l = (struct linger){9, 9};
    len = sizeof l;
    T(getsockopt, t, SOL_SOCKET, SO_LINGER, &l, &len);
    printf("%d %d %d\n", l.l_onoff, l.l_linger, (int)len);
    struct timeval tv = {3, 1000000};
    T(setsockopt, t, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    tv.tv_usec = 500000;
    T(setsockopt, t, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    T(setsockopt, t, SOL_SOCKET, SO_RCVTIMEO, &tv, 8);
    tv = (struct timeval){9, 9};
    len = sizeof tv;
    T(getsockopt, t, SOL_SOCKET, SO_RCVTIMEO, &tv, &len);
    printf("%ld %ld\n", (long)tv.tv_sec, (long)tv.tv_usec);
    T(setsockopt, t, IPPROTO_TCP, TCP_CONGESTION, "nonesuch", 8);
    T(setsockopt, t, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    T(setsockopt, t, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
    T(setsockopt, t, SOL_SOCKET, SO_BINDTODEVICE, "none0", 6);
    unsigned char byte = 16;
    T(setsockopt, q, IPPROTO_IP, IP_TOS, &byte, 1);
    T(getsockopt, d, SOL_SOCKET, SO_PEERGROUPS, &v, &len);
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    len = 0;
    gid_t groups[256];
    OK(getsockopt, pair[0], SOL_SOCKET, SO_PEERGROUPS, groups, &(socklen_t){sizeof groups});

    /* SO_TIMEOs in calls, and SO_RCVLOWAT. */
    tv = (struct timeval){0, 10000};
    T(setsockopt, pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    char buf[8];
    T(read, pair[0], buf, 8);
    T(setsockopt, pair[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    static char big[1000000];
    OK(write, pair[0], big, sizeof big);
    T(write, pair[0], big, 1);
    return 0;
}
