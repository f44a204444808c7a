// covers: dup dup2 dup3 fcntl close_range flock
#include "guest.h"
#include <linux/close_range.h>
#include <sys/file.h>

int main(void)
{
    char buf[8];
    long fd = S(open, "host/file", O_RDWR), other;

    other = T(dup, fd);
    T(lseek, fd, 3, SEEK_SET);
    T(lseek, other, 0, SEEK_CUR);
    T(dup, 99);
    T(dup, -1);
    T(dup2, fd, 10);
    T(dup2, fd, fd);
    T(dup2, 99, 10);
    T(dup2, 99, 99);
    T(dup2, fd, -1);
    T(dup2, fd, 1 << 30);
    T(dup3, fd, 11, O_CLOEXEC);
    num(S(fcntl, 10, F_GETFD));
    num(S(fcntl, 11, F_GETFD));
    T(dup2, fd, 11);
    num(S(fcntl, 11, F_GETFD));
    T(dup3, fd, fd, 0);
    T(dup3, fd, 12, O_NONBLOCK);
    T(dup3, 99, 12, 0);
    T(close, fd);
    T(read, 10, buf, 3);
    T(lseek, other, 0, SEEK_CUR);
    fd = T(dup, 10);

    T(fcntl, fd, F_DUPFD, 20);
    T(fcntl, fd, F_DUPFD, 20);
    T(fcntl, fd, F_DUPFD_CLOEXEC, 20);
    num(S(fcntl, 22, F_GETFD));
    T(fcntl, fd, F_DUPFD, -1);
    T(fcntl, fd, F_DUPFD, 1 << 30);
    T(fcntl, 99, F_DUPFD, 0);
    T(fcntl, fd, F_SETFD, FD_CLOEXEC);
    T(fcntl, fd, F_GETFD);
    T(fcntl, fd, F_SETFD, 0);
    T(fcntl, fd, F_GETFD);
    T(fcntl, fd, F_SETFL, O_APPEND | O_NONBLOCK);
    printf("%lo\n", S(fcntl, other, F_GETFL));
    T(fcntl, fd, F_SETFL, O_WRONLY | O_TRUNC | O_CREAT);
    printf("%lo\n", S(fcntl, other, F_GETFL));
    T(fcntl, fd, 9999);
    T(fcntl, 99, F_GETFL);
    T(fcntl, fd, F_GETOWN);

    struct flock lock = {F_WRLCK, SEEK_SET, 0, 10, 0};
    T(fcntl, fd, F_SETLK, &lock);
    T(fcntl, fd, F_GETLK, &lock);
    num(lock.l_type);
    lock.l_type = 9;
    T(fcntl, fd, F_SETLK, &lock);
    T(fcntl, fd, F_SETLK, BAD);
    lock.l_type = F_UNLCK;
    T(fcntl, fd, F_SETLKW, &lock);
    long ro = S(open, "host/file", O_RDONLY), wo = S(open, "host/file", O_WRONLY);
    lock.l_type = F_WRLCK;
    T(fcntl, ro, F_SETLK, &lock);
    lock.l_type = F_RDLCK;
    T(fcntl, wo, F_SETLK, &lock);
    T(fcntl, ro, F_SETLK, &lock);
    T(flock, fd, LOCK_EX);
    T(flock, fd, LOCK_SH | LOCK_NB);
    T(flock, fd, LOCK_UN);
    T(flock, fd, 0);
    T(flock, fd, LOCK_SH | LOCK_EX);
    T(flock, 99, LOCK_EX);

    int p[2];
    S(pipe2, p, 0);
    T(fcntl, p[0], F_GETPIPE_SZ);
    T(fcntl, p[0], F_SETPIPE_SZ, 5000);
    T(fcntl, p[1], F_GETPIPE_SZ);
    T(fcntl, fd, F_GETPIPE_SZ);
    T(fcntl, p[0], F_GETFL);
    T(fcntl, p[1], F_GETFL);

    T(close_range, 20, 22, 0);
    T(fcntl, 20, F_GETFD);
    T(fcntl, 22, F_GETFD);
    T(close_range, 10, 11, CLOSE_RANGE_CLOEXEC);
    T(fcntl, 10, F_GETFD);
    T(close_range, 5, 4, 0);
    T(close_range, 5, 6, 1);
    T(close_range, 3, ~0u, 0);
    T(fcntl, 10, F_GETFD);
    T(fcntl, 3, F_GETFD);
    T(close_range, 1000, 2000, CLOSE_RANGE_UNSHARE);
    return 0;
}
