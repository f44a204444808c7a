// covers: pipe2 read write splice tee fcntl readv ioctl
#include "guest.h"
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <poll.h>

/* Pipes with O_DIRECT: each write is a packet, a read takes one, and loses what it has no room for. */
static int there(int fd)
{
    int n = -1;
    S(ioctl, fd, FIONREAD, &n);
    return n;
}

int main(void)
{
    int p[2], q[2];
    static char buf[20000];
    T(pipe2, p, O_DIRECT | O_NONBLOCK), printf("%#lo %#lo\n", S(fcntl, p[0], F_GETFL), S(fcntl, p[1], F_GETFL));
    T(write, p[1], "first", 5), T(write, p[1], "second", 6), T(write, p[1], "", 0), num(there(p[0]));
    T(read, p[0], buf, 100), T(read, p[0], buf, 3), printf("%.3s\n", buf), T(read, p[0], buf, 100), T(read, p[0], buf, 0);
    T(write, p[1], "abc", 3), T(read, p[0], buf, 0), T(read, p[0], buf, 9);
    memset(buf, 'x', sizeof buf), T(write, p[1], buf, 4096), T(write, p[1], buf, 5000), num(there(p[0])), T(read, p[0], buf, sizeof buf),
        T(read, p[0], buf, sizeof buf), T(read, p[0], buf, sizeof buf), T(read, p[0], buf, sizeof buf);
    struct iovec v[3] = {{"one ", 4}, {"two ", 4}, {"three", 5}}, in[2] = {{buf, 6}, {buf + 100, 6}};
    T(writev, p[1], v, 3), T(readv, p[0], in, 2), printf("%.6s|%.6s\n", buf, buf + 100), T(read, p[0], buf, 9);

    /* As many packets as slots. */
    T(fcntl, p[1], F_SETPIPE_SZ, 4096);
    T(write, p[1], "a", 1), T(write, p[1], "b", 1);
    struct pollfd out = {p[1], POLLOUT, 0};
    T(poll, &out, 1, 0), T(read, p[0], buf, 9), T(poll, &out, 1, 0), T(fcntl, p[1], F_SETPIPE_SZ, 16384);
    for (int i = 0; i < 5; i++)
        T(write, p[1], "packet", 6);
    for (int i = 0; i < 5; i++)
        T(read, p[0], buf, 9);

    /* Switched on and off: packets stay what they are. */
    T(fcntl, p[1], F_SETFL, O_NONBLOCK), T(write, p[1], "st", 2), T(write, p[1], "ream", 4), T(read, p[0], buf, 9), T(write, p[1], "loose", 5),
        T(fcntl, p[1], F_SETFL, O_NONBLOCK | O_DIRECT), T(write, p[1], "packet", 6), T(write, p[1], "next", 4), T(fcntl, p[1], F_SETFL, O_NONBLOCK),
        T(write, p[1], "!", 1), T(read, p[0], buf, 99), T(read, p[0], buf, 99), T(read, p[0], buf, 99);

    /* Copies keep them. */
    T(fcntl, p[1], F_SETFL, O_NONBLOCK | O_DIRECT), S(pipe2, q, O_NONBLOCK), T(write, p[1], "one", 3), T(write, p[1], "two", 3),
        T(tee, p[0], q[1], 100, 0), T(read, q[0], buf, 99), T(read, q[0], buf, 99), T(splice, p[0], 0, q[1], 0, 100, 0), T(read, q[0], buf, 99),
        T(read, q[0], buf, 99), T(write, p[1], "abcdef", 6), T(splice, p[0], 0, q[1], 0, 2, 0), T(read, q[0], buf, 99), T(read, p[0], buf, 99);
    T(close, p[1]), T(read, p[0], buf, 9);
    /* Only pipes that are made so; a named one may be set. */
    S(mknod, "fifo", S_IFIFO | 0600, 0);
    long f = T(open, "fifo", O_RDWR | O_NONBLOCK | O_DIRECT);
    f = f < 0 ? S(open, "fifo", O_RDWR | O_NONBLOCK) : f;
    T(fcntl, f, F_SETFL, O_NONBLOCK | O_DIRECT), T(write, f, "a", 1), T(write, f, "b", 1), T(read, f, buf, 9), T(read, f, buf, 9);
    return 0;
}
