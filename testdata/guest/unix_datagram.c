// covers: sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg connect bind
#include "guest.h"
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Datagrams and sequenced packets of Unix sockets. */
static struct sockaddr_un un(const char *path)
{
    struct sockaddr_un a = {AF_UNIX, ""};
    strcpy(a.sun_path, path);
    return a;
}

static void take(long fd, size_t room, int flags)
{
    char buf[256];
    struct sockaddr_un from;
    memset(&from, 0, sizeof from);
    struct iovec v[2] = {{buf, room / 2}, {buf + 64, room - room / 2}};
    struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = v, .msg_iovlen = 2};
    long r = S(recvmsg, fd, &m, flags);
    if (r < 0) {
        show("recvmsg", r);
        return;
    }
    printf("recvmsg: %ld flags %#x from %d '%s'\n", r, m.msg_flags, (int)m.msg_namelen, from.sun_path);
}

static void ready(const char *what, long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT | POLLRDHUP, 0};
    long r = S(poll, &p, 1, 0);
    printf("%s: %ld%s%s%s%s%s\n", what, r, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "",
           p.revents & POLLHUP ? " hup" : "", p.revents & POLLRDHUP ? " rdhup" : "", p.revents & POLLERR ? " err" : "");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_un a = un("a"), b = un("b");
    long s = S(socket, AF_UNIX, SOCK_DGRAM, 0), t = S(socket, AF_UNIX, SOCK_DGRAM, 0), u = S(socket, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    ready("new", s);
    T(sendto, s, "x", 1, 0, 0, 0);
    T(sendto, s, "x", 1, 0, &a, sizeof a);
    T(listen, s, 1);
    T(accept, s, 0, 0);
    T(bind, s, &a, sizeof a);
    T(bind, t, &b, sizeof b);
    T(sendto, t, "hello", 5, 0, &a, sizeof a);
    T(sendto, u, "nobody", 6, 0, &a, sizeof a);
    T(sendto, u, "", 0, 0, &a, sizeof a);
    T(sendto, u, "oob", 3, MSG_OOB, &a, sizeof a);
    ready("three", s);
    int n;
    T(ioctl, s, FIONREAD, &n);
    num(n);
    take(s, 3, MSG_PEEK);
    take(s, 3, MSG_PEEK | MSG_TRUNC);
    take(s, 3, 0);
    take(s, 60, 0);
    take(s, 60, 0);
    take(s, 60, MSG_DONTWAIT);
    take(u, 60, 0);
    take(s, 60, MSG_OOB);

    /* Connected ones. */
    T(connect, u, &a, sizeof a);
    T(write, u, "via connect", 11);
    T(connect, s, &b, sizeof b);
    T(write, u, "refused", 7);
    T(sendto, t, "allowed", 7, 0, &a, sizeof a);
    T(connect, t, &a, sizeof a);
    struct sockaddr unspec = {AF_UNSPEC, ""};
    T(connect, s, &unspec, sizeof unspec);
    take(s, 60, MSG_DONTWAIT);
    T(write, t, "again", 5);
    T(getpeername, s, &unspec, &(socklen_t){sizeof unspec});

    /* The queue: eleven messages of those that are not connected to. */
    long count = 0;
    while (S(write, u, "fill", 4) == 4)
        count++;
    printf("%ld fit: ", count);
    T(write, u, "full", 4);
    ready("full", u);
    take(s, 60, 0);
    ready("one less", u);

    /* Big ones. */
    static char big[300000];
    T(sendto, t, big, sizeof big, 0, 0, 0);
    T(write, t, big, sizeof big);
    T(close, s);
    T(write, t, "x", 1);
    T(write, t, "x", 1);
    T(unlink, "a");
    T(unlink, "b");

    /* Several at once. */
    int pair[2];
    T(socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
    char one[8] = "one", two[8] = "second", got[4][8];
    struct iovec v[2] = {{one, 3}, {two, 6}}, w[4];
    struct mmsghdr send[2], receive[4];
    memset(send, 0, sizeof send);
    memset(receive, 0, sizeof receive);
    for (int i = 0; i < 2; i++)
        send[i].msg_hdr.msg_iov = &v[i], send[i].msg_hdr.msg_iovlen = 1;
    for (int i = 0; i < 4; i++) {
        w[i] = (struct iovec){got[i], 5};
        receive[i].msg_hdr.msg_iov = &w[i], receive[i].msg_hdr.msg_iovlen = 1;
    }
    T(sendmmsg, pair[0], send, 2, 0);
    num(send[1].msg_len);
    T(recvmmsg, pair[1], receive, 4, MSG_WAITFORONE, 0);
    num(receive[0].msg_len);
    num(receive[1].msg_len);
    num(receive[1].msg_hdr.msg_flags);
    T(recvmmsg, pair[1], receive, 4, MSG_DONTWAIT, 0);
    T(sendmmsg, pair[0], BAD, 2, 0);
    T(shutdown, pair[0], SHUT_WR);
    T(write, pair[0], "x", 1);
    ready("shut", pair[0]);
    T(recvfrom, pair[1], one, 8, MSG_DONTWAIT, 0, 0);
    T(shutdown, pair[1], SHUT_RD);
    T(recvfrom, pair[1], one, 8, 0, 0, 0);
    T(write, pair[1], "x", 1);
    close(pair[0]);
    T(write, pair[1], "x", 1);
    close(pair[1]);

    /* Sequenced packets. */
    T(socketpair, AF_UNIX, SOCK_SEQPACKET, 0, pair);
    T(write, pair[0], "first", 5);
    T(sendto, pair[0], "second", 6, MSG_EOR, 0, 0);
    take(pair[1], 3, 0);
    take(pair[1], 60, 0);
    T(write, pair[0], "", 0);
    T(ioctl, pair[1], FIONREAD, &n);
    num(n);
    T(shutdown, pair[0], SHUT_WR);
    ready("shut", pair[1]);
    take(pair[1], 60, 0);
    take(pair[1], 60, 0);
    take(pair[1], 60, MSG_DONTWAIT);
    T(write, pair[0], "x", 1);
    close(pair[0]);
    T(write, pair[1], "x", 1);
    ready("gone", pair[1]);
    long q = S(socket, AF_UNIX, SOCK_SEQPACKET, 0);
    T(write, q, "x", 1);
    T(read, q, one, 1);
    ready("unconnected", q);
    return 0;
}
