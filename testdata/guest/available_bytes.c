// covers: ioctl read write socketpair pipe2 open eventfd2 lseek
#include "guest.h"
#include <netinet/in.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* FIONREAD, FIONBIO, FIOCLEX and their kin on every kind of descriptor, and SIOCOUTQ of sockets. */
static void ask(const char *what, int fd)
{
    int n = -7, q = -7, on = 1, off = 0;
    long a = S(ioctl, fd, FIONREAD, &n), b = S(ioctl, fd, TIOCOUTQ, &q);
    printf("== %s\n", what), show("FIONREAD", a < 0 ? a : n), show("TIOCOUTQ", b < 0 ? b : q), show("FIONBIO", S(ioctl, fd, FIONBIO, &on)),
        printf("%#lo\n", S(fcntl, fd, F_GETFL)), S(ioctl, fd, FIONBIO, &off), show("FIOCLEX", S(ioctl, fd, FIOCLEX, 0)), num(S(fcntl, fd, F_GETFD)),
        show("FIONCLEX", S(ioctl, fd, FIONCLEX, 0)), num(S(fcntl, fd, F_GETFD)), show("FIONBIO of nothing", S(ioctl, fd, FIONBIO, BAD)),
        show("FIONREAD of nothing", S(ioctl, fd, FIONREAD, BAD)), show("FIGETBSZ", S(ioctl, fd, FIGETBSZ, &n) < 0 ? S(ioctl, fd, FIGETBSZ, &n) : 0),
        show("TCGETS", S(ioctl, fd, TCGETS, BAD)), show("unknown", S(ioctl, fd, 0x12345678, 0));
}

int main(void)
{
    int p[2], s[2];
    char buf[64];
    put("f", "0123456789");
    int f = (int)S(open, "f", O_RDWR);
    ask("file", f), S(lseek, f, 4, SEEK_SET), ask("at 4", f), S(lseek, f, 5000, SEEK_SET), ask("behind the end", f), S(lseek, f, 0x300000000, SEEK_SET),
        ask("far behind it", f), ask("directory", (int)S(open, "host", O_RDONLY)), ask("/dev/null", (int)S(open, "/dev/null", O_RDWR)), ask("path", (int)S(open, "f", O_PATH)),
        ask("closed", 99);
    S(pipe2, p, 0), ask("pipe, empty", p[0]), S(write, p[1], "abc", 3), S(write, p[1], "defg", 4), ask("pipe", p[0]), ask("its other end", p[1]),
        S(read, p[0], buf, 2), ask("2 read", p[0]), ask("eventfd", (int)S(eventfd2, 1, 0)), ask("epoll", (int)S(epoll_create1, 0));
    const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    for (int i = 0; i < 3; i++) {
        S(socketpair, AF_UNIX, types[i] | SOCK_NONBLOCK, 0, s), S(write, s[0], "abc", 3), S(write, s[0], "defg", 4);
        int n = -1, q = -1;
        show("FIONREAD", S(ioctl, s[1], FIONREAD, &n)), num(n), show("SIOCOUTQ", S(ioctl, s[0], TIOCOUTQ, &q)), is(q > 0), S(read, s[1], buf, 2),
            S(ioctl, s[1], FIONREAD, &n), num(n), S(read, s[1], buf, 64), S(read, s[1], buf, 64 * (i > 0)), S(ioctl, s[0], TIOCOUTQ, &q), num(q),
            S(close, s[0]), S(ioctl, s[1], FIONREAD, &n), num(n), S(close, s[1]);
    }
    struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), u = socket(AF_INET, SOCK_DGRAM, 0), n = -1;
    S(bind, l, &a, sizeof a), S(listen, l, 1), S(getsockname, l, &a, &len), show("listening", S(ioctl, l, FIONREAD, &n)), S(connect, c, &a, sizeof a),
        s[0] = (int)S(accept, l, 0, 0), S(write, c, "hello", 5), usleep(2000), show("TCP", S(ioctl, s[0], FIONREAD, &n)), num(n),
        show("SIOCOUTQ", S(ioctl, c, TIOCOUTQ, &n)), num(n), show("SIOCATMARK", S(ioctl, s[0], SIOCATMARK, &n)), num(n),
        show("UDP", S(ioctl, u, FIONREAD, &n)), num(n);
    return 0;
}
