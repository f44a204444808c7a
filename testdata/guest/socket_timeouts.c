// covers: setsockopt recvfrom sendto accept connect recvmmsg poll
#include "guest.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

/* Times after which calls of sockets give up: each call, each family, and signals meanwhile. */
static struct timespec began;
static void begin(void)
{
    clock_gettime(CLOCK_MONOTONIC, &began);
}
static void end(const char *what, long result)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000;
    printf("%s%s: %s\n", what, ms >= 4 ? ", after the time" : ", at once", result < 0 ? strerrorname_np((int)-result) : "ok");
}
#define TIMED(what, call) (begin(), end(what, call))
static void handler(int signo)
{
    (void)signo;
}

int main(void)
{
    struct timeval t = {0, 4500}, got;
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval soon = {{0, 0}, {0, 5000}};
    char buf[16];
    static char big[1 << 20];
    sigaction(SIGALRM, &a, 0), signal(SIGPIPE, SIG_IGN);
    const struct {
        const char *name;
        int family, type;
    } kinds[] = {{"Unix stream", AF_UNIX, SOCK_STREAM}, {"Unix datagram", AF_UNIX, SOCK_DGRAM}, {"Unix packets", AF_UNIX, SOCK_SEQPACKET},
        {"UDP", AF_INET, SOCK_DGRAM}};
    for (int i = 0; i < 4; i++) {
        int s[2] = {-1, -1}, n = 4096;
        printf("== %s\n", kinds[i].name);
        if (kinds[i].family == AF_UNIX)
            S(socketpair, AF_UNIX, kinds[i].type, 0, s);
        else {
            struct sockaddr_in in = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
            s[1] = socket(AF_INET, SOCK_DGRAM, 0), s[0] = socket(AF_INET, SOCK_DGRAM, 0), S(bind, s[1], &in, sizeof in);
        }
        S(setsockopt, s[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof n), S(setsockopt, s[0], SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t),
            S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
        TIMED("read", S(read, s[1], buf, 16)), TIMED("recvfrom", S(recvfrom, s[1], buf, 16, 0, 0, 0)),
            TIMED("peek", S(recvfrom, s[1], buf, 16, MSG_PEEK, 0, 0)), TIMED("dontwait", S(recvfrom, s[1], buf, 16, MSG_DONTWAIT, 0, 0)),
            TIMED("waitall", S(recvfrom, s[1], buf, 16, MSG_WAITALL, 0, 0));
        t.tv_usec = 20000, S(setsockopt, s[1], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t), S(setitimer, 0, &soon, 0),
            show("interrupted, though SA_RESTART", S(read, s[1], buf, 16)), t.tv_usec = 4500;
        if (kinds[i].family == AF_UNIX) {
            long r;
            for (int j = 0; j < 500 && (r = S(sendto, s[0], big, 1000, MSG_DONTWAIT, 0, 0)) > 0; j++)
                ;
            TIMED("write to a full one", S(write, s[0], big, 1000)), TIMED("dontwait", S(sendto, s[0], big, 1000, MSG_DONTWAIT, 0, 0));
            if (i == 0)
                begin(), r = S(read, s[1], big, 3000), show("room", S(write, s[0], big, 1 << 20) > 0);
        }
        socklen_t len = sizeof got;
        S(getsockopt, s[0], SOL_SOCKET, SO_SNDTIMEO, &got, &len), is(got.tv_sec == 0 && got.tv_usec >= 4500 && got.tv_usec <= 20000), S(close, s[0]),
            S(close, s[1]);
    }
    struct sockaddr_un u = {AF_UNIX, "sock"};
    int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_STREAM, 0);
    S(bind, l, &u, sizeof u), S(listen, l, 0), S(setsockopt, l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t),
        S(setsockopt, d, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t), TIMED("accept", S(accept, l, 0, 0)), TIMED("connect", S(connect, c, &u, sizeof u)),
        TIMED("connect to a full one", S(connect, d, &u, sizeof u)), TIMED("accept", S(accept, l, 0, 0) > 0 ? 0 : -1);
    /* The time is of the call, not of the description: a copy has it too. */
    int copy = dup(l);
    TIMED("copy", S(accept, copy, 0, 0)), t = (struct timeval){0, 0}, S(setsockopt, l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t),
        S(fcntl, l, F_SETFL, O_NONBLOCK), TIMED("without a time, not waiting", S(accept, copy, 0, 0)), t = (struct timeval){0x7fffffff, 0},
        show("for ever, nearly", S(setsockopt, l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
    return 0;
}
