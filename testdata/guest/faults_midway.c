// covers: read write readv writev recvmsg sendmsg eventfd2
#include "guest.h"
#include <sys/socket.h>
#include <sys/uio.h>

/* Memory that ends in the middle of what is read or written. */
static char buf[64], large[3 * 4096];
static char *border;
static const char text[16] = "abcdefghijklmnop";

/* What is left to be read. */
static void rest(long fd) { show("rest", S(read, fd, buf, sizeof buf)); }

static void reads(long from, long to)
{
    struct iovec v[] = {{buf, 4}, {border, 8}, {buf + 8, 4}}, bad[] = {{buf, 4}, {BAD, 8}, {buf + 8, 4}};
    S(write, to, text, 16), T(readv, from, v, 3), rest(from);
    S(write, to, text, 16), T(readv, from, bad, 3), rest(from);
    S(write, to, text, 16), T(read, from, border, 8), rest(from);
}
static void writes(long from, long to)
{
    struct iovec v[] = {{buf, 4}, {border, 8}, {buf + 8, 4}}, bad[] = {{buf, 4}, {BAD, 8}, {buf + 8, 4}};
    T(writev, to, v, 3), rest(from), T(writev, to, bad, 3), rest(from), T(write, to, border, 8), rest(from);
}
static void at(long fd) { show("at", S(lseek, fd, 0, SEEK_CUR)); }

int main(void)
{
    char *pages = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 2 * 4096, 4096), border = pages + 2 * 4096 - 4;
    int p[2];
    struct iovec v[] = {{buf, 4}, {border, 8}, {buf + 8, 4}}, bad[] = {{buf, 4}, {BAD, 8}, {buf + 8, 4}};

    puts("pipe");
    S(pipe2, p, O_NONBLOCK), reads(p[0], p[1]), writes(p[0], p[1]);
    /* Whole pages of it count. */
    T(write, p[1], pages, sizeof large), T(read, p[0], large, sizeof large);
    S(write, p[1], large, sizeof large), T(read, p[0], pages, sizeof large), T(read, p[0], large, sizeof large);

    puts("file");
    long fd = S(open, "midway", O_RDWR | O_CREAT, 0644);
    S(write, fd, text, 16), S(lseek, fd, 0, SEEK_SET), T(readv, fd, v, 3), at(fd), T(readv, fd, bad, 3), at(fd), S(lseek, fd, 0, SEEK_SET), T(read, fd, border, 8), at(fd);
    T(writev, fd, v, 3), at(fd), T(writev, fd, bad, 3), at(fd), T(write, fd, border, 8), at(fd), S(unlink, "midway");

    for (int i = 0; i < 3; i++) {
        int type = (int[]){SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM}[i], s[2];
        struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};
        printf("socket %d\n", type);
        S(socketpair, AF_UNIX, type | SOCK_NONBLOCK, 0, s);
        if (type != SOCK_STREAM)
            reads(s[0], s[1]);
        writes(s[0], s[1]), T(sendmsg, s[1], &m, 0), rest(s[0]);
        if (type != SOCK_STREAM)
            S(write, s[1], text, 16), T(recvmsg, s[0], &m, 0), rest(s[0]);
    }

    puts("devices");
    fd = S(open, "/dev/zero", O_RDWR);
    T(readv, fd, v, 3), T(readv, fd, bad, 3), T(writev, fd, bad, 3);
    fd = S(eventfd2, 1, O_NONBLOCK), T(write, fd, border, 8), T(read, fd, border, 8), T(read, fd, buf, 8);
    return 0;
}
