// covers: socket socketpair bind listen accept accept4 connect getsockname getpeername shutdown sendto recvfrom setsockopt getsockopt
#include "guest.h"
#include <poll.h>
#include <stddef.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Streams of Unix sockets: names, connections, their ends and their errors. */
static struct sockaddr_un un(const char *path)
{
    struct sockaddr_un a = {AF_UNIX, ""};
    strcpy(a.sun_path, path);
    return a;
}

static void name_of(const char *what, long fd, int peer)
{
    struct sockaddr_un a;
    memset(&a, 'x', sizeof a);
    socklen_t len = sizeof a;
    long r = peer ? S(getpeername, fd, &a, &len) : S(getsockname, fd, &a, &len);
    if (r < 0) {
        show(what, r);
        return;
    }
    printf("%s: length %d family %d '%.*s'\n", what, (int)len, a.sun_family,
           len > 2 ? (int)len - 2 : 0, a.sun_path);
}

static void ready(const char *what, long fd)
{
    struct pollfd p = {(int)fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0};
    long r = S(poll, &p, 1, 0);
    printf("%s: %ld%s%s%s%s%s\n", what, r, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "",
           p.revents & POLLHUP ? " hup" : "", p.revents & POLLRDHUP ? " rdhup" : "", p.revents & POLLERR ? " err" : "");
}

