// covers: fchmod fchown utimensat fgetxattr fsetxattr fremovexattr mq_open
/* Permissions, owners and times of what has no name: pipes, sockets and message queues have their own. */
#include "guest.h"
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static void modes(const char *what, int fd)
{
    struct stat it;
    char path[64];
    printf("%s\n", what);
    sprintf(path, "/proc/self/fd/%d", fd);
    T(fchmod, fd, 0640), S(fstat, fd, &it), printf("%o\n", it.st_mode & 07777);
    T(chmod, path, 04711), S(fstat, fd, &it), printf("%o\n", it.st_mode & 07777);
    T(fchown, fd, -1, -1), S(fstat, fd, &it), printf("%o\n", it.st_mode & 07777);
    is(it.st_uid == geteuid() && it.st_gid == getegid());
    T(fchown, fd, geteuid(), getegid());
    is(geteuid() == 0 || S(fchown, fd, geteuid() + 1, -1) == -EPERM);
}

static void times(int fd)
{
    struct stat it;
    struct timespec set[2] = {{1, 2}, {3, 4}}, later[2] = {{0, UTIME_OMIT}, {5, 6}};
    T(utimensat, fd, NULL, set, 0), S(fstat, fd, &it);
    is(it.st_atim.tv_sec == 1 && it.st_atim.tv_nsec == 2 && it.st_mtim.tv_sec == 3 && it.st_mtim.tv_nsec == 4);
    T(utimensat, fd, NULL, later, 0), S(fstat, fd, &it);
    is(it.st_atim.tv_sec == 1 && it.st_mtim.tv_sec == 5 && it.st_mtim.tv_nsec == 6);
    T(utimensat, fd, NULL, NULL, 0), S(fstat, fd, &it);
    is(it.st_atim.tv_sec > 5 && it.st_mtim.tv_sec > 5);
}

static void attributes(int fd)
{
    char value[8];
    T(fgetxattr, fd, "user.a", value, 8), T(fsetxattr, fd, "user.a", "b", 1, 0), T(fremovexattr, fd, "user.a");
    is(geteuid() == 0 || S(fsetxattr, fd, "trusted.a", "b", 1, 0) == -EPERM);
    is(geteuid() == 0 || S(fgetxattr, fd, "trusted.a", value, 8) == -ENODATA);
}

/* One inode stands for all that have none; it is root's, who is nobody in a namespace without root. */
static void shared(const char *what, int fd)
{
    struct stat it;
    printf("%s\n", what);
    S(fstat, fd, &it);
    is((it.st_uid == 0 || it.st_uid == 65534) && (it.st_mode & 07777) == 0600);
    SINCE(616, -EOPNOTSUPP, fchmod, fd, 0600);
    SINCE(616, -EOPNOTSUPP, fchown, fd, -1, -1);
    T(utimensat, fd, NULL, ((struct timespec[]){{0, UTIME_OMIT}, {0, UTIME_OMIT}}), 0);
}

/* What is looked at before the file, and after it. */
static void flags(void)
{
    struct timespec none[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}}, wrong[2] = {{0, -1}, {0, 0}};
    int fd = (int)S(open, ".", O_RDONLY);
    T(utimensat, AT_FDCWD, NULL, none, 0), T(utimensat, 99, "none", none, -1), T(utimensat, AT_FDCWD, NULL, wrong, 0);
    T(utimensat, fd, NULL, NULL, AT_EMPTY_PATH), T(utimensat, 99, NULL, NULL, AT_SYMLINK_NOFOLLOW);
    T(utimensat, 99, NULL, wrong, 0), T(utimensat, AT_FDCWD, "none", wrong, 0), T(utimensat, fd, NULL, wrong, 0);
}

int main(void)
{
    int pipes[2], sockets[2];
    if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    struct stat it;
    modes("pipe", pipes[0]), S(fstat, pipes[1], &it), printf("other end: %o\n", it.st_mode & 07777);
    modes("socket", sockets[0]), S(fstat, sockets[1], &it), printf("other socket: %o\n", it.st_mode & 07777);
    modes("udp", socket(AF_INET, SOCK_DGRAM, 0));
    times(pipes[0]), times(sockets[0]), attributes(pipes[0]), attributes(sockets[0]);
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
    long queue = S(mq_open, "nameless_attributes", O_CREAT | O_RDWR, 0600, &attr);
    if (queue >= 0)
        modes("queue", (int)queue), T(mq_unlink, "nameless_attributes");
    shared("eventfd", eventfd(0, 0)), shared("epoll", epoll_create1(0)), shared("timerfd", timerfd_create(CLOCK_MONOTONIC, 0));
    flags();
    return 0;
}
