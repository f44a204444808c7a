// covers: splice tee vmsplice pipe2 sendfile socketpair
#include "guest.h"
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Bytes that go through pipes without a copy: between files, sockets and pipes, with and without offsets. */
static char buf[200000];

static void got(const char *what, long fd)
{
    long n = S(read, fd, buf, sizeof buf);
    if (n < 0)
        show(what, n);
    else
        printf("%s %ld: %.*s\n", what, n, n < 40 ? (int)n : 40, buf);
}

int main(void)
{
    int p[2], q[2], s[2];
    long off = 3, out = 2;
    put("in", "0123456789abcdef"), put("out", "................");
    long in = S(open, "in", O_RDONLY), to = S(open, "out", O_RDWR), wo = S(open, "out", O_WRONLY);
    S(pipe2, p, O_NONBLOCK), S(pipe2, q, O_NONBLOCK), S(socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s);
    T(splice, in, 0, p[1], 0, 4, 0), num(S(lseek, in, 0, SEEK_CUR)), T(splice, in, &off, p[1], 0, 4, 0), num(off), num(S(lseek, in, 0, SEEK_CUR)),
        got("pipe", p[0]);
    off = 16, T(splice, in, &off, p[1], 0, 4, 0), off = 100, T(splice, in, &off, p[1], 0, 4, 0), off = -1, T(splice, in, &off, p[1], 0, 4, 0),
        T(splice, in, 0, p[1], 0, 0, 0), got("empty", p[0]);
    S(write, p[1], "HELLO", 5), T(splice, p[0], 0, to, &out, 3, 0), num(out), T(splice, p[0], 0, to, 0, 10, 0), num(S(lseek, to, 0, SEEK_CUR)),
        cat("out"), T(splice, p[0], 0, to, 0, 10, SPLICE_F_NONBLOCK), T(splice, p[0], 0, to, 0, 10, 0);

    /* Errors. */
    T(splice, in, 0, to, 0, 4, 0), T(splice, 99, 0, p[1], 0, 4, 0), T(splice, in, 0, 99, 0, 4, 0), T(splice, p[0], &off, q[1], 0, 4, 0),
        T(splice, p[0], 0, q[1], &off, 4, 0), T(splice, p[1], 0, q[0], 0, 4, 0), T(splice, p[0], 0, p[1], 0, 4, 0), T(splice, wo, 0, p[1], 0, 4, 0),
        T(splice, p[0], 0, in, 0, 4, 0), T(splice, in, BAD, p[1], 0, 4, 0), T(splice, in, 0, p[1], 0, 4, 16), T(tee, p[0], p[1], 4, 0),
        T(tee, in, p[1], 4, 0), T(tee, p[0], in, 4, 0), T(tee, p[0], q[1], 0, 0), T(tee, p[0], q[1], 4, SPLICE_F_NONBLOCK), T(tee, p[0], q[1], 4, 16);

    /* tee leaves what it copies. */
    S(write, p[1], "abc", 3), S(write, p[1], "def", 3), T(tee, p[0], q[1], 100, 0), got("copy", q[0]), T(tee, p[0], q[1], 4, 0),
        got("copy of 4", q[0]), got("still there", p[0]);
    S(write, p[1], "move", 4), T(splice, p[0], 0, q[1], 0, 2, 0), got("moved", q[0]), got("rest", p[0]);

    /* Sockets. */
    S(write, p[1], "to the socket", 13), T(splice, p[0], 0, s[0], 0, 100, 0), got("socket", s[1]), S(write, s[1], "from it", 7),
        T(splice, s[0], 0, p[1], 0, 4, 0), got("pipe", p[0]), got("socket", s[0]), T(splice, s[0], 0, p[1], 0, 4, 0), off = 0,
        T(splice, s[0], &off, p[1], 0, 4, 0);
    S(shutdown, s[1], SHUT_WR), T(splice, s[0], 0, p[1], 0, 4, 0);

    /* A full pipe, an empty one without writers, one without readers. */
    memset(buf, 'f', sizeof buf), num(S(write, p[1], buf, sizeof buf)), T(splice, in, &off, p[1], 0, 4, 0),
        T(splice, in, &off, p[1], 0, 4, SPLICE_F_NONBLOCK), S(write, q[1], "q", 1), T(tee, q[0], p[1], 1, 0), T(splice, q[0], 0, p[1], 0, 1, 0),
        got("full", p[0]), got("q", q[0]);
    S(close, q[1]), T(splice, q[0], 0, p[1], 0, 5, 0), T(tee, q[0], p[1], 5, 0), S(close, p[0]), signal(SIGPIPE, SIG_IGN), T(splice, in, &off, p[1], 0, 4, 0);

    /* vmsplice takes from memory, and gives to it. */
    S(pipe2, p, O_NONBLOCK);
    struct iovec v[3] = {{"vm", 2}, {"splice", 6}, {BAD, 3}};
    char *room = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec into = {room, 5};
    T(vmsplice, p[1], v, 2, 0), T(vmsplice, p[0], &into, 1, 0), printf("%.5s\n", room), got("rest", p[0]), T(vmsplice, p[1], v, 3, 0),
        got("before a hole", p[0]), T(vmsplice, p[1], v + 2, 1, 0), T(vmsplice, p[1], v, 0, 0), S(write, p[1], "x", 1), T(vmsplice, p[1], v, 1025, 0),
        T(vmsplice, in, v, 1, 0), T(vmsplice, p[0], &into, 1, 0), T(vmsplice, p[1], v, 1, 32);

    /* sendfile, of the offset or its own. */
    off = 10, S(lseek, in, 2, SEEK_SET), T(sendfile, p[1], in, &off, 4), num(off), T(sendfile, p[1], in, 0, 4), num(S(lseek, in, 0, SEEK_CUR)),
        got("both", p[0]), T(sendfile, p[1], in, 0, 0), T(sendfile, p[1], p[0], 0, 4), T(sendfile, in, to, 0, 4), T(sendfile, to, wo, 0, 4), off = -1,
        T(sendfile, p[1], in, &off, 4), off = 0, T(sendfile, to, in, &off, 100), cat("out"), T(sendfile, to, in, BAD, 4);
    return 0;
}
