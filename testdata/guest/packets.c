// covers: socketpair socket bind listen connect accept4 sendto recvfrom recvmsg sendmsg shutdown ioctl readv
#include "guest.h"
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

/* SOCK_SEQPACKET of Unix sockets: messages in order over a connection; their bounds, ends and errors. */
int main(void)
{
    int s[2], n = -1;
    char buf[64];
    static char big[300000];
    struct iovec v[2] = {{buf, 2}, {buf + 10, 3}}, w[2] = {{"two ", 4}, {"parts", 5}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
    signal(SIGPIPE, SIG_IGN);
    T(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s);
    T(write, s[0], "first", 5), T(write, s[0], "second", 6), T(ioctl, s[1], FIONREAD, &n), num(n), T(read, s[1], buf, 3), T(read, s[1], buf, 64),
        T(read, s[1], buf, 64), T(writev, s[0], w, 2), T(readv, s[1], v, 2), printf("%.2s %.3s\n", buf, buf + 10);
    T(sendto, s[0], "abcdef", 6, 0, 0, 0), T(recvfrom, s[1], buf, 2, MSG_PEEK, 0, 0), T(recvfrom, s[1], buf, 2, MSG_PEEK | MSG_TRUNC, 0, 0),
        T(recvfrom, s[1], buf, 64, MSG_WAITALL, 0, 0), T(sendto, s[0], "ghij", 4, MSG_EOR, 0, 0), m.msg_flags = 0, T(recvmsg, s[1], &m, 0),
        num(m.msg_flags), T(sendto, s[0], "klmnopqrs", 9, 0, 0, 0), T(recvmsg, s[1], &m, 0), num(m.msg_flags), T(sendto, s[0], "tuvw", 4, 0, 0, 0),
        T(recvmsg, s[1], &m, MSG_TRUNC), num(m.msg_flags);
    T(sendto, s[0], "", 0, 0, 0, 0), T(ioctl, s[1], FIONREAD, &n), num(n), T(recvfrom, s[1], buf, 9, 0, 0, 0), T(recvfrom, s[1], buf, 9, 0, 0, 0),
        T(sendto, s[0], "x", 1, MSG_OOB, 0, 0), T(recvfrom, s[1], buf, 9, MSG_OOB, 0, 0);

    /* Larger than the buffer of the sender: never; as many as fit. */
    n = 100000, S(setsockopt, s[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof n), show("300,000 bytes", S(write, s[0], big, sizeof big)),
        show("100,000 bytes", S(write, s[0], big, 100000));
    int count = 0;
    while (S(write, s[0], big, 1000) == 1000)
        count++;
    is(count > 10), T(write, s[0], "x", 1), show("read", S(read, s[1], big, sizeof big)), T(write, s[0], "x", 1);
    while (S(read, s[1], big, sizeof big) > 0)
        ;
    /* Halves. */
    T(shutdown, s[0], SHUT_WR), T(write, s[0], "x", 1), T(read, s[1], buf, 9), T(write, s[1], "back", 4), T(read, s[0], buf, 9),
        T(shutdown, s[0], SHUT_RD), T(write, s[1], "x", 1), T(read, s[0], buf, 9), T(shutdown, s[0], 3), T(shutdown, s[0], -1), S(close, s[1]),
        T(read, s[0], buf, 9);
    S(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s), S(write, s[0], "unread", 6), S(write, s[1], "also", 4), S(close, s[1]),
        T(read, s[0], buf, 9), T(read, s[0], buf, 9), T(read, s[0], buf, 9), T(write, s[0], "x", 1);

    /* Over a name. */
    struct sockaddr_un a = {AF_UNIX, "sock"};
    long l = S(socket, AF_UNIX, SOCK_SEQPACKET, 0), c = S(socket, AF_UNIX, SOCK_SEQPACKET, 0);
    T(write, c, "x", 1), T(read, c, buf, 1), T(sendto, c, "x", 1, 0, &a, sizeof a), S(bind, l, &a, sizeof a), T(connect, c, &a, sizeof a),
        T(listen, l, 1), T(connect, c, &a, sizeof a), T(connect, c, &a, sizeof a), T(sendto, c, "hello", 5, 0, &a, sizeof a),
        T(sendto, c, "hello", 5, 0, 0, 0);
    long d = S(accept4, l, 0, 0, SOCK_NONBLOCK);
    socklen_t len = sizeof a;
    T(recvfrom, d, buf, 9, 0, &a, &len), num(len), T(read, l, buf, 1), T(write, l, "x", 1), T(close, c), T(read, d, buf, 9), T(write, d, "x", 1);
    return 0;
}
