// covers: read readv recvfrom recvmsg socketpair socket sendto
#include "cases.h"
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* What a socket keeps when the buffer of a call that receives ends too early: a page that may be written, and one that may not. */
static char *pages;
static char good[1 << 16], text[1 << 16];

/* The bytes that are there still, by their first and last. */
static void rest(int fd)
{
    long n = S(recvfrom, fd, good, sizeof good, MSG_DONTWAIT, 0, 0);
    if (n > 0)
        printf("  rest %ld from %d to %d\n", n, good[0], good[n - 1]);
    else
        show("  rest", n);
}

static void bytes(const char *what, long n)
{
    show(what, n);
    if (n > 0)
        printf("  from %d to %d\n", pages[0], pages[n - 1]);
}

static void send_all(int fd, int times, int len)
{
    for (int i = 0; i < times; i++)
        S(sendto, fd, text + i * len, len, 0, 0, 0);
}

/* Both ends of a connection. */
static void connected(int family, int type, int fds[2])
{
    if (family == AF_UNIX) {
        S(socketpair, AF_UNIX, type, 0, fds);
        return;
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int other = S(socket, AF_INET, type, 0);
    S(bind, other, &at, len), S(getsockname, other, &at, &len);
    if (type == SOCK_STREAM)
        S(listen, other, 1);
    fds[0] = S(socket, AF_INET, type, 0);
    S(connect, fds[0], &at, len);
    fds[1] = type == SOCK_STREAM ? S(accept, other, 0, 0) : other;
}

static void each(int family, int type)
{
    int fds[2];
    char *end = pages + 4096;
    connected(family, type, fds);
    int to = fds[0], from = fds[1];
    printf("one of 8000\n");
    send_all(to, 1, 8000), bytes("read", S(read, from, pages, 8192)), rest(from);
    send_all(to, 1, 8000), bytes("read 4000", S(read, from, pages, 4000));
    if (type == SOCK_STREAM)
        bytes("read on", S(read, from, pages, 8192));
    rest(from);
    printf("nowhere\n");
    send_all(to, 1, 100), bytes("read", S(read, from, end, 100)), rest(from);
    send_all(to, 1, 100), bytes("recvfrom", S(recvfrom, from, BAD, 100, 0, 0, 0)), rest(from);
    send_all(to, 1, 100), bytes("peek", S(recvfrom, from, end - 10, 100, MSG_PEEK, 0, 0)), rest(from);
    printf("fits\n");
    send_all(to, 1, 100), bytes("read", S(read, from, pages, 8192)), rest(from);
    send_all(to, 1, 4096), bytes("read", S(read, from, pages, 8192)), rest(from);
    printf("vectors\n");
    struct iovec v[2] = {{pages, 50}, {end, 50}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
    send_all(to, 1, 100), bytes("readv", S(readv, from, v, 2)), rest(from);
    send_all(to, 1, 100), bytes("recvmsg", S(recvmsg, from, &m, 0)), rest(from);
    send_all(to, 1, 50), bytes("recvmsg", S(recvmsg, from, &m, 0)), rest(from);
    if (type == SOCK_DGRAM) {
        printf("the next\n");
        send_all(to, 2, 100), bytes("read", S(read, from, end, 100)), rest(from), rest(from);
        send_all(to, 1, 8000), bytes("read", S(read, from, pages, 100)), rest(from);
    }
}

/* Several messages in a stream: those that fit whole are received. */
static void several(void)
{
    int fds[2];
    connected(AF_UNIX, SOCK_STREAM, fds);
    send_all(fds[0], 4, 3000), bytes("read", S(read, fds[1], pages, 8192)), rest(fds[1]);
    send_all(fds[0], 4, 1000), bytes("read", S(read, fds[1], pages, 8192)), rest(fds[1]);
    send_all(fds[0], 4, 3000), bytes("all", S(recvfrom, fds[1], pages, 8192, MSG_WAITALL, 0, 0)), rest(fds[1]);
    send_all(fds[0], 4, 3000), bytes("peek", S(recvfrom, fds[1], pages, 8192, MSG_PEEK, 0, 0)), rest(fds[1]);
    struct iovec v[3] = {{pages, 3000}, {pages + 4000, 3000}, {pages, 3000}};
    send_all(fds[0], 3, 3000), bytes("readv", S(readv, fds[1], v, 3)), rest(fds[1]);
    send_all(fds[0], 1, 2000), S(read, fds[1], good, 500), bytes("begun", S(read, fds[1], pages + 3000, 2000)), rest(fds[1]);
}

static void unix_stream(void) { each(AF_UNIX, SOCK_STREAM); }
static void unix_datagrams(void) { each(AF_UNIX, SOCK_DGRAM); }
static void unix_packets(void) { each(AF_UNIX, SOCK_SEQPACKET); }
static void tcp(void) { each(AF_INET, SOCK_STREAM); }
static void udp(void) { each(AF_INET, SOCK_DGRAM); }

int main(void)
{
    pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_NONE);
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = i / 100;
    CASE(unix_stream);
    CASE(several);
    CASE(unix_datagrams);
    CASE(unix_packets);
    CASE(tcp);
    CASE(udp);
    return 0;
}
