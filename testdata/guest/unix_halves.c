// covers: shutdown socketpair read write poll epoll_wait sendto recvfrom connect close
#include "guest.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* shutdown(2) of Unix sockets, of each type: what either side may still do, and what waits in between. */
static int s[2];

static void state(const char *what)
{
    char buf[32];
    struct pollfd p[2] = {{s[0], POLLIN | POLLOUT | POLLRDHUP, 0}, {s[1], POLLIN | POLLOUT | POLLRDHUP, 0}};
    S(poll, p, 2, 0), printf("%s: first %#x second %#x\n", what, p[0].revents, p[1].revents);
    for (int i = 0; i < 2; i++) {
        long w = S(sendto, s[i], "text", 4, MSG_DONTWAIT, 0, 0), r = S(recvfrom, s[!i], buf, 32, MSG_DONTWAIT, 0, 0);
        printf("  %s to %s: %s, %s %ld\n", i ? "second" : "first", i ? "first" : "second", w < 0 ? strerrorname_np((int)-w) : "sent",
            r < 0 ? strerrorname_np((int)-r) : "received", r < 0 ? 0 : r);
    }
}

int main(void)
{
    const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    static const char *names[] = {"stream", "datagram", "packets"}, *hows[] = {"SHUT_RD", "SHUT_WR", "SHUT_RDWR"};
    char buf[32];
    signal(SIGPIPE, SIG_IGN);
    for (int t = 0; t < 3; t++)
        for (int how = 0; how < 3; how++) {
            printf("== %s %s\n", names[t], hows[how]), S(socketpair, AF_UNIX, types[t], 0, s), state("open"), S(write, s[0], "before from first", 17),
                S(write, s[1], "before from second", 18), T(shutdown, s[0], how),
                show("second reads", S(recvfrom, s[1], buf, 32, MSG_DONTWAIT, 0, 0)),
                show("first reads", S(recvfrom, s[0], buf, 32, MSG_DONTWAIT, 0, 0)), state("shut"), T(shutdown, s[0], how),
                T(shutdown, s[1], SHUT_WR), state("and the second's writing"), T(shutdown, s[1], 7), S(close, s[1]),
                show("first reads", S(recvfrom, s[0], buf, 32, MSG_DONTWAIT, 0, 0)),
                show("first writes", S(sendto, s[0], "x", 1, MSG_DONTWAIT, 0, 0)), T(shutdown, s[0], SHUT_RDWR), S(close, s[0]);
        }
    /* Sockets that are not connected. */
    struct sockaddr_un a = {AF_UNIX, "sock"};
    for (int t = 0; t < 3; t++) {
        long u = S(socket, AF_UNIX, types[t], 0);
        printf("== %s alone\n", names[t]), T(shutdown, u, SHUT_RD), T(shutdown, u, SHUT_WR), T(recvfrom, u, buf, 9, MSG_DONTWAIT, 0, 0),
            S(bind, u, &a, sizeof a), T(listen, u, 1), T(shutdown, u, SHUT_RDWR);
        long v = S(socket, AF_UNIX, types[t], 0);
        T(connect, v, &a, sizeof a), T(sendto, v, "x", 1, MSG_DONTWAIT, 0, 0), S(close, u), S(close, v), S(unlink, "sock");
    }
    T(shutdown, 99, 0), T(shutdown, 1, 0);
    return 0;
}
