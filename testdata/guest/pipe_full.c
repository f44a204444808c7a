// covers: pipe2 fcntl write read readv writev poll splice tee sendfile ioctl mknod
#include "guest.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

static int p[2];
static char big[1 << 20];

static void fresh(int flags)
{
    if (p[0])
        S(close, p[0]), S(close, p[1]);
    S(pipe2, p, O_NONBLOCK | flags);
}

static int polled(int fd)
{
    struct pollfd one = {fd, POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI, 0};
    S(poll, &one, 1, 0);
    return one.revents;
}

static void state(const char *what)
{
    int held = -1;
    S(ioctl, p[0], FIONREAD, &held);
    printf("%s: %d bytes, in %x out %x\n", what, held, polled(p[0]), polled(p[1]));
}

/* How many writes of a size fit, and how a read of another makes room. */
static void fill(long size, long take)
{
    fresh(0);
    long count = 0, last;
    while ((last = S(write, p[1], big, size)) == size)
        count++;
    printf("%ld: %ld writes, then %ld\n", size, count, last);
    state("full");
    show("read", S(read, p[0], big, take));
    state("after");
    show("write", S(write, p[1], big, 100));
    show("write", S(write, p[1], big, 5000));
    state("again");
}

int main(void)
{
    fill(1, 1), fill(1, 4096), fill(100, 4000), fill(3000, 2999), fill(3000, 3000), fill(4095, 5000);
    fill(4096, 4095), fill(4096, 4096), fill(4097, 8193), fill(5000, 20000), fill(65536, 1), fill(100000, 70000);

    /* Sizes. */
    fresh(0);
    const long sizes[] = {0, 1, 4096, 4097, 65536, 1 << 20, 5000, -1};
    for (int i = 0; i < 8; i++) {
        show("size", S(fcntl, p[0], F_SETPIPE_SZ, sizes[i]));
        show("size", S(fcntl, p[1], F_GETPIPE_SZ, 0));
    }
    S(fcntl, p[1], F_SETPIPE_SZ, 65536);
    S(write, p[1], big, 20000);
    T(fcntl, p[1], F_SETPIPE_SZ, 8192);
    T(fcntl, p[1], F_SETPIPE_SZ, 20000);
    long file = S(open, "f", O_RDWR | O_CREAT, 0644);
    T(fcntl, file, F_GETPIPE_SZ, 0), T(fcntl, file, F_SETPIPE_SZ, 4096);

    /* Packets: each write is one, a read takes one and drops its rest. */
    fresh(O_DIRECT);
    num(S(fcntl, p[0], F_GETFL)), num(S(fcntl, p[1], F_GETFL));
    char buf[64];
    T(write, p[1], "first", 5), T(write, p[1], "second", 6), T(write, p[1], "", 0), T(write, p[1], "3", 1);
    state("packets");
    T(read, p[0], buf, 3), T(read, p[0], buf, 64), T(read, p[0], buf, 64), T(read, p[0], buf, 64);
    struct iovec two[2] = {{buf, 2}, {buf + 8, 8}};
    T(write, p[1], "abcdef", 6), T(write, p[1], "gh", 2);
    memset(buf, 0, sizeof buf);
    T(readv, p[0], two, 2);
    printf("%.2s %s\n", buf, buf + 8);
    T(readv, p[0], two, 2);
    T(writev, p[1], two, 2);
    T(read, p[0], buf, 64);
    long count = 0;
    while (S(write, p[1], "x", 1) == 1)
        count++;
    num(count);
    state("sixteen");
    T(read, p[0], big, sizeof big);
    while (S(read, p[0], big, sizeof big) > 0)
        ;
    T(write, p[1], big, 10000);
    state("long");
    T(read, p[0], big, sizeof big), T(read, p[0], big, sizeof big), T(read, p[0], big, sizeof big);
    /* The mode comes and goes. */
    T(fcntl, p[1], F_SETFL, O_NONBLOCK);
    T(write, p[1], "ab", 2), T(write, p[1], "cd", 2), T(read, p[0], big, 64);
    T(fcntl, p[1], F_SETFL, O_NONBLOCK | O_DIRECT);
    T(write, p[1], "ab", 2), T(write, p[1], "cd", 2), T(read, p[0], big, 64), T(read, p[0], big, 64);
    fresh(0);
    T(pipe2, BAD, O_DIRECT), T(pipe2, p, O_APPEND), T(pipe2, p, ~0);

    /* Pages of a file in a pipe are not joined. */
    S(write, file, big, 20000);
    off_t at = 100;
    T(splice, file, &at, p[1], NULL, 9000, 0);
    num(at);
    state("spliced");
    T(write, p[1], "abc", 3);
    count = 0;
    at = 5;
    while (S(splice, file, &at, p[1], NULL, 10, 0) == 10)
        count++;
    num(count), num(at);
    show("splice", S(splice, file, &at, p[1], NULL, 10, 0));
    state("full of pages");
    T(write, p[1], "abc", 3);
    int q[2];
    S(pipe2, q, O_NONBLOCK);
    T(tee, p[0], q[1], 5000, 0);
    T(write, q[1], "joined?", 7);
    T(splice, q[0], NULL, p[1], NULL, 10, 0);
    T(splice, p[0], NULL, q[1], NULL, 4097, 0);
    T(splice, p[0], NULL, q[1], NULL, 1 << 20, 0);
    T(splice, p[0], NULL, q[1], NULL, 1 << 20, 0);
    T(tee, p[0], q[1], 1, 0), T(tee, q[0], p[1], 0, 0), T(tee, q[0], q[1], 1, 0), T(tee, q[0], p[1], 1, 16);
    T(tee, file, p[1], 1, 0), T(tee, q[1], p[1], 1, 0), T(tee, 99, p[1], 1, 0);
    T(splice, q[0], NULL, q[1], NULL, 1, 0), T(splice, q[0], NULL, p[1], NULL, 0, 99);
    T(splice, q[0], NULL, p[1], NULL, 1, 16), T(splice, q[0], &at, p[1], NULL, 1, 0);
    T(splice, file, NULL, file, NULL, 1, 0), T(splice, q[0], BAD, file, NULL, 1, 0);
    T(splice, file, BAD, p[1], NULL, 1, 0), T(splice, 99, NULL, p[1], NULL, 1, 0);
    T(splice, p[1], NULL, file, NULL, 1, 0), T(splice, file, NULL, p[0], NULL, 1, 0);
    at = -1;
    T(splice, file, &at, p[1], NULL, 1, 0);
    at = 3;
    T(splice, q[0], NULL, file, &at, 30, 0);
    num(at), num(S(lseek, file, 0, SEEK_CUR));
    T(splice, q[0], NULL, file, NULL, 30, 0);
    num(S(lseek, file, 0, SEEK_CUR));
    long append = S(open, "f", O_WRONLY | O_APPEND);
    T(splice, q[0], NULL, append, NULL, 1, 0), T(sendfile, append, file, NULL, 1);
    long e = S(eventfd2, 0, 0);
    T(splice, e, NULL, p[1], NULL, 8, 0), T(splice, q[0], NULL, e, NULL, 8, 0);
    while (S(read, p[0], big, sizeof big) > 0)
        ;
    while (S(read, q[0], big, sizeof big) > 0)
        ;
    T(splice, p[0], NULL, file, NULL, 1, 0), T(splice, p[0], NULL, q[1], NULL, 1, 0), T(tee, p[0], q[1], 1, 0);
    at = 0;
    T(sendfile, p[1], file, &at, 30000), T(sendfile, p[1], file, &at, 30000);
    num(at);
    T(sendfile, file, p[0], NULL, 1), T(sendfile, file, p[0], &at, 1), T(sendfile, p[1], file, BAD, 1);
    at = -5;
    T(sendfile, p[1], file, &at, 1), T(sendfile, 99, file, NULL, 1), T(sendfile, p[1], 99, NULL, 1);
    S(lseek, file, 0, SEEK_SET);
    T(sendfile, p[0], file, NULL, 1), T(sendfile, e, file, NULL, 8);

    /* Ends. */
    S(close, q[1]);
    while (S(read, q[0], big, sizeof big) > 0)
        ;
    T(splice, q[0], NULL, p[1], NULL, 1, 0), T(tee, q[0], p[1], 1, 0), T(read, q[0], buf, 1);
    signal(SIGPIPE, SIG_IGN);
    S(close, p[0]);
    T(write, p[1], "", 0), T(write, p[1], "x", 1), T(splice, file, NULL, p[1], NULL, 1, 0);
    printf("%x %x\n", polled(p[1]), polled(q[0]));

    /* A pipe with a name: no end before a writer came and went. */
    T(mknod, "fifo", S_IFIFO | 0600, 0);
    long in = S(open, "fifo", O_RDONLY | O_NONBLOCK);
    T(open, "fifo", O_WRONLY | O_NONBLOCK | O_DIRECTORY);
    printf("%x\n", polled(in));
    T(read, in, buf, 1);
    long out = S(open, "fifo", O_WRONLY | O_NONBLOCK);
    printf("%x %x\n", polled(in), polled(out));
    T(read, in, buf, 1);
    S(close, out);
    printf("%x\n", polled(in));
    T(read, in, buf, 1);
    long in2 = S(open, "fifo", O_RDONLY | O_NONBLOCK);
    printf("%x %x\n", polled(in), polled(in2));
    long both = S(open, "fifo", O_RDWR | O_NONBLOCK);
    T(write, both, "q", 1), T(read, in2, buf, 4);
    printf("%x %x\n", polled(in2), polled(both));
    return 0;
}
