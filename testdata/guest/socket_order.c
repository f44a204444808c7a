// covers: connect bind accept4 ioctl
/* What connect(2) and bind(2) look at first, and who is told of what comes. */
#include "guest.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_in at(unsigned addr)
{
    return (struct sockaddr_in){AF_INET, 0, {htonl(addr)}, ""};
}

static void connected(void)
{
    struct sockaddr_in in = at(INADDR_LOOPBACK);
    struct sockaddr_un un = {AF_UNIX, "none"};
    socklen_t len = sizeof in;
    int listener = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0), fresh = socket(AF_INET, SOCK_STREAM, 0);
    S(bind, listener, &in, len), S(listen, listener, 1), S(getsockname, listener, &in, &len);
    T(connect, s, &in, sizeof in), T(connect, s, &un, sizeof un), T(connect, s, &in, 2), T(connect, s, &in, 1);
    T(connect, listener, &un, sizeof un), T(connect, fresh, &un, sizeof un), T(connect, fresh, &in, 2);
    int file = (int)S(open, ".", O_RDONLY), u = socket(AF_UNIX, SOCK_STREAM, 0);
    T(connect, file, BAD, 16), T(connect, file, &in, 129), T(connect, file, &in, 16), T(connect, 99, BAD, 16);
    T(bind, file, BAD, 16), T(bind, file, &in, -1), T(bind, 99, BAD, 16), T(connect, u, &un, 2);
    T(accept4, 99, NULL, NULL, 1), T(accept4, file, NULL, NULL, 1), T(accept4, listener, NULL, NULL, 1);
}

static void bound(void)
{
    struct sockaddr_in many = at(0xe0000001), all = at(INADDR_BROADCAST), any = at(0), far = at(0x08080808);
    int s[4];
    for (int i = 0; i < 4; i++)
        s[i] = socket(AF_INET, i == 2 ? SOCK_DGRAM : SOCK_STREAM, 0);
    T(bind, s[0], &many, sizeof many), T(bind, s[1], &all, sizeof all), T(bind, s[2], &all, sizeof all);
    any.sin_family = AF_UNSPEC;
    T(bind, s[3], &any, 15), T(bind, s[3], &far, 15), T(bind, s[3], &far, 16), T(bind, s[3], &any, 16);
}

/* The receiver of SIGIO and SIGURG, by ioctl(2). */
static void owned(void)
{
    int s = socket(AF_UNIX, SOCK_DGRAM, 0), fds[2], pid = -1, group = -getpgrp(), none = 99999;
    T(ioctl, s, FIOGETOWN, &pid), num(pid);
    pid = getpid();
    T(ioctl, s, FIOSETOWN, &pid);
    is(S(fcntl, s, F_GETOWN) == pid);
    T(ioctl, s, SIOCSPGRP, &group);
    pid = 0;
    T(ioctl, s, SIOCGPGRP, &pid);
    is(pid == group && S(fcntl, s, F_GETOWN) == group);
    T(ioctl, s, FIOSETOWN, &none), T(ioctl, s, FIOSETOWN, BAD), T(ioctl, s, FIOGETOWN, BAD);
    if (pipe(fds) == 0)
        T(ioctl, fds[0], FIOGETOWN, &pid);
}

int main(void)
{
    connected(), bound(), owned();
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP}, none = {.ifr_name = "none0"};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    is(geteuid() == 0 || S(ioctl, s, SIOCSIFFLAGS, &lo) == -EPERM);
    is(geteuid() == 0 || S(ioctl, s, SIOCSIFFLAGS, &none) == -EPERM);
    T(ioctl, s, SIOCSIFFLAGS, BAD);
    return 0;
}
