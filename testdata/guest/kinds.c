// covers: read write pread64 pwrite64 lseek fsync fdatasync syncfs sync_file_range ftruncate fallocate fadvise64 readahead fchmod getdents64 getdents fchdir flock fcntl ioctl mmap poll epoll_ctl sendfile splice tee vmsplice copy_file_range openat newfstatat readlinkat inotify_add_watch signalfd4 timerfd_gettime epoll_wait connect accept4 getsockopt shutdown
/* Every call that takes a descriptor, with every kind of descriptor. */
#include "guest.h"
#include <linux/fs.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>

static char buf[8192] __attribute__((aligned(4096)));
static long file, in_pipe, out_pipe, source, epoll;

/* One call: its name and what it gave, if that does not depend on the machine. */
static void tell(const char *kind, const char *what, long result)
{
    char line[96];
    snprintf(line, sizeof line, "%s %s", kind, what);
    show(line, result);
}

static void tell_ok(const char *kind, const char *what, long result)
{
    char line[96];
    snprintf(line, sizeof line, "%s %s", kind, what);
    show_ok(line, result);
}

#define K(what, name, ...) tell(kind, what, S(name, __VA_ARGS__))
#define KO(what, name, ...) tell_ok(kind, what, S(name, __VA_ARGS__))

enum {
    DISK = 1,   /* what its file system is made for depends on the machine */
    QUIET = 2,  /* a read or write of it is left out */
    SEEN = 4,   /* splice(2) of it is left out */
    OLD = 8,    /* newer kernels answer otherwise */
    OWN = 16,   /* of ioctl(2) too */
};

