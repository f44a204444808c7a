// covers: dup dup2 dup3 fcntl lseek read fork open close_range pidfd_getfd
#include "child.h"

/* What copies of a descriptor share: the offset and the flags of status; and what is each one's own: to be closed at
 * execve(2). Limits of their number. */
static long fd;

static void in_the_child(void)
{
    char buf[4];
    S(read, fd, buf, 3), S(fcntl, fd, F_SETFL, O_APPEND | O_NONBLOCK), S(fcntl, fd, F_SETFD, FD_CLOEXEC), S(close, fd);
}
static void state(const char *what, long f)
{
    printf("%s: offset %ld flags %#lo close %ld\n", what, S(lseek, f, 0, SEEK_CUR), S(fcntl, f, F_GETFL), S(fcntl, f, F_GETFD));
}

int main(void)
{
    char buf[32], path[40];
    put("f", "0123456789abcdef");
    fd = S(open, "f", O_RDWR);
    long copy = T(dup, fd), three = T(dup3, fd, 20, O_CLOEXEC), up = T(fcntl, fd, F_DUPFD, 30), up2 = T(fcntl, fd, F_DUPFD_CLOEXEC, 30),
        other = T(open, "f", O_RDWR);
    T(read, fd, buf, 4), state("first", fd), state("copy", copy), state("dup3", three), state("from 30", up), state("from 30 again", up2),
        state("another open", other), snprintf(path, sizeof path, "/proc/self/fd/%ld", fd);
    long anew = S(open, path, O_RDWR);
    state("by /proc", anew), T(lseek, copy, 10, SEEK_SET), T(fcntl, copy, F_SETFL, O_APPEND), T(fcntl, copy, F_SETFD, FD_CLOEXEC), state("first", fd),
        state("copy", copy), reap(child(in_the_child)), state("after the child", fd), T(close, fd), state("closed", fd), state("copy", copy);
    T(dup2, copy, copy), T(dup3, copy, copy, 0), T(dup2, copy, 20), T(fcntl, 20, F_GETFD), T(dup2, 99, 20), T(fcntl, 20, F_GETFD), T(dup2, copy, -1),
        T(dup2, copy, 1 << 30), T(dup3, copy, 21, 1), T(dup3, copy, 21, O_CLOEXEC | O_NONBLOCK), T(fcntl, copy, F_DUPFD, -1),
        T(fcntl, copy, F_DUPFD, 1 << 30), T(dup, 99), T(dup2, 99, 99), T(dup3, 99, 99, 0), T(fcntl, 99, F_GETFD), T(fcntl, copy, 9999),
        T(fcntl, copy, F_SETFD, 2), T(fcntl, copy, F_GETFD), T(fcntl, copy, F_SETFD, 3), T(fcntl, copy, F_GETFD);
    /* The limit: of numbers, not of descriptors. */
    struct rlimit few = {10, 100};
    S(setrlimit, RLIMIT_NOFILE, &few), T(fcntl, copy, F_DUPFD, 10), T(fcntl, copy, F_DUPFD, 9), T(dup2, copy, 9), T(dup2, copy, 10),
        T(read, 30, buf, 1), T(dup2, copy, 30);
    while (S(dup, copy) >= 0)
        ;
    T(dup, copy), T(open, "f", O_RDONLY);
    int p[2] = {-7, -7};
    T(pipe2, p, 0), num(p[0]), T(close, 8), T(pipe2, p, 0), num(p[0]), T(close, 7), T(pipe2, p, 0), num(p[0] + p[1]), T(socket, 1, 1, 0),
        T(eventfd2, 0, 0), T(epoll_create1, 0), T(memfd_create, "m", 0), T(timerfd_create, 1, 0), T(inotify_init1, 0), T(pidfd_open, getpid(), 0),
        T(dup2, copy, 5), T(close_range, 5, 6, 0), T(dup, copy), T(close_range, 6, 5, 0), T(close_range, 50, 60, 0), T(close_range, 5, 5, 8),
        T(close_range, 5, 9, 4), T(fcntl, 5, F_GETFD), T(fcntl, 8, F_GETFD);
    return 0;
}
