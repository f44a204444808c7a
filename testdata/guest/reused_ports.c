// covers: bind listen setsockopt connect accept4 close
#include "guest.h"
#include <netinet/in.h>
#include <sys/socket.h>

/* Two sockets and one port: every pair of options, addresses, kinds and states. */
static int made(int type, int options, unsigned address, int port, int listens, long *result)
{
    int on = 1, fd = socket(AF_INET, type, 0);
    struct sockaddr_in a = {AF_INET, htons(port), {htonl(address)}, {0}};
    if (options & 1)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (options & 2)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    *result = S(bind, fd, &a, sizeof a);
    if (*result == 0 && listens)
        *result = S(listen, fd, 5);
    return fd;
}

int main(void)
{
    static const char *options[] = {"nothing", "REUSEADDR", "REUSEPORT", "both"};
    const unsigned addresses[] = {INADDR_LOOPBACK, INADDR_ANY, 0x7f000002};
    static const char *names[] = {"127.0.0.1", "0.0.0.0", "127.0.0.2"};
    long r, r2;
    for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++)
        for (int listens = 0; listens < (type == SOCK_STREAM ? 2 : 1); listens++)
            for (int first = 0; first < 4; first++)
                for (int second = 0; second < 4; second++)
                    for (int where = 0; where < 3; where++)
                        for (int there = 0; there < 2; there++) {
                            int a = made(type, first, addresses[there], 0, listens, &r);
                            struct sockaddr_in own;
                            socklen_t n = sizeof own;
                            getsockname(a, (void *)&own, &n);
                            int b = made(type, second, addresses[where], ntohs(own.sin_port), listens, &r2);
                            printf("%s%s %s at %s, then %s at %s: %s\n", type == SOCK_STREAM ? "TCP" : "UDP", listens ? " listening" : "",
                                options[first], names[there], options[second], names[where],
                                r < 0 ? "first failed" : r2 < 0 ? strerrorname_np((int)-r2) : "ok");
                            close(a), close(b);
                        }
    /* Bound alike, and then listening. */
    int a = made(SOCK_STREAM, 1, INADDR_LOOPBACK, 0, 0, &r);
    struct sockaddr_in own;
    socklen_t n = sizeof own;
    getsockname(a, (void *)&own, &n);
    int b = made(SOCK_STREAM, 1, INADDR_LOOPBACK, ntohs(own.sin_port), 0, &r);
    show("both bound", r), T(listen, a, 1), T(listen, b, 1), T(close, a), T(listen, b, 1);
    /* A connection that is still there, and its listener's port. */
    int c = socket(AF_INET, SOCK_STREAM, 0);
    n = sizeof own, T(connect, c, &own, n), close(b);
    made(SOCK_STREAM, 0, INADDR_LOOPBACK, ntohs(own.sin_port), 1, &r), show("connection not accepted, listener gone", r), close(c);
    a = made(SOCK_STREAM, 0, INADDR_LOOPBACK, 0, 1, &r), getsockname(a, (void *)&own, &n), c = socket(AF_INET, SOCK_STREAM, 0), T(connect, c, &own, n);
    int s = accept(a, 0, 0);
    close(a), close(made(SOCK_STREAM, 0, INADDR_LOOPBACK, ntohs(own.sin_port), 1, &r)), show("connection there, plain", r),
        close(made(SOCK_STREAM, 1, INADDR_LOOPBACK, ntohs(own.sin_port), 1, &r)), show("connection there, REUSEADDR", r), close(s), close(c);
    /* Ports of the first 1024 are root's, of others anybody's. */
    made(SOCK_STREAM, 0, INADDR_LOOPBACK, 65535, 0, &r), show("65535", r == -EADDRINUSE ? 0 : r);
    return 0;
}
