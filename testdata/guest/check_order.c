// covers: read write readv writev preadv pwritev pread64 pwrite64 sendfile select readahead fallocate fadvise64 fsync epoll_ctl
/* Which error comes first, and what is done in spite of one, on descriptors of every kind. */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

/* A page that is only read. */
static char *read_only(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Reads and writes. Before 6.9 an eventfd took the first of more bytes. */
static void counters(void)
{
    char bytes[24] = {1};
    int fd = eventfd(3, EFD_NONBLOCK);
    SINCE(609, -EINVAL, write, fd, bytes, 9);
    SINCE(609, -EINVAL, write, fd, bytes, 24);
    T(write, fd, bytes, 7), T(read, fd, edge() - 4, 8), T(read, fd, KERNEL, 0);
    int zero = (int)S(open, "/dev/zero", O_RDWR), full = (int)S(open, "/dev/full", O_RDWR);
    T(write, zero, NULL, 100), T(write, full, KERNEL, 1), T(write, full, BAD, 1), T(write, full, BAD, 0);
    T(read, zero, KERNEL, 0), T(read, 0, KERNEL, 1);
}

/* The descriptor's mode comes before the vector, since 6.9 everywhere. */
static void vectors(void)
{
    struct iovec good = {"x", 1}, kernel = {KERNEL, 0};
    int w = (int)S(open, "host/file", O_WRONLY), r = (int)S(open, "host/file", O_RDONLY), path = (int)S(open, ".", O_PATH);
    SINCE(609, -EBADF, readv, w, &good, 1025);
    SINCE(609, -EBADF, writev, r, BAD, 1);
    T(readv, path, NULL, 1), T(preadv, r, BAD, 1, -2, -1), T(pwritev, 99, KERNEL, 1, 0, 0);
    T(readv, r, &kernel, 1), T(writev, 1, &kernel, 1);
    S(close, w), S(close, r), S(close, path);
}

/* Things that can only be looked at. */
static void looked_at(void)
{
    char byte;
    struct epoll_event in = {EPOLLIN};
    int pid = (int)S(pidfd_open, getpid(), 0), ns = (int)S(open, "/proc/self/ns/uts", O_RDONLY);
    int epoll = epoll_create1(0), sock = socket(AF_UNIX, SOCK_STREAM, 0);
    T(pread64, pid, &byte, 1, 0), T(pwrite64, pid, &byte, 1, 0);
    T(pread64, ns, &byte, 1, 0), T(pwrite64, ns, &byte, 1, 0), T(epoll_ctl, epoll, EPOLL_CTL_ADD, ns, &in);
    T(fallocate, sock, 0, 0, 1), T(fallocate, sock, 0, 0, 0);
    T(fadvise64, sock, 0, 0, 0), T(fadvise64, sock, 0, 0, 6), T(fadvise64, sock, 0, -1, 0);
    int file = (int)S(open, "host/file", O_RDONLY), proc = (int)S(open, "/proc/self", O_RDONLY | O_DIRECTORY);
    T(readahead, file, 0, -1), T(readahead, file, 0, 100), T(fsync, proc), T(fdatasync, proc);
    int comm = (int)S(open, "/proc/self/comm", O_RDWR | O_TRUNC);
    T(ftruncate, comm, 5), T(truncate, "/proc/self/comm", 0);
}

/* Places for an answer that cannot be written. */
static void unwritten(void)
{
    char *ro = read_only();
    int fds[2], file = (int)S(open, "host/file", O_RDONLY);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(file, &set);
    T(select, file + 1, &set, NULL, NULL, ro);
    is(FD_ISSET(file, &set));
    if (pipe(fds))
        return;
    T(sendfile, fds[1], file, ro, 4), T(sendfile, fds[1], file, edge() - 4, 4), T(sendfile, 99, file, ro, 4);
    T(sendfile, fds[1], 99, ro, 4), T(sendfile, fds[1], fds[0], ro, 4);
    char name[20] = "";
    is(S(read, fds[0], name, 19) == 4); /* what was sent is sent */
    unsigned cpu = 7, node = 7;
    T(getcpu, BAD, &node, NULL), T(getcpu, &cpu, BAD, NULL);
    is(cpu != 7 && node != 7);
}

int main(void)
{
    counters(), vectors(), looked_at(), unwritten();
    T(getrandom, KERNEL, 0, 0), T(getrandom, BAD, 0, 0);
    return 0;
}
