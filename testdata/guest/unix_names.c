// covers: socket bind connect getsockname getpeername listen accept unlink rename sendto recvfrom
#include "guest.h"
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Names of Unix sockets: of the file system, abstract, and bound by themselves; their lengths and their lives. */
static struct sockaddr_un a;

static socklen_t path(const char *text, size_t n)
{
    memset(&a, 0, sizeof a), a.sun_family = AF_UNIX, memcpy(a.sun_path, text, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}
static void name(const char *what, long fd, int peer)
{
    struct sockaddr_un b;
    socklen_t n = sizeof b;
    memset(&b, '?', sizeof b);
    long r = peer ? S(getpeername, fd, &b, &n) : S(getsockname, fd, &b, &n);
    if (r < 0) {
        show(what, r);
        return;
    }
    printf("%s: %d bytes:", what, (int)n);
    for (int i = 2; i < (int)n && i < 40; i++)
        printf("%c", ((char *)&b)[i] ? ((char *)&b)[i] : '@');
    printf("\n");
}
#define DGRAM S(socket, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)
#define STREAM S(socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)

int main(void)
{
    char buf[64], longest[108];
    struct stat st;
    /* Bound by itself: an abstract name of five digits. */
    long s = DGRAM, t = DGRAM;
    name("unbound", s, 0);
    path("", 0), T(bind, s, &a, 2), T(bind, t, &a, 2);
    struct sockaddr_un b;
    socklen_t n = sizeof b;
    S(getsockname, s, &b, &n), is(n == 8 && b.sun_path[0] == 0 && strspn(b.sun_path + 1, "0123456789abcdef") >= 5), T(bind, s, &a, 2),
        T(sendto, t, "to it", 5, 0, &b, n), T(recvfrom, s, buf, sizeof buf, 0, &b, &n), num(n), S(close, s), S(close, t);

    /* Abstract names are bytes, zeros too; gone with the socket. */
    char abstract[12] = "\0cgemu\0name";
    for (int i = 7, pid = getpid(); i < 12; i++, pid /= 16)
        abstract[i] = (char)('a' + pid % 16);
    s = DGRAM, t = DGRAM, T(bind, s, &a, path(abstract, 12)), T(bind, t, &a, path(abstract, 12)), T(connect, t, &a, path(abstract, 11)),
        T(connect, t, &a, path(abstract, 12)), T(bind, t, &a, path(abstract, 11)), T(write, t, "x", 1), n = sizeof b,
        T(recvfrom, s, buf, 9, 0, &b, &n), num(n), is(memcmp(b.sun_path, abstract, 11) == 0), S(close, s), T(write, t, "x", 1),
        T(connect, t, &a, path(abstract, 12)), s = DGRAM, T(bind, s, &a, path(abstract, 12)), S(close, s), S(close, t);

    /* Paths: with a zero at the end or without; the longest. */
    s = STREAM, T(bind, s, &a, path("one", 3)), name("without zero", s, 0), S(close, s), s = STREAM, T(bind, s, &a, path("one", 4)),
        T(bind, s, &a, path("two\0junk", 8)), name("with more", s, 0), T(lstat, "two", &st), is(S_ISSOCK(st.st_mode)), num(st.st_size), S(close, s),
        T(lstat, "two", &st);
    memset(longest, 'n', sizeof longest), s = STREAM, show("108 letters", S(bind, s, &a, path(longest, 108))), name("longest", s, 0), t = STREAM,
        show("connect", S(connect, t, &a, path(longest, 108))), show("107 letters", S(bind, t, &a, path(longest, 107))),
        show("one byte too many", S(bind, t, &a, 111)), S(close, s), S(close, t);
    s = STREAM, T(bind, s, &a, path("", 1)), name("a name of one zero", s, 0), S(close, s), s = STREAM, T(bind, s, &a, path("none/x", 6)),
        T(bind, s, &a, path("host/file/x", 11)), T(bind, s, &a, path("host", 4)), T(bind, s, &a, path("host/link", 9)),
        T(bind, s, &a, path("host/dangling", 13)), T(bind, s, &a, 1), T(bind, s, &a, 0), a.sun_family = AF_INET, T(bind, s, &a, 16),
        T(bind, s, BAD, 10), T(bind, 99, &a, 10), T(bind, 1, &a, 10);

    /* A name may go, move and come again while the socket listens. */
    T(bind, s, &a, path("listens", 8)), t = STREAM, T(connect, t, &a, path("listens", 8)), T(listen, s, 5), T(rename, "listens", "moved"),
        T(connect, t, &a, path("listens", 8)), T(connect, t, &a, path("moved", 6)), name("peer as it was bound", t, 1);
    long c = S(accept, s, 0, 0);
    name("accepted", c, 0), name("its peer", c, 1), T(unlink, "moved"), T(write, t, "still", 5), T(read, c, buf, 9);
    long u = STREAM, v = STREAM;
    T(connect, u, &a, path("moved", 6)), T(bind, u, &a, path("moved", 6)), T(connect, v, &a, path("moved", 6)), T(listen, u, 1),
        T(connect, v, &a, path("moved", 6)), T(link, "moved", "second"), v = STREAM, T(connect, v, &a, path("second", 7)),
        S(symlink, "second", "soft"), v = STREAM, T(connect, v, &a, path("soft", 5)), T(open, "moved", O_RDWR), T(chmod, "moved", 0),
        T(truncate, "moved", 0), T(connect, v, &a, path("host/file", 10));
    /* Kinds do not mix. */
    long d = DGRAM, q = S(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    T(connect, d, &a, path("second", 7)), T(connect, q, &a, path("second", 7)), T(sendto, d, "x", 1, 0, &a, path("second", 7)), T(listen, d, 1),
        T(bind, d, &a, path("datagram", 9)), T(connect, STREAM, &a, path("datagram", 9)), T(sendto, t, "x", 1, 0, &a, 11);
    return 0;
}