static int get(long fd, int name)
{
    int v = -77;
    socklen_t len = sizeof v;
    long r = S(getsockopt, fd, SOL_SOCKET, name, &v, &len);
    return r < 0 ? (int)r : v;
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_un a = un("sock"), b = un("file"), none = un("none/sock");
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 5;
    put("file", "x");

    /* Arguments of socket(2). */
    T(socket, AF_UNIX, SOCK_STREAM, 2);
    T(socket, AF_UNIX, SOCK_RDM, 0);
    T(socket, AF_UNIX, SOCK_STREAM | 0x10, 0);
    T(socket, 99, SOCK_STREAM, 0);
    T(socket, AF_INET, SOCK_SEQPACKET, 0);
    T(socket, AF_INET, SOCK_STREAM, IPPROTO_UDP);
    T(socket, AF_INET, SOCK_STREAM, 999);
    int pair[2];
    T(socketpair, AF_INET, SOCK_STREAM, 0, pair);
    T(socketpair, AF_UNIX, SOCK_STREAM, 0, BAD);

    long s = T(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    num(S(fcntl, s, F_GETFD));
    ready("new", s);
    num(get(s, SO_TYPE));
    num(get(s, SO_DOMAIN));
    num(get(s, SO_PROTOCOL));
    num(get(s, SO_ACCEPTCONN));
    name_of("unbound", s, 0);
    name_of("unconnected", s, 1);
    char buf[64];
    T(sendto, s, "x", 1, 0, 0, 0);
    T(recvfrom, s, buf, 1, 0, 0, 0);
    T(read, s, buf, 1);
    T(accept, s, 0, 0);
    T(listen, s, 5);
    T(connect, s, &a, len);
    T(connect, s, &b, sizeof b);
    T(connect, s, &none, sizeof none);
    T(connect, s, &a, 1);
    T(connect, s, &a, 111);
    T(connect, s, BAD, sizeof a);
    T(connect, 99, &a, sizeof a);
    T(connect, 1, &a, sizeof a);
    T(bind, s, &b, sizeof b);
    T(bind, s, &none, sizeof none);
    T(bind, s, &a, 1);
    T(bind, s, &a, len);
    T(bind, s, &a, len);
    struct sockaddr_un other = un("other");
    T(bind, s, &other, sizeof other);
    name_of("bound", s, 0);
    struct stat st;
    T(stat, "sock", &st);
    printf("mode %o size %ld\n", st.st_mode, (long)st.st_size);
    T(open, "sock", O_RDWR);
    long c = S(socket, AF_UNIX, SOCK_STREAM, 0);
    T(connect, c, &a, len);
    T(listen, s, 1);
    num(get(s, SO_ACCEPTCONN));
    ready("listening", s);
    T(connect, c, &a, len);
    T(connect, c, &a, len);
    name_of("client", c, 0);
    name_of("client's peer", c, 1);
    ready("listening", s);
    ready("client", c);
    T(sendto, c, "early", 5, 0, 0, 0);

    /* The backlog: two places for a backlog of one. */
    long d = S(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), e = S(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    T(connect, d, &a, len);
    T(connect, e, &a, len);
    long dg = S(socket, AF_UNIX, SOCK_DGRAM, 0);
    T(connect, dg, &a, len);

    struct sockaddr_un from;
    socklen_t flen = sizeof from;
    T(accept4, s, &from, &flen, 1);
    long x = show("accepted", S(accept4, s, &from, &flen, SOCK_NONBLOCK));
    num(flen);
    name_of("server's", x, 0);
    name_of("server's peer", x, 1);
    T(recvfrom, x, buf, 3, MSG_PEEK, 0, 0);
    int n;
    T(ioctl, x, FIONREAD, &n);
    num(n);
    T(recvfrom, x, buf, sizeof buf, 0, 0, 0);
    T(recvfrom, x, buf, sizeof buf, 0, 0, 0);
    T(fcntl, x, F_GETFL);
    T(sendto, x, "x", 1, 0, &a, len);
    T(sendto, s, "x", 1, 0, &a, len);
    T(lseek, x, 0, SEEK_SET);
    T(pread64, x, buf, 1, 0);
    T(fsync, x);
    T(ftruncate, x, 0);

    /* Shutdown of one direction after the other. */
    T(shutdown, x, 3);
    T(shutdown, c, SHUT_WR);
    T(write, c, "x", 1);
    ready("half closed", x);
    T(read, x, buf, 1);
    T(write, x, "back", 4);
    T(read, c, buf, sizeof buf);
    T(shutdown, c, SHUT_RD);
    T(write, x, "back", 4);
    ready("closed", c);
    T(close, c);
    T(close, x);

    /* A connection that nobody accepted, and one with bytes that nobody read. */
    T(sendto, d, "lost", 4, 0, 0, 0);
    T(close, s);
    ready("refused", d);
    num(get(d, SO_ERROR));
    T(read, d, buf, 1);
    T(close, d);
    T(connect, e, &a, len);
    T(unlink, "sock");
    T(connect, e, &a, len);
    S(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    T(write, pair[0], "unread", 6);
    T(write, pair[1], "kept", 4);
    T(close, pair[1]);
    ready("reset", pair[0]);
    T(read, pair[0], buf, 4);
    T(read, pair[0], buf, 4);
    T(read, pair[0], buf, 4);
    T(write, pair[0], "x", 1);
    T(sendto, pair[0], "x", 1, MSG_NOSIGNAL, 0, 0);

    /* Abstract names, and those that bind(2) chooses. */
    struct sockaddr_un abs = {AF_UNIX, "\0cgemu-test"};
    char unique[32];
    socklen_t alen = 2 + 1 + (socklen_t)sprintf(unique, "cgemu-test-%d", getpid());
    memcpy(abs.sun_path + 1, unique, strlen(unique));
    long p = S(socket, AF_UNIX, SOCK_STREAM, 0), q = S(socket, AF_UNIX, SOCK_STREAM, 0);
    T(bind, p, &abs, alen);
    T(bind, q, &abs, alen);
    T(connect, q, &abs, alen - 1);
    T(listen, p, 0);
    T(bind, q, &a, 2);
    struct sockaddr_un chosen;
    flen = sizeof chosen;
    T(getsockname, q, &chosen, &flen);
    num(flen);
    num(chosen.sun_path[0]);
    T(connect, q, &abs, alen);
    flen = 2;
    T(accept, p, &from, &flen);
    num(flen);
    flen = (socklen_t)-1;
    T(getsockname, p, &from, &flen);
    T(getsockname, p, &from, BAD);
    close(p), close(q);
    unlink("file");
    return 0;
}
