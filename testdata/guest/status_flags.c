// covers: fcntl open pipe2 socketpair eventfd2 memfd_create dup ioctl
#include "guest.h"
#include <sys/socket.h>

/* Flags of status: which of them F_SETFL changes on each kind of descriptor, and which it leaves or refuses. */
static void all(const char *what, long fd)
{
    const struct {
        const char *name;
        int flag;
    } flags[] = {{"APPEND", O_APPEND}, {"NONBLOCK", O_NONBLOCK}, {"NDELAY", O_NDELAY}, {"ASYNC", O_ASYNC}, {"NOATIME", O_NOATIME}, {"SYNC", O_SYNC},
        {"DSYNC", O_DSYNC}, {"CREAT", O_CREAT}, {"TRUNC", O_TRUNC}, {"EXCL", O_EXCL}, {"CLOEXEC", O_CLOEXEC}, {"DIRECTORY", O_DIRECTORY},
        {"NOFOLLOW", O_NOFOLLOW}, {"PATH", O_PATH}, {"WRONLY", O_WRONLY}, {"TMPFILE", __O_TMPFILE}};
    long before = S(fcntl, fd, F_GETFL);
    printf("== %s: %#lo, to close %ld\n", what, before, S(fcntl, fd, F_GETFD));
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        long r = S(fcntl, fd, F_SETFL, flags[i].flag), now = S(fcntl, fd, F_GETFL);
        printf("%s: %s, %#lo\n", flags[i].name, r < 0 ? strerrorname_np((int)-r) : "ok", now);
        S(fcntl, fd, F_SETFL, before & 03);
    }
    T(fcntl, fd, F_SETFD, -1), num(S(fcntl, fd, F_GETFD)), T(fcntl, fd, F_SETFD, 0), T(fcntl, fd, F_GETSIG);
}

int main(void)
{
    int p[2], s[2];
    put("f", "text"), S(pipe2, p, O_CLOEXEC | O_NONBLOCK), S(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s);
    all("file", S(open, "f", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC)), all("file, synchronous", S(open, "f", O_WRONLY | O_SYNC | O_APPEND)),
        all("directory", S(open, "host", O_RDONLY | O_DIRECTORY)), all("path", S(open, "f", O_PATH | O_CLOEXEC)), all("reading end", p[0]),
        all("socket", s[0]), all("eventfd", S(eventfd2, 0, 0)), all("epoll", S(epoll_create1, 0)), all("memfd", S(memfd_create, "m", 1)),
        all("null", S(open, "/dev/null", O_RDONLY)), all("/proc", S(open, "/proc/self/status", O_RDONLY)), all("closed", 99);
    return 0;
}
