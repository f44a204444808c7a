// covers: readv writev preadv pwritev preadv2 pwritev2 sendmsg recvmsg process_vm_readv vmsplice
#include "guest.h"
#include <sys/socket.h>
#include <sys/uio.h>

/* Vectors at their bounds: 1024 pieces, lengths that are too large together, pieces of nothing, and holes in between. */
static struct iovec many[1100];
static char buf[4096];

int main(void)
{
    char *end = edge();
    int s[2], p[2];
    for (int i = 0; i < 1100; i++)
        many[i] = (struct iovec){buf + i % 1000, 1};
    memset(buf, 'v', sizeof buf), put("f", "");
    long fd = S(open, "f", O_RDWR);
    T(writev, fd, many, 1024), T(writev, fd, many, 1025), T(writev, fd, many, -1), T(writev, fd, many, 0), T(writev, fd, BAD, 0),
        T(writev, fd, BAD, 1), S(lseek, fd, 0, SEEK_SET), T(readv, fd, many, 1024), T(readv, fd, many, 1025), T(preadv, fd, many, 1025, 0),
        T(pwritev, fd, many, 1025, 0), T(preadv2, fd, many, 1025, 0, 0, 0);
    struct iovec none[3] = {{BAD, 0}, {buf, 3}, {NULL, 0}}, large[2] = {{buf, 0x7fffffffffffffff}, {buf, 1}}, negative[2] = {{buf, 1}, {buf, -1}},
        half[3] = {{buf, 4}, {end - 2, 4}, {buf, 4}}, bad[3] = {{buf, 4}, {BAD, 4}, {buf, 4}}, kernel[2] = {{buf, 2}, {KERNEL, 2}};
    T(pwritev, fd, none, 3, 0), T(preadv, fd, none, 3, 0), T(writev, fd, large, 2), T(readv, fd, negative, 2), T(writev, fd, negative, 2),
        T(pwritev, fd, half, 3, 0), T(preadv, fd, half, 3, 0), T(pwritev, fd, bad, 3, 0), T(preadv, fd, bad, 3, 0), T(pwritev, fd, kernel, 2, 0),
        T(preadv, fd, kernel, 2, 0), T(pwritev, fd, bad + 1, 2, 0), T(preadv, fd, bad + 1, 2, 0), T(preadv, fd, many, 2, -1),
        T(pwritev, fd, many, 2, -5), T(preadv2, fd, many, 2, -1, 0, 0), T(preadv2, fd, many, 2, -2, -1, 0), T(preadv, fd, end - 16, 1, 0),
        T(preadv, fd, end - 8, 1, 0);
    struct stat st;
    S(fstat, fd, &st), num(st.st_size);
    /* Streams and messages. */
    S(pipe2, p, O_NONBLOCK), T(writev, p[1], none, 3), T(readv, p[0], none, 3), T(writev, p[1], half, 3), T(readv, p[0], many, 100),
        T(writev, p[1], bad, 3), T(readv, p[0], many, 100), T(writev, p[1], bad + 1, 2), T(readv, p[0], many, 100), T(preadv, p[0], many, 1, 0), T(vmsplice, p[1], many, 1025, 0),
        T(vmsplice, p[1], half, 3, 0), T(readv, p[0], many, 100);
    const int types[] = {SOCK_STREAM, SOCK_DGRAM};
    for (int i = 0; i < 2; i++) {
        struct msghdr m = {.msg_iov = many, .msg_iovlen = 1024};
        S(socketpair, AF_UNIX, types[i] | SOCK_NONBLOCK, 0, s), T(sendmsg, s[0], &m, 0), T(recvmsg, s[1], &m, 0), m.msg_iovlen = 1025,
            T(sendmsg, s[0], &m, 0), T(recvmsg, s[1], &m, 0), m.msg_iovlen = 0, T(sendmsg, s[0], &m, 0), T(recvmsg, s[1], &m, 0), m.msg_iov = bad,
            m.msg_iovlen = 3, T(sendmsg, s[0], &m, 0), m.msg_iov = half, T(sendmsg, s[0], &m, 0), m.msg_iov = many, m.msg_iovlen = 20,
            T(recvmsg, s[1], &m, 0), m.msg_iov = negative, m.msg_iovlen = 2, T(sendmsg, s[0], &m, 0), T(sendmsg, s[0], BAD, 0), S(close, s[0]), S(close, s[1]);
    }
    struct iovec remote = {end - 3, 3}, local = {buf, 10};
    T(process_vm_readv, getpid(), &local, 1, &remote, 1, 0), T(process_vm_readv, getpid(), many, 1025, &remote, 1, 0),
        T(process_vm_readv, getpid(), &local, 1, many, 1024, 0), T(process_vm_readv, getpid(), &local, 1, half, 3, 0),
        T(process_vm_readv, getpid(), &local, 0, &remote, 1, 0), T(process_vm_readv, getpid(), &local, 1, &remote, 0, 0),
        T(process_vm_readv, getpid(), &local, 1, &remote, 1, 1);
    return 0;
}
