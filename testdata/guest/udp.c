// covers: sendto recvfrom sendmsg recvmsg connect bind
#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* UDP over the loopback. */
static struct sockaddr_in in(const char *ip, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, ip, &a.sin_addr);
    return a;
}

static struct sockaddr_in here(long fd)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    S(getsockname, fd, &a, &len);
    return a;
}

static void ready(const char *what, long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT | POLLRDHUP, 0};
    long r = S(poll, &p, 1, 0);
    printf("%s: %ld%s%s%s%s%s\n", what, r, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "",
           p.revents & POLLHUP ? " hup" : "", p.revents & POLLRDHUP ? " rdhup" : "", p.revents & POLLERR ? " err" : "");
}

static long udp(int flags)
{
    return S(socket, AF_INET, SOCK_DGRAM | flags, 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    char buf[64];
    long s = udp(SOCK_NONBLOCK), c = udp(SOCK_NONBLOCK);
    ready("new", s);
    T(read, s, buf, 1);
    T(write, s, "x", 1);
    T(listen, s, 1);
    T(accept, s, 0, 0);
    T(shutdown, s, SHUT_WR);
    struct sockaddr_in lo = in("127.0.0.1", 0), any = in("0.0.0.0", 0);
    T(bind, s, &lo, sizeof lo);
    T(bind, s, &lo, sizeof lo);
    lo = here(s);
    T(bind, c, &lo, sizeof lo);
    T(sendto, c, "hello", 5, 0, &lo, sizeof lo);
    T(sendto, c, "", 0, 0, &lo, sizeof lo);
    T(sendto, c, "port 0", 6, 0, &any, sizeof any);
    T(sendto, c, "x", 1, 0, &lo, 8);
    T(sendto, c, "x", 1, MSG_OOB, &lo, sizeof lo);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    T(sendto, c, "x", 1, 0, &six, sizeof six);
    is(here(c).sin_addr.s_addr == 0 && here(c).sin_port != 0);
    int n;
    T(ioctl, s, FIONREAD, &n);
    num(n);
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    T(recvfrom, s, buf, 3, MSG_PEEK | MSG_TRUNC, &from, &len);
    num(len);
    is(from.sin_port == here(c).sin_port && from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    T(recvfrom, s, buf, 3, 0, 0, 0);
    T(recvfrom, s, buf, 3, 0, 0, 0);
    T(recvfrom, s, buf, 3, 0, 0, 0);

    /* Large ones. */
    static char big[70000];
    T(sendto, c, big, 65507, 0, &lo, sizeof lo);
    T(sendto, c, big, 65508, 0, &lo, sizeof lo);
    T(recvfrom, s, big, sizeof big, 0, 0, 0);

    /* Connected, and to a port where nobody is. */
    T(connect, c, &lo, sizeof lo);
    is(here(c).sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    T(write, c, "via connect", 11);
    T(read, s, buf, sizeof buf);
    struct sockaddr_in back = here(c), stranger;
    long o = udp(0);
    T(sendto, o, "from a stranger", 15, 0, &back, sizeof back);
    stranger = here(o);
    T(read, c, buf, sizeof buf);
    T(sendto, s, "back", 4, 0, &back, sizeof back);
    T(read, c, buf, sizeof buf);
    T(sendto, c, "elsewhere", 9, 0, &stranger, sizeof stranger);
    stranger.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    T(sendto, c, "elsewhere", 9, 0, &stranger, sizeof stranger);
    T(read, o, buf, sizeof buf);
    T(close, s);
    T(write, c, "refused", 7);
    ready("refused", c);
    T(write, c, "told", 4);
    T(write, c, "again", 5);
    T(read, c, buf, 1);
    T(read, c, buf, 1);
    struct sockaddr unspec = {AF_UNSPEC, ""};
    T(connect, c, &unspec, sizeof unspec);
    T(getpeername, c, &from, &len);
    num(here(c).sin_port);
    T(sendto, o, "to nobody", 9, 0, &lo, sizeof lo);
    T(recvfrom, o, buf, 1, MSG_DONTWAIT, 0, 0);

    /* Two at one port. */
    int one = 1;
    long a = udp(0), b = udp(0);
    T(setsockopt, a, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    T(bind, a, &any, sizeof any);
    struct sockaddr_in same = here(a);
    T(bind, b, &same, sizeof same);
    T(setsockopt, b, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    T(bind, b, &same, sizeof same);
    same.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    T(sendto, o, "to the last", 11, 0, &same, sizeof same);
    T(recvfrom, a, buf, 1, MSG_DONTWAIT, 0, 0);
    T(recvfrom, b, buf, 1, MSG_DONTWAIT, 0, 0);

    /* What is known of a packet. */
    T(setsockopt, b, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
    T(setsockopt, b, IPPROTO_IP, IP_RECVTTL, &one, sizeof one);
    int ttl = 33;
    T(setsockopt, o, IPPROTO_IP, IP_TTL, &ttl, sizeof ttl);
    T(sendto, o, "x", 1, 0, &same, sizeof same);
    char control[256];
    struct iovec v = {buf, sizeof buf};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    T(recvmsg, b, &m, 0);
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
        printf("level %d type %d length %zu", h->cmsg_level, h->cmsg_type, h->cmsg_len);
        if (h->cmsg_type == IP_PKTINFO)
            printf(" %s", inet_ntoa(((struct in_pktinfo *)CMSG_DATA(h))->ipi_addr));
        else
            printf(" %d", *(int *)CMSG_DATA(h));
        printf("\n");
    }

    /* IPv6. */
    long s6 = S(socket, AF_INET6, SOCK_DGRAM, 0), c6 = S(socket, AF_INET6, SOCK_DGRAM, 0);
    six.sin6_port = 0;
    six.sin6_addr = in6addr_loopback;
    T(bind, s6, &six, sizeof six);
    len = sizeof six;
    S(getsockname, s6, &six, &len);
    num(len);
    T(sendto, c6, "six", 3, 0, &six, sizeof six);
    T(sendto, c6, "six", 3, 0, &six, 20);
    struct sockaddr_in6 from6;
    len = sizeof from6;
    T(recvfrom, s6, buf, sizeof buf, 0, &from6, &len);
    is(IN6_IS_ADDR_LOOPBACK(&from6.sin6_addr));
    /* An address of IPv4 at a socket of IPv6. */
    T(sendto, c6, "four", 4, 0, &same, sizeof same);
    T(recvfrom, b, buf, sizeof buf, MSG_DONTWAIT, 0, 0);
    return 0;
}