static void try(const char *kind, long fd, int how)
{
    struct stat st;
    int64_t size;
    int n = 0, on = 1, off = 0;
    long zero = 0;
    struct iovec one = {buf, 1}, none = {buf, 0};
    struct pollfd polled = {(int)fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0};
    struct epoll_event event = {EPOLLIN, {0}};
    struct flock lock = {.l_type = F_WRLCK}, look = {.l_type = F_RDLCK};
    struct termios termios;

    K("read of nothing", read, fd, buf, 0);
    K("write of nothing", write, fd, buf, 0);
    K("readv of nothing", readv, fd, &none, 1);
    K("readv of no parts", readv, fd, &none, 0);
    K("pread of nothing", pread64, fd, buf, 0, 0);
    K("pread before", pread64, fd, buf, 1, -1);
    if (!(how & QUIET)) {
        K("pwrite of nothing", pwrite64, fd, buf, 0, 0);
        K("read", read, fd, buf, 3);
        K("pread", pread64, fd, buf, 1, 0);
        K("preadv", preadv, fd, &one, 1, 0);
        K("write", write, fd, "12", 2);
        K("pwrite", pwrite64, fd, "1", 1, 0);
        K("read to nowhere", read, fd, BAD, 8);
        K("write from nowhere", write, fd, BAD, 8);
    }
    for (int whence = 0; whence < 6; whence++) {
        char what[16];
        sprintf(what, "seek %d", whence);
        if (whence < 2 || !(how & DISK))
            K(what, lseek, fd, 0, whence);
    }
    K("seek before", lseek, fd, -1, SEEK_SET);
    K("fsync", fsync, fd), K("fdatasync", fdatasync, fd), K("syncfs", syncfs, fd);
    K("sync_file_range", sync_file_range, fd, 0, 1, 2), K("odd sync_file_range", sync_file_range, fd, 0, 1, 8);
    K("ftruncate before", ftruncate, fd, -1);
    if (!(how & DISK)) {
        K("ftruncate", ftruncate, fd, 3);
        K("fallocate", fallocate, fd, 0, 0, 1), K("fallocate nothing", fallocate, fd, 0, 0, 0), K("odd fallocate", fallocate, fd, 64, 0, 1);
        K("punch", fallocate, fd, 3, 0, 1);
    }
    K("fadvise", fadvise64, fd, 0, 0, 0), K("odd fadvise", fadvise64, fd, 0, 0, 9);
    K("readahead", readahead, fd, 0, 1);
    K("getdents64 little", getdents64, fd, buf, 1), K("getdents little", getdents, fd, buf, 1);
    K("flock", flock, fd, LOCK_EX | LOCK_NB), K("unlock", flock, fd, LOCK_UN), K("odd flock", flock, fd, 0);
    if (!(how & OLD))
        tell(kind, "fstat", S(fstat, fd, &st) < 0 ? -1 : st.st_mode & S_IFMT);
    K("F_GETFD", fcntl, fd, F_GETFD), K("F_GETFL", fcntl, fd, F_GETFL), K("F_SETFL", fcntl, fd, F_SETFL, O_NONBLOCK | O_APPEND), K("F_SETFL", fcntl, fd, F_SETFL, O_NONBLOCK), K("F_DUPFD", fcntl, fd, F_DUPFD, 2000);
    if (!(how & DISK) && S(fcntl, fd, F_GETLEASE) >= 0)
        K("F_SETLEASE", fcntl, fd, F_SETLEASE, F_UNLCK);
    if (!(how & DISK))
        K("F_SETFL direct", fcntl, fd, F_SETFL, O_DIRECT | O_NONBLOCK), K("F_SETFL", fcntl, fd, F_SETFL, O_NONBLOCK);
    K("F_SETLK", fcntl, fd, F_SETLK, &lock), K("F_GETLK", fcntl, fd, F_GETLK, &look), K("F_OFD_SETLK", fcntl, fd, F_OFD_SETLK, &lock);
    K("F_GETPIPE_SZ", fcntl, fd, F_GETPIPE_SZ), K("F_SETPIPE_SZ", fcntl, fd, F_SETPIPE_SZ, 4096), K("F_GET_SEALS", fcntl, fd, F_GET_SEALS), K("F_ADD_SEALS", fcntl, fd, F_ADD_SEALS, 0);
    K("F_GETOWN", fcntl, fd, F_GETOWN), K("F_SETOWN", fcntl, fd, F_SETOWN, 0), K("F_GETSIG", fcntl, fd, F_GETSIG), K("F_SETSIG", fcntl, fd, F_SETSIG, 65), K("F_NOTIFY", fcntl, fd, F_NOTIFY, 0);
    K("F_GETLEASE", fcntl, fd, F_GETLEASE), K("odd F_SETLEASE", fcntl, fd, F_SETLEASE, 9), K("odd fcntl", fcntl, fd, 77);
    K("FIOCLEX", ioctl, fd, FIOCLEX), K("FIONBIO", ioctl, fd, FIONBIO, &on), K("FIOASYNC", ioctl, fd, FIOASYNC, &off), S(ioctl, fd, FIONREAD, &n);
    KO("FIOQSIZE", ioctl, fd, FIOQSIZE, &size), KO("FIGETBSZ", ioctl, fd, FIGETBSZ, &n);
    if (!(how & SEEN))
        KO("FIONREAD", ioctl, fd, FIONREAD, &n);
    if (!(how & OWN))
        K("TCGETS", ioctl, fd, TCGETS, &termios), K("TIOCGWINSZ", ioctl, fd, TIOCGWINSZ, buf), K("TIOCGPGRP", ioctl, fd, TIOCGPGRP, &n), K("TIOCSTI", ioctl, fd, 0x7f00, buf), K("TCFLSH", ioctl, fd, TCFLSH, 9), K("FICLONE", ioctl, fd, FICLONE, -1);
    if (!(how & DISK)) {
        KO("map", mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0), KO("map shared", mmap, 0, 4096, PROT_READ, MAP_SHARED, fd, 0), KO("map to write", mmap, 0, 4096, PROT_WRITE, MAP_SHARED, fd, 0);
    }
    K("map odd", mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 5);
    S(poll, &polled, 1, 0), tell(kind, "poll", polled.revents);
    K("epoll add", epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event), K("epoll del", epoll_ctl, epoll, EPOLL_CTL_DEL, fd, &event), K("epoll of it", epoll_ctl, fd, EPOLL_CTL_ADD, file, &event), K("epoll_wait", epoll_wait, fd, &event, 1, 0);
    K("fchdir", fchdir, fd), K("openat", openat, fd, "nothing", O_RDONLY), K("openat nothing", openat, fd, "", O_RDONLY), K("statat", newfstatat, fd, "nothing", &st, 0), K("statat odd", newfstatat, fd, "nothing", &st, 1), K("readlinkat", readlinkat, fd, "", buf, 9), K("watch", inotify_add_watch, fd, "none", 2), K("signals", signalfd4, fd, buf, 8, 0), K("timer", timerfd_gettime, fd, buf);
    K("fchmod nothing", fchmodat, fd, "nothing", 0600), K("unlinkat", unlinkat, fd, "nothing", 0), K("mkdirat", mkdirat, fd, "", 0), K("faccessat", faccessat, fd, "nothing", 0), K("utimensat", utimensat, fd, "nothing", 0, 0), K("symlinkat", symlinkat, "x", fd, "");
    K("connect", connect, fd, buf, 2), K("accept", accept4, fd, 0, 0, 0), K("getsockopt", getsockopt, fd, 1, 3, buf, &n), K("shutdown", shutdown, fd, 0), K("sendmsg", sendmsg, fd, buf, 0), K("listen", listen, fd, 1), K("bind", bind, fd, buf, 2), K("getpeername", getpeername, fd, buf, &n);
    K("vmsplice", vmsplice, fd, &none, 1, 0), K("vmsplice no parts", vmsplice, fd, &none, 0, 0), K("odd vmsplice", vmsplice, fd, &none, 1, 99);
    K("tee", tee, fd, out_pipe, 1, SPLICE_F_NONBLOCK), K("tee into it", tee, in_pipe, fd, 0, SPLICE_F_NONBLOCK);
    if (!(how & SEEN)) {
        K("splice out", splice, fd, 0, out_pipe, 0, 1, SPLICE_F_NONBLOCK), K("splice into it", splice, source, 0, fd, 0, 1, SPLICE_F_NONBLOCK), K("splice at", splice, fd, &zero, out_pipe, 0, 1, SPLICE_F_NONBLOCK);
        zero = 0;
        K("sendfile from it", sendfile, out_pipe, fd, 0, 1);
        K("sendfile to it", sendfile, fd, file, &zero, 1);
        K("sendfile from it at", sendfile, out_pipe, fd, &zero, 1);
    }
    K("splice of nothing", splice, fd, 0, out_pipe, 0, 0, 0), K("odd splice", splice, fd, 0, out_pipe, 0, 1, 99);
    zero = 0;
    if (!(how & OLD))
        K("copy_file_range from it", copy_file_range, fd, &zero, file, 0, 0, 0), K("copy_file_range to it", copy_file_range, file, &zero, fd, 0, 0, 0);
    K("odd copy_file_range", copy_file_range, fd, 0, file, 0, 1, 1);
    K("dup2", dup2, fd, 3000), K("dup3", dup3, fd, 3000, 1), K("close", close, 3000);
}

