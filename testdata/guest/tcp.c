// covers: socket bind listen accept4 connect sendto recvfrom getsockname getpeername shutdown setsockopt getsockopt
#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* TCP over the loopback. */
static struct sockaddr_in in(const char *ip, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, ip, &a.sin_addr);
    return a;
}

static int port_of(long fd)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    S(getsockname, fd, &a, &len);
    return ntohs(a.sin_port);
}

static void name_of(const char *what, long fd, int peer)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    long r = peer ? S(getpeername, fd, &a, &len) : S(getsockname, fd, &a, &len);
    if (r < 0)
        show(what, r);
    else
        printf("%s: %d %s:%s\n", what, (int)len, inet_ntoa(a.sin_addr), a.sin_port ? "port" : "none");
}

static void ready(const char *what, long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0};
    long r = S(poll, &p, 1, 1000);
    printf("%s: %ld%s%s%s%s%s%s\n", what, r, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "", p.revents & POLLPRI ? " pri" : "",
           p.revents & POLLHUP ? " hup" : "", p.revents & POLLRDHUP ? " rdhup" : "", p.revents & POLLERR ? " err" : "");
}

static void err(long fd)
{
    int v = -1;
    socklen_t len = sizeof v;
    S(getsockopt, fd, SOL_SOCKET, SO_ERROR, &v, &len);
    printf("SO_ERROR %s\n", v ? strerrorname_np(v) : "0");
}

static long stream(int flags)
{
    return S(socket, AF_INET, SOCK_STREAM | flags, 0);
}

