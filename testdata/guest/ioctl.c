// covers: ioctl
// stdin: waiting
#include "guest.h"
#include <sys/ioctl.h>
#include <termios.h>

int main(void)
{
    struct termios tio;
    struct winsize size;
    int n = -1, on = 1, off = 0, p[2];
    char buf[8];
    long fd = S(open, "host/file", O_RDWR);

    /* The input is a pipe that was filled before. */
    T(read, 0, buf, 3);
    T(ioctl, 0, FIONREAD, &n);
    num(n);
    T(ioctl, 0, TCGETS, &tio);
    T(ioctl, 1, TIOCGWINSZ, &size);
    T(ioctl, fd, TCGETS, &tio);
    T(ioctl, fd, FIONREAD, &n);
    num(n);
    S(lseek, fd, 5, SEEK_SET);
    T(ioctl, fd, FIONREAD, &n);
    num(n);
    T(ioctl, fd, FIOCLEX);
    num(S(fcntl, fd, F_GETFD));
    T(ioctl, fd, FIONCLEX);
    num(S(fcntl, fd, F_GETFD));
    S(pipe2, p, 0);
    T(ioctl, p[0], FIONBIO, &on);
    T(read, p[0], buf, 1);
    T(ioctl, p[0], FIONBIO, &off);
    printf("%lo\n", S(fcntl, p[0], F_GETFL));
    S(write, p[1], "12345", 5);
    T(ioctl, p[0], FIONREAD, &n);
    num(n);
    T(ioctl, p[0], TCGETS, &tio);
    T(ioctl, p[0], 0xdeadbeef, 0);
    T(ioctl, 99, TCGETS, &tio);
    T(ioctl, p[0], FIONREAD, BAD);
    T(ioctl, p[0], FIONBIO, BAD);
    long null = S(open, "/dev/null", O_RDWR);
    T(ioctl, null, TCGETS, &tio);
    long dir = S(open, "host", O_RDONLY);
    T(ioctl, dir, TCGETS, &tio);
    return 0;
}