int main(void)
{
    int p[2], q[2], s[2];
    sigset_t none;
    char name[32];
    int number = 0, unlock = 0;
    struct rlimit many = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &many), getrlimit(RLIMIT_NOFILE, &many);
    if (many.rlim_cur < 4096)
        lacks("fewer than 4096 descriptors");
    sigemptyset(&none);
    signal(SIGPIPE, SIG_IGN);
    put("f", "0123456789"), put("g", "0123456789");
    file = S(open, "f", O_RDWR), epoll = S(epoll_create1, 0);
    S(pipe2, p, O_NONBLOCK), in_pipe = p[0], out_pipe = p[1];
    S(pipe2, s, O_NONBLOCK), source = s[0];
    S(write, s[1], buf, 4096);
    long dir = S(open, "host", O_RDONLY), master, slave;

    try("none", 99, 0);
    try("file", S(open, "g", O_RDWR | O_NONBLOCK), DISK);
    try("read-only file", S(open, "g", O_RDONLY | O_NONBLOCK), DISK);
    try("write-only file", S(open, "g", O_WRONLY | O_NONBLOCK), DISK);
    try("directory", dir, DISK | SEEN);
    try("O_PATH", S(open, "g", O_PATH), 0);
    S(pipe2, q, O_NONBLOCK), try("pipe to read", q[0], 0), try("pipe to write", q[1], 0);
    S(mknod, "p", S_IFIFO | 0600, 0), try("named pipe", S(open, "p", O_RDWR | O_NONBLOCK), OLD);
    try("eventfd", S(eventfd2, 5, EFD_NONBLOCK), 0);
    try("epoll", S(epoll_create1, 0), OWN | SEEN);
    try("timerfd", S(timerfd_create, 1, O_NONBLOCK), 0);
    try("signalfd", S(signalfd4, -1, &none, 8, O_NONBLOCK), 0);
    try("inotify", S(inotify_init1, O_NONBLOCK), 0);
    try("memfd", S(memfd_create, "m", 0), OLD);
    try("null", S(open, "/dev/null", O_RDWR), 0);
    try("zero", S(open, "/dev/zero", O_RDWR), QUIET);
    try("full", S(open, "/dev/full", O_RDWR), 0);
    try("proc", S(open, "/proc/self/stat", O_RDONLY), QUIET | SEEN | OLD);
    master = S(open, "/dev/ptmx", O_RDWR | O_NONBLOCK | O_NOCTTY);
    S(ioctl, master, TIOCSPTLCK, &unlock), S(ioctl, master, TIOCGPTN, &number);
    sprintf(name, "/dev/pts/%d", number);
    slave = S(open, name, O_RDWR | O_NONBLOCK | O_NOCTTY);
    try("slave", slave, SEEN), try("master", master, SEEN | QUIET);
    return 0;
}
