// covers: socket bind connect sendto recvfrom recvmsg sendmsg setsockopt getsockopt poll
#include "guest.h"
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* UDP: errors that come back, connected sockets and others, corked messages, sizes. */
static struct sockaddr_in here(int port)
{
    struct sockaddr_in a = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
    return a;
}
static int port_of(long fd)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    return S(getsockname, fd, &a, &n) ? -1 : ntohs(a.sin_port);
}
static int ready(long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT, 0};
    for (int i = 0; i < 50 && !(p.revents & (POLLERR | POLLIN)); i++)
        S(poll, &p, 1, 0), usleep(100);
    return p.revents;
}
#define UDP S(socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)

int main(void)
{
    char buf[64];
    static char big[70000];
    int on = 1, off = 0, n = -1;
    long s = UDP, gone = UDP;
    struct sockaddr_in a = here(0), b;
    socklen_t len = sizeof b;
    S(bind, gone, &a, sizeof a);
    int nobody = port_of(gone);
    S(close, gone), a = here(nobody);
    /* Nobody there: only a connected socket hears of it. */
    T(sendto, s, "x", 1, 0, &a, sizeof a), num(ready(s)), T(recvfrom, s, buf, 9, 0, 0, 0), T(connect, s, &a, sizeof a), T(write, s, "x", 1),
        num(ready(s)), T(write, s, "y", 1), T(write, s, "z", 1), num(ready(s)), T(read, s, buf, 9), T(read, s, buf, 9), T(write, s, "x", 1), ready(s);
    socklen_t four = 4;
    T(getsockopt, s, SOL_SOCKET, SO_ERROR, &n, &four), num(n), T(getsockopt, s, SOL_SOCKET, SO_ERROR, &n, &four), num(n), S(write, s, "x", 1),
        ready(s), T(recvfrom, s, buf, 9, MSG_PEEK, 0, 0), T(recvfrom, s, buf, 9, 0, 0, 0);
    struct sockaddr none = {AF_UNSPEC, {0}};
    T(connect, s, &none, sizeof none), T(write, s, "x", 1), T(getpeername, s, &b, &len);

    /* With IP_RECVERR the message comes back with its address. */
    s = UDP, T(setsockopt, s, IPPROTO_IP, IP_RECVERR, &on, 4), T(sendto, s, "back", 4, 0, &a, sizeof a), num(ready(s)), T(recvfrom, s, buf, 9, 0, 0, 0);
    char control[512];
    struct iovec v = {buf, 64};
    struct msghdr m = {.msg_name = &b, .msg_namelen = sizeof b, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    T(recvmsg, s, &m, MSG_ERRQUEUE), printf("flags %#x port %d\n", m.msg_flags, ntohs(b.sin_port) == nobody);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        struct sock_extended_err *e = (void *)CMSG_DATA(c);
        printf("level %d type %d errno %s origin %d type %d code %d\n", c->cmsg_level, c->cmsg_type, strerrorname_np(e->ee_errno), e->ee_origin,
            e->ee_type, e->ee_code);
    }
    T(recvmsg, s, &m, MSG_ERRQUEUE), num(ready(s)), S(close, s);

    /* A connected one hears its partner alone, and others after it. */
    long r = UDP, x = UDP, y = UDP;
    a = here(0), S(bind, r, &a, sizeof a), S(bind, x, &a, sizeof a), S(bind, y, &a, sizeof a);
    struct sockaddr_in to_r = here(port_of(r)), to_x = here(port_of(x)), to_y = here(port_of(y));
    S(sendto, y, "before", 6, 0, &to_r, sizeof a), ready(r), T(connect, r, &to_x, sizeof a), T(sendto, y, "other", 5, 0, &to_r, sizeof a),
        T(sendto, x, "partner", 7, 0, &to_r, sizeof a), ready(r), T(read, r, buf, 64), T(read, r, buf, 64), T(read, r, buf, 64),
        T(sendto, r, "to y", 4, 0, &to_y, sizeof a), ready(y), T(read, y, buf, 64), T(connect, r, &none, sizeof none), num(port_of(r)),
        T(sendto, y, "again", 5, 0, &to_r, sizeof a), ready(r), T(read, r, buf, 64);
    /* Corked: several writes, one message. */
    T(setsockopt, x, IPPROTO_UDP, 1 /* UDP_CORK */, &on, 4), T(sendto, x, "one ", 4, 0, &to_r, sizeof a), T(sendto, x, "two", 3, 0, &to_r, sizeof a),
        T(read, r, buf, 64), T(setsockopt, x, IPPROTO_UDP, 1, &off, 4), ready(r), T(read, r, buf, 64),
        T(sendto, x, "more ", 5, MSG_MORE, &to_r, sizeof a), T(read, r, buf, 64), T(sendto, x, "done", 4, 0, &to_r, sizeof a), ready(r),
        T(read, r, buf, 64), T(read, r, buf, 64);
    /* Sizes. */
    show("65,507", S(sendto, x, big, 65507, 0, &to_r, sizeof a)), ready(r), T(ioctl, r, FIONREAD, &n), num(n),
        T(recvfrom, r, buf, 64, MSG_TRUNC, 0, 0), show("65,508", S(sendto, x, big, 65508, 0, &to_r, sizeof a)),
        T(sendto, x, "", 0, 0, &to_r, sizeof a), ready(r), T(recvfrom, r, buf, 64, 0, &b, &len), T(sendto, x, "x", 1, 0, 0, 0),
        T(sendto, x, "x", 1, 0, &to_r, 8), T(sendto, x, "x", 1, MSG_OOB, &to_r, sizeof a), T(sendto, x, BAD, 4, 0, &to_r, sizeof a),
        to_r.sin_port = 0, T(sendto, x, "x", 1, 0, &to_r, sizeof a), to_r.sin_family = AF_UNIX, T(sendto, x, "x", 1, 0, &to_r, sizeof a), T(shutdown, x, SHUT_RDWR), T(listen, x, 1),
        T(accept4, x, 0, 0, 0);
    return 0;
}