/* A connection: both ends. */
static void pair(long *c, long *x)
{
    long s = stream(0);
    struct sockaddr_in a = in("127.0.0.1", 0);
    S(bind, s, &a, sizeof a);
    S(listen, s, 5);
    a.sin_port = htons((uint16_t)port_of(s));
    *c = stream(0);
    S(connect, *c, &a, sizeof a);
    *x = S(accept4, s, 0, 0, 0);
    S(close, s);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    char buf[64];
    long s = T(socket, AF_INET, SOCK_STREAM, 0);
    ready("new", s);
    name_of("new", s, 0);
    name_of("new", s, 1);
    T(sendto, s, "x", 1, 0, 0, 0);
    T(recvfrom, s, buf, 1, 0, 0, 0);
    T(accept4, s, 0, 0, 0);
    long lone = stream(0);
    T(shutdown, lone, SHUT_RDWR);
    S(close, lone);
    struct sockaddr_in any = in("0.0.0.0", 0), lo = in("127.0.0.1", 0), far = in("192.0.2.1", 80);
    T(bind, s, &far, sizeof far);
    T(bind, s, &lo, 8);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    T(bind, s, &six, sizeof six);
    T(connect, s, &six, sizeof six);
    T(bind, s, &lo, sizeof lo);
    T(bind, s, &lo, sizeof lo);
    name_of("bound", s, 0);
    is(port_of(s) >= 1024);
    lo.sin_port = htons((uint16_t)port_of(s));
    long c = stream(0);
    T(connect, c, &lo, sizeof lo);
    long other = stream(0);
    T(bind, other, &lo, sizeof lo);
    any.sin_port = lo.sin_port;
    T(bind, other, &any, sizeof any);
    T(listen, s, 2);
    ready("listening", s);
    T(read, s, buf, 1);
    T(connect, s, &lo, sizeof lo);
    T(connect, c, &lo, sizeof lo);
    T(connect, c, &lo, sizeof lo);
    name_of("client", c, 0);
    name_of("client's peer", c, 1);
    ready("listening", s);
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    long x = S(accept4, s, &from, &len, SOCK_CLOEXEC);
    is(x > 0 && len == sizeof from && ntohs(from.sin_port) == port_of(c));
    name_of("server's peer", x, 1);
    ready("client", c);
    T(write, c, "hello", 5);
    ready("server", x);
    int n;
    T(ioctl, x, FIONREAD, &n);
    num(n);
    T(recvfrom, x, buf, 3, MSG_PEEK, 0, 0);
    T(recvfrom, x, buf, 4, MSG_TRUNC, 0, 0);
    T(recvfrom, x, buf, sizeof buf, 0, &from, &len);
    T(recvfrom, x, buf, 1, MSG_DONTWAIT, 0, 0);

    /* Without waiting. */
    long e = stream(SOCK_NONBLOCK);
    T(connect, e, &lo, sizeof lo);
    ready("connected", e);
    err(e);
    T(connect, e, &lo, sizeof lo);
    T(connect, e, &lo, sizeof lo);
    long y = S(accept4, s, 0, 0, 0);
    T(accept4, e, 0, 0, 0);
    S(fcntl, s, F_SETFL, O_NONBLOCK);
    T(accept4, s, 0, 0, 0);

    /* The end of one direction. */
    T(shutdown, e, SHUT_WR);
    T(write, e, "x", 1);
    ready("half closed", y);
    T(read, y, buf, 1);
    T(write, y, "still", 5);
    T(read, e, buf, 64);
    T(close, y);
    ready("closed by both", e);
    T(read, e, buf, 64);
    T(close, e);

    /* Resets: by unread bytes, by SO_LINGER, by writing to nobody. */
    T(write, x, "unread", 6);
    T(close, c);
    ready("reset", x);
    err(x);
    ready("reset, and told", x);
    T(read, x, buf, 1);
    T(write, x, "x", 1);
    T(close, x);
    pair(&c, &x);
    struct linger hard = {1, 0};
    T(setsockopt, c, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    T(close, c);
    ready("lingered", x);
    T(read, x, buf, 1);
    T(read, x, buf, 1);
    T(close, x);
    pair(&c, &x);
    T(close, c);
    ready("finished", x);
    T(write, x, "first", 5);
    ready("after the first", x);
    T(write, x, "second", 6);
    T(read, x, buf, 1);
    T(close, x);

    /* A reset in the middle of much: part of it has gone, and then nothing more does. */
    static char big[8000000];
    pair(&c, &x);
    T(close, c);
    long part = S(write, x, big, sizeof big);
    is(part > 0 && part < (long)sizeof big);
    T(write, x, big, sizeof big);
    T(read, x, buf, 1);
    err(x);
    T(close, x);

    /* Urgent data. */
    pair(&c, &x);
    T(recvfrom, x, buf, 1, MSG_OOB, 0, 0);
    T(sendto, c, "abU", 3, MSG_OOB, 0, 0);
    T(sendto, c, "cd", 2, 0, 0, 0);
    ready("urgent", x);
    T(recvfrom, x, buf, 1, MSG_OOB, 0, 0);
    printf("%c\n", buf[0]);
    T(close, c);
    T(close, x);

    /* MSG_WAITALL, and a child that writes in pieces. */
    pair(&c, &x);
    if (fork() == 0) {
        for (int i = 0; i < 4; i++)
            S(write, c, "1234", 4), S(sched_yield);
        _exit(0);
    }
    T(recvfrom, x, buf, 16, MSG_WAITALL, 0, 0);
    wait(0);
    if (fork() == 0) {
        S(write, c, "1234", 4), S(shutdown, c, SHUT_WR);
        _exit(0);
    }
    T(recvfrom, x, buf, 16, MSG_WAITALL, 0, 0);
    wait(0);
    T(close, c);
    T(close, x);

    /* More than any buffer takes, to a child. */
    pair(&c, &x);
    if (fork() == 0) {
        S(close, c);
        static char in[100000];
        long sum = 0, r;
        while ((r = S(read, x, in, sizeof in)) > 0)
            for (long i = 0; i < r; i++)
                sum = sum * 31 + in[i];
        _exit((int)(sum & 0x7f));
    }
    S(close, x);
    long sum = 0;
    for (long i = 0; i < (long)sizeof big; i++)
        big[i] = (char)(i * 7 + i / 1000), sum = sum * 31 + big[i];
    T(write, c, big, sizeof big);
    T(close, c);
    int status;
    wait(&status);
    is(WEXITSTATUS(status) == (sum & 0x7f));

    /* Files and pipes into sockets. */
    pair(&c, &x);
    put("file", "bytes of a file");
    int f = (int)S(open, "file", O_RDONLY), p[2];
    T(sendfile, c, f, 0, 100);
    T(read, x, buf, 64);
    S(pipe, p);
    T(write, p[1], "through a pipe", 14);
    T(splice, p[0], 0, c, 0, 100, 0);
    T(splice, x, 0, p[1], 0, 7, 0);
    T(read, p[0], buf, 64);
    unlink("file");

    /* Readiness at edges. */
    long ep = S(epoll_create1, 0);
    struct epoll_event ev = {EPOLLIN | EPOLLRDHUP | EPOLLET, {.u64 = 5}}, got;
    T(epoll_ctl, ep, EPOLL_CTL_ADD, x, &ev);
    num(S(epoll_wait, ep, &got, 1, 0));
    num(S(epoll_wait, ep, &got, 1, 0));
    T(write, c, "x", 1);
    num(S(epoll_wait, ep, &got, 1, 1000));
    num(S(epoll_wait, ep, &got, 1, 0));
    T(shutdown, c, SHUT_WR);
    num(S(epoll_wait, ep, &got, 1, 1000));
    num((long)(got.events & EPOLLRDHUP));

    /* Times. */
    struct timeval tv = {0, 20000};
    T(setsockopt, c, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    T(recvfrom, c, buf, 1, 0, 0, 0);
    tv.tv_usec = 2000000;
    T(setsockopt, c, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);

    /* IPv6, and IPv4 at a socket of IPv6. */
    long s6 = S(socket, AF_INET6, SOCK_STREAM, 0);
    six.sin6_addr = in6addr_any;
    T(bind, s6, &six, sizeof six);
    T(listen, s6, 1);
    len = sizeof six;
    S(getsockname, s6, &six, &len);
    lo.sin_port = six.sin6_port;
    long c4 = stream(0);
    T(connect, c4, &lo, sizeof lo);
    struct sockaddr_in6 peer;
    len = sizeof peer;
    long x6 = S(accept4, s6, &peer, &len, 0);
    num(len);
    is(IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr));
    T(write, x6, "mapped", 6);
    T(read, c4, buf, 64);
    int one = 1;
    long only = S(socket, AF_INET6, SOCK_STREAM, 0);
    T(setsockopt, only, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    return 0;
}
