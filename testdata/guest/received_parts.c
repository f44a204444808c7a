// covers: recvfrom recvmsg sendto setsockopt getsockopt socketpair poll sendmmsg recvmmsg
#include "child.h"
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* How much a receiver takes: MSG_PEEK, MSG_WAITALL, MSG_TRUNC, SO_RCVLOWAT, SO_PEEK_OFF and timeouts, of streams and of
 * messages. */
static int s[2];

static void two_pieces(void)
{
    S(write, s[0], "abc", 3), usleep(3000), S(write, s[0], "defgh", 5);
}
static int opt(int name, int value)
{
    return (int)S(setsockopt, s[1], SOL_SOCKET, name, &value, sizeof value);
}
static int get(int name)
{
    int v = -99;
    socklen_t n = sizeof v;
    long r = S(getsockopt, s[1], SOL_SOCKET, name, &v, &n);
    return r < 0 ? (int)r : v;
}
static void pair(int type)
{
    if (type < 9) {
        S(socketpair, AF_UNIX, type, 0, s);
        return;
    }
    struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    socklen_t n = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0);
    bind(l, (void *)&a, n), listen(l, 1), getsockname(l, (void *)&a, &n), s[0] = socket(AF_INET, SOCK_STREAM, 0), connect(s[0], (void *)&a, n),
        s[1] = accept(l, 0, 0), close(l);
}
static long get_(size_t n, int flags)
{
    static char buf[64];
    memset(buf, '.', sizeof buf);
    long r = S(recvfrom, s[1], buf, n, flags, 0, 0);
    if (r >= 0)
        printf("  '%.*s'", (int)(r > 20 ? 20 : r), buf);
    return r;
}
#define R(n, flags) show(" recv " #n " " #flags, get_(n, flags))

int main(void)
{
    const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, 9};
    static const char *names[] = {"stream", "datagram", "packets", "TCP"};
    for (int i = 0; i < 4; i++) {
        int messages = i == 1 || i == 2;
        printf("== %s\n", names[i]), pair(types[i]);
        S(write, s[0], "0123456789", 10), usleep(1000), R(4, MSG_PEEK), R(4, MSG_PEEK), R(4, MSG_PEEK | MSG_WAITALL), R(4, 0), R(20, MSG_DONTWAIT),
            R(20, MSG_DONTWAIT), S(write, s[0], "0123456789", 10), usleep(1000), R(0, MSG_DONTWAIT), R(0, MSG_PEEK | MSG_DONTWAIT),
            R(3, MSG_TRUNC | MSG_DONTWAIT), R(20, MSG_DONTWAIT);
        /* All or nothing of streams; a message is always whole. */
        pid_t pid = child(two_pieces);
        R(8, MSG_WAITALL), reap(pid);
        if (messages)
            R(8, 0);
        pid = child(two_pieces), R(4, MSG_WAITALL), reap(pid), R(20, MSG_DONTWAIT);
        struct timeval t = {0, 4000}, none = {0, 0}, bad = {0, 1000000}, negative = {-1, 0};
        S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t), S(write, s[0], "abc", 3), R(8, MSG_WAITALL), R(8, MSG_DONTWAIT),
            show("bad timeout", S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &bad, sizeof bad)),
            show("negative timeout", S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &negative, sizeof negative)),
            show("short timeout", S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &t, 8)), R(8, MSG_DONTWAIT),
            S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
        /* A low-water mark: for reads of streams, and for poll where Linux looks at it. */
        show("low water 5", opt(SO_RCVLOWAT, 5)), num(get(SO_RCVLOWAT)), S(write, s[0], "abc", 3), usleep(1000);
        struct pollfd p = {s[1], POLLIN, 0};
        S(poll, &p, 1, 0), printf("3 bytes: %#x\n", p.revents), R(8, MSG_DONTWAIT), S(write, s[0], "abcdefg", 7), usleep(1000), S(poll, &p, 1, 0),
            printf("7 bytes: %#x\n", p.revents), R(2, 0), R(8, MSG_DONTWAIT), show("0", opt(SO_RCVLOWAT, 0)), num(get(SO_RCVLOWAT)),
            show("-1", opt(SO_RCVLOWAT, -1)), num(get(SO_RCVLOWAT) == 0x7fffffff), opt(SO_RCVLOWAT, 1);
        /* Peeking from an offset that moves. */
        num(get(SO_PEEK_OFF)), show("peek from 2", i == 3 ? 0 : opt(SO_PEEK_OFF, 2));
        if (i != 3) {
            S(write, s[0], "abcdefgh", 8), R(3, MSG_PEEK), num(get(SO_PEEK_OFF)), R(3, MSG_PEEK), num(get(SO_PEEK_OFF)), R(2, 0),
                num(get(SO_PEEK_OFF)), R(9, MSG_PEEK | MSG_DONTWAIT), R(9, MSG_DONTWAIT), num(get(SO_PEEK_OFF)), show("off", opt(SO_PEEK_OFF, -1)),
                show("-2", opt(SO_PEEK_OFF, -2)), num(get(SO_PEEK_OFF));
            R(9, MSG_DONTWAIT);
        }
        R(4, MSG_OOB), R(4, MSG_ERRQUEUE | MSG_DONTWAIT), S(close, s[0]), R(4, MSG_DONTWAIT), S(close, s[1]);
    }
    return 0;
}
