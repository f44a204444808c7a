// covers: accept accept4 getsockopt setsockopt fcntl listen connect ioctl
#include "guest.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What an accepted socket has of the one that listened: options yes, flags of the descriptor no. */
static const struct {
    const char *name;
    int level, option, value;
} options[] = {{"KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1}, {"OOBINLINE", SOL_SOCKET, SO_OOBINLINE, 1}, {"REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1},
    {"BROADCAST", SOL_SOCKET, SO_BROADCAST, 1}, {"DONTROUTE", SOL_SOCKET, SO_DONTROUTE, 0}, {"PRIORITY", SOL_SOCKET, SO_PRIORITY, 5},
    {"RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, 7}, {"PASSCRED", SOL_SOCKET, SO_PASSCRED, 1}, {"TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP, 1},
    {"MARK?", SOL_SOCKET, SO_TIMESTAMPNS, 1}, {"TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1}, {"TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 77},
    {"TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, 3}, {"TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 9999},
    {"TCP_MAXSEG", IPPROTO_TCP, TCP_MAXSEG, 0}, {"TCP_DEFER_ACCEPT", IPPROTO_TCP, TCP_DEFER_ACCEPT, 0}, {"IP_TTL", IPPROTO_IP, IP_TTL, 42},
    {"IP_TOS", IPPROTO_IP, IP_TOS, 16}, {"IP_RECVTTL", IPPROTO_IP, IP_RECVTTL, 1}};

static int get(int fd, int level, int option)
{
    int v = -1;
    socklen_t n = sizeof v;
    return getsockopt(fd, level, option, &v, &n) ? -errno : v;
}

int main(void)
{
    struct sockaddr_in in = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    struct sockaddr_un un = {AF_UNIX, "sock"};
    for (int family = 0; family < 2; family++) {
        int l = socket(family ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), c = socket(family ? AF_UNIX : AF_INET, SOCK_STREAM, 0), on = 1, size = 30000;
        struct sockaddr *a = family ? (void *)&un : (void *)&in;
        socklen_t n = family ? sizeof un : sizeof in;
        struct linger linger = {1, 5}, got = {-1, -1};
        struct timeval t = {3, 0}, got_t = {-1, -1};
        printf("== %s\n", family ? "Unix" : "TCP"), bind(l, a, n), listen(l, 5), getsockname(l, a, &n);
        for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
            if (options[i].value)
                setsockopt(l, options[i].level, options[i].option, &options[i].value, sizeof(int));
        setsockopt(l, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t),
            setsockopt(l, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t), setsockopt(l, SOL_SOCKET, SO_RCVBUF, &size, sizeof size),
            setsockopt(l, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        S(fcntl, l, F_SETFL, O_NONBLOCK | O_ASYNC), S(fcntl, l, F_SETOWN, getpid()), S(fcntl, l, F_SETSIG, SIGURG), signal(SIGURG, SIG_IGN),
            signal(SIGIO, SIG_IGN);
        if (connect(c, a, n))
            printf("not connected\n");
        int s = accept(l, 0, 0);
        for (int i = 0; i < 100 && s < 0; i++)
            usleep(500), s = accept(l, 0, 0);
        for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
            if (options[i].value)
                printf("%s: listens %d, accepted %d, client %d\n", options[i].name, get(l, options[i].level, options[i].option),
                    get(s, options[i].level, options[i].option), get(c, options[i].level, options[i].option));
        n = sizeof got, getsockopt(s, SOL_SOCKET, SO_LINGER, &got, &n), printf("linger %d %d\n", got.l_onoff, got.l_linger), n = sizeof got_t,
            getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &got_t, &n), printf("receive timeout %ld\n", (long)got_t.tv_sec),
            getsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &got_t, &n), printf("send timeout %ld\n", (long)got_t.tv_sec),
            printf("receive buffer %d, send buffer %d\n", get(s, SOL_SOCKET, SO_RCVBUF), get(s, SOL_SOCKET, SO_SNDBUF));
        printf("accepting %d %d %d, type %d, protocol %d\n", get(l, SOL_SOCKET, SO_ACCEPTCONN), get(s, SOL_SOCKET, SO_ACCEPTCONN),
            get(c, SOL_SOCKET, SO_ACCEPTCONN), get(s, SOL_SOCKET, SO_TYPE), get(s, SOL_SOCKET, SO_PROTOCOL));
        printf("flags %#lo %#lo, to close %ld %ld\n", S(fcntl, l, F_GETFL), S(fcntl, s, F_GETFL), S(fcntl, l, F_GETFD), S(fcntl, s, F_GETFD)),
            num(S(fcntl, s, F_GETOWN)), num(S(fcntl, s, F_GETSIG));
        int c2 = socket(family ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
        n = family ? sizeof un : sizeof in, connect(c2, a, n), usleep(1000), s = accept4(l, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC),
            printf("flags %#lo, to close %ld\n", S(fcntl, s, F_GETFL), S(fcntl, s, F_GETFD)), S(ioctl, s, FIONBIO, &on),
            printf("%#lo\n", S(fcntl, s, F_GETFL));
    }
    return 0;
}
