// covers: sendmmsg recvmmsg socketpair socket bind
#include "guest.h"
#include <netinet/in.h>
#include <sys/socket.h>

/* Several messages by one call: what is done before an error, what becomes of the error, and several places. */
static struct mmsghdr m[8];
static struct iovec v[8];
static char text[8][16];

static void fill(int n, size_t len)
{
    memset(m, 0, sizeof m);
    for (int i = 0; i < n; i++)
        v[i] = (struct iovec){text[i], len}, m[i].msg_hdr.msg_iov = &v[i], m[i].msg_hdr.msg_iovlen = 1, m[i].msg_len = 99;
}
static void lengths(const char *what, int n)
{
    printf("%s:", what);
    for (int i = 0; i < n; i++)
        printf(" %u%s", m[i].msg_len, m[i].msg_hdr.msg_flags & MSG_TRUNC ? "t" : "");
    printf("\n");
}

int main(void)
{
    int s[2], r[2], u = socket(AF_INET, SOCK_DGRAM, 0);
    const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};
    static const char *names[] = {"datagram", "packets"};
    signal(SIGPIPE, SIG_IGN);
    for (int t = 0; t < 2; t++) {
        printf("== %s\n", names[t]), S(socketpair, AF_UNIX, types[t] | SOCK_NONBLOCK, 0, s);
        for (int i = 0; i < 8; i++)
            snprintf(text[i], 16, "message %d", i);
        fill(4, 9), v[1].iov_len = 3, T(sendmmsg, s[0], m, 4, 0), lengths("sent", 4);
        fill(8, 5), T(recvmmsg, s[1], m, 8, 0, 0), lengths("received", 8);
        fill(8, 16), T(recvmmsg, s[1], m, 8, 0, 0), T(recvmmsg, s[1], m, 0, 0, 0), T(sendmmsg, s[0], m, 0, 0);
        fill(4, 9), v[2].iov_base = BAD, T(sendmmsg, s[0], m, 4, 0), lengths("one bad", 4), T(sendmmsg, s[0], m + 2, 2, 0);
        fill(8, 16), T(recvmmsg, s[1], m, 8, 0, 0), fill(3, 9), T(sendmmsg, s[0], m, 3, 0), fill(8, 16), T(recvmmsg, s[1], m, 2, 0, 0);
        T(recvmmsg, s[1], m, 8, MSG_WAITFORONE, 0), T(sendmmsg, 99, m, 1, 0), T(sendmmsg, 0, m, 1, 0);
        S(close, s[1]), fill(2, 9), T(sendmmsg, s[0], m, 2, 0), T(sendmmsg, s[0], m, 2, MSG_NOSIGNAL), S(close, s[0]);
    }
    /* To several places. */
    struct sockaddr_in a[2] = {{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}}, {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}}};
    fill(4, 9);
    for (int i = 0; i < 2; i++) {
        socklen_t n = sizeof a[i];
        r[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), S(bind, r[i], &a[i], n), S(getsockname, r[i], &a[i], &n);
    }
    for (int i = 0; i < 4; i++)
        m[i].msg_hdr.msg_name = &a[i % 2], m[i].msg_hdr.msg_namelen = sizeof a[0];
    T(sendmmsg, u, m, 4, 0), m[1].msg_hdr.msg_namelen = 3, T(sendmmsg, u, m, 4, 0), lengths("sent", 4), usleep(1000);
    fill(8, 16), T(recvmmsg, r[0], m, 8, 0, 0), fill(8, 16), T(recvmmsg, r[1], m, 8, 0, 0);
    return 0;
}
