// covers: pipe2 eventfd2 epoll_create1 timerfd_create inotify_init1 signalfd4 memfd_create dup3 close_range getrandom mlock2 mremap msync renameat2 unlinkat linkat faccessat2 statx fchownat utimensat execveat splice copy_file_range preadv2 sync_file_range fallocate unshare waitid wait4 clock_nanosleep clock_getres timer_create timer_settime timerfd_settime epoll_ctl openat2 fchmodat2 sched_setattr membarrier pidfd_open pidfd_send_signal getrusage getitimer setitimer getpriority setpriority prlimit64 futex sigaltstack rt_sigprocmask inotify_add_watch semget mincore madvise mlockall flock lseek ioprio_set personality process_vm_readv set_robust_list getcpu sysfs syslog kcmp ustat getgroups setgroups umask newfstatat fstatfs readlinkat mknodat mkdirat symlinkat
/* Every bit of every word of flags, and odd numbers for every argument that is a small number. */
#include "guest.h"
#include <linux/openat2.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static char buf[65536], name256[300];
static struct stat st;

static void tell(const char *what, long arg, long result)
{
    char line[96];
    snprintf(line, sizeof line, "%s %#lx", what, arg);
    /* A descriptor is closed again, and its number is no matter. */
    if (result > 2 && result < 4096 && strstr(what, "(fd)")) {
        S(close, result);
        result = 0;
    }
    show(line, result);
}

/* Bits from..to of a word of flags, one after the other; `without` are those that kernels differ in. */
#define BITS(what, from, to, without, call)                       \
    for (int bit_ = (from); bit_ <= (to); bit_++) {               \
        unsigned long flag = 1UL << bit_;                         \
        if (!(flag & (unsigned long)(without)))                   \
            tell(what, (long)flag, call);                         \
    }

static const long odd[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 1000, 4095, 4096, 0x7fffffff, -1, -2, -100, -0x7fffffff - 1, 1L << 32, 1L << 32 | 1, 1L << 62, -1L << 62, 0x7fffffffffffffff};
#define ODD(what, without, call)                                  \
    for (unsigned at_ = 0; at_ < sizeof odd / sizeof *odd; at_++) { \
        long value = odd[at_];                                    \
        if (!(without))                                           \
            tell(what, value, call);                              \
    }

int main(void)
{
    int p[2], q[2];
    sigset_t none;
    struct timespec zero[2] = {{0, 0}, {0, 0}};
    struct itimerspec timer = {{0, 0}, {0, 0}};
    struct rlimit limit;
    struct itimerval alarm_ = {{0, 0}, {0, 0}};
    struct epoll_event event = {EPOLLIN, {0}};
    struct iovec one = {buf, 1};
    siginfo_t info;
    int status, id = -1;
    unsigned word = 0;

    unfiltered();
    limit = (struct rlimit){1024, 1024};
    setrlimit(RLIMIT_NOFILE, &limit);
    sigemptyset(&none);
    memset(name256, 'n', 256);
    put("f", "0123456789"), put("g", "0123456789");
    S(mkdir, "d", 0755), S(symlink, "f", "l");
    long f = S(open, "f", O_RDWR), g = S(open, "g", O_RDWR), d = S(open, "d", O_RDONLY), epoll = S(epoll_create1, 0);
    S(pipe2, p, O_NONBLOCK), S(write, p[1], buf, 100);
    long tfd = S(timerfd_create, 1, 0), ifd = S(inotify_init1, O_NONBLOCK);

    /* Makers of descriptors. */
    BITS("pipe2", 0, 31, O_EXCL, ({ long r = S(pipe2, q, flag); if (r == 0) S(close, q[0]), S(close, q[1]); r; }));
    BITS("eventfd2 (fd)", 0, 31, 0, S(eventfd2, 0, flag));
    BITS("epoll_create1 (fd)", 0, 31, 0, S(epoll_create1, flag));
    ODD("epoll_create (fd)", 0, S(epoll_create, value));
    BITS("timerfd_create (fd)", 0, 31, 0, S(timerfd_create, 1, flag));
    ODD("timerfd_create clock (fd)", value == 8 || value == 9 || value == 16 || value == 17, S(timerfd_create, value, 0));
    BITS("inotify_init1 (fd)", 0, 31, 0, S(inotify_init1, flag));
    BITS("signalfd4 (fd)", 0, 31, 0, S(signalfd4, -1, &none, 8, flag));
    ODD("signalfd4 size (fd)", 0, S(signalfd4, -1, &none, value, 0));
    BITS("memfd_create (fd)", 0, 31, 4 | 8 | 16, S(memfd_create, "m", flag));
    T(memfd_create, BAD, 0), T(memfd_create, name256, 0), name256[249] = 0, is(S(memfd_create, name256, 0) > 0), name256[249] = 'n';
    BITS("dup3", 0, 31, 0, S(dup3, f, 100, flag) >= 0);
    BITS("fcntl dup (fd)", 12, 31, 0, S(fcntl, f, F_DUPFD, flag));
    BITS("close_range", 0, 31, 2, S(close_range, 100, 110, flag));
    BITS("open (fd)", 24, 31, 0, S(open, "f", O_RDONLY | flag));
    BITS("openat access 3 (fd)", 24, 31, 0, S(open, "f", 3 | flag));
    for (int bit = 0; bit < 63; bit++) {
        struct open_how how = {1UL << bit, 0, 0}, mode = {O_CREAT, 1UL << bit, 0}, resolve = {0, 0, 1UL << bit};
        if (how.flags != O_DIRECT && how.flags != O_CREAT && how.flags != O_ASYNC)
            tell("openat2 flags (fd)", (long)how.flags, S(openat2, AT_FDCWD, "f", &how, sizeof how));
        tell("openat2 mode (fd)", (long)mode.mode, S(openat2, AT_FDCWD, "f", &mode, sizeof mode));
        if (resolve.resolve != 0x20)
            tell("openat2 resolve (fd)", (long)resolve.resolve, S(openat2, AT_FDCWD, "f", &resolve, sizeof resolve));
    }
    struct open_how how = {0, 0, 0};
    ODD("openat2 size (fd)", value > 24 && value <= 4096, S(openat2, AT_FDCWD, "f", &how, value));
    BITS("getrandom", 0, 31, 0, S(getrandom, buf, 3, flag));
    T(getrandom, buf, 3, 3 << 1), T(getrandom, BAD, 3, 0), T(getrandom, BAD, 0, 0), T(getrandom, buf, 0, 99);

    /* Paths. */
    BITS("renameat2", 0, 31, 4, S(renameat2, AT_FDCWD, "f", AT_FDCWD, "f", flag));
    BITS("unlinkat", 0, 31, 0, S(unlinkat, AT_FDCWD, "none", flag));
    BITS("linkat", 0, 31, 0, S(linkat, AT_FDCWD, "none", AT_FDCWD, "other", flag));
    BITS("faccessat2", 0, 31, 0, S(faccessat2, AT_FDCWD, "l", 0, flag));
    BITS("access", 0, 31, 0, S(access, "f", flag) < 0 ? -1 : 0);
    BITS("statx", 0, 31, 0, S(statx, AT_FDCWD, "l", flag, 0, buf));
    BITS("statx mask", 0, 31, 0, S(statx, AT_FDCWD, "l", 0, flag, buf));
    BITS("newfstatat", 0, 31, 0, S(newfstatat, AT_FDCWD, "l", &st, flag));
    BITS("fchownat", 0, 31, 0, S(fchownat, AT_FDCWD, "l", -1, -1, flag));
    BITS("utimensat", 0, 31, 0, S(utimensat, AT_FDCWD, "l", zero, flag));
    BITS("execveat", 0, 31, 0x10000, S(execveat, AT_FDCWD, "none", 0, 0, flag));
    BITS("fchmod", 12, 31, 0, S(fchmod, f, 0644 | flag));
    BITS("umask", 0, 31, 0, (S(umask, flag), S(umask, 022)));
    BITS("inotify_add_watch", 0, 31, 0, ({ long r = S(inotify_add_watch, ifd, "d", flag); r > 0 ? 1 : r; }));
    BITS("mkdirat", 12, 31, 0, S(mkdirat, AT_FDCWD, "d", flag));
    BITS("mknodat", 0, 31, S_IFCHR | S_IFBLK, S(mknodat, AT_FDCWD, "d", flag, 0));
    ODD("sysfs", 0, ({ long r = S(sysfs, value, 0, buf); value == 3 || value == (1L << 32 | 3) ? 0 : r >= 0 ? 0 : r; }));

    /* Bytes of files. */
    BITS("splice", 0, 31, 0, S(splice, p[0], 0, f, 0, 0, flag));
    BITS("splice one", 0, 31, 0, S(splice, p[0], 0, g, 0, 1, flag));
    BITS("tee", 0, 31, 0, S(tee, p[0], p[1], 1, flag | 2));
    BITS("copy_file_range", 0, 31, 0, S(copy_file_range, f, 0, g, 0, 0, flag));
    BITS("preadv2", 0, 31, ~7UL, S(preadv2, g, &one, 1, 0, 0, flag));
    BITS("pwritev2", 0, 31, ~23UL, S(pwritev2, f, &one, 1, 0, 0, flag));
    BITS("sync_file_range", 0, 31, 0, S(sync_file_range, f, 0, 0, flag));
    BITS("fallocate of a pipe", 0, 31, 0x80, S(fallocate, p[1], flag, 0, 1));
    ODD("flock", 0, S(flock, f, value)); S(flock, f, LOCK_UN);
    ODD("lseek whence", value == 3 || value == 4 || value == (1L << 32 | 3), S(lseek, f, 0, value));
    ODD("lseek", value > 1L << 40, S(lseek, f, value, SEEK_SET));
    ODD("fadvise", 0, S(fadvise64, f, 0, 0, value));
    ODD("read from", value >= 0 && value < 1L << 40, S(pread64, f, buf, 1, value));
    ODD("iovec count", value > 0 && value <= 1024, S(readv, f, &one, value));
    ODD("poll", value >= 0 && value < 5000, S(poll, 0, value, 0));
    ODD("epoll_ctl", value == 1 || value == (1L << 32 | 1), S(epoll_ctl, epoll, value, p[0], &event));
    ODD("epoll_wait", 0, S(epoll_wait, epoll, buf, value, 0));
    BITS("epoll events", 0, 31, 0, ({ event.events = (unsigned)flag; long r = S(epoll_ctl, epoll, EPOLL_CTL_ADD, p[0], &event); S(epoll_ctl, epoll, EPOLL_CTL_DEL, p[0], &event); r; }));
    ODD("getdents", value > 24 || value == 0, S(getdents64, d, buf, value) > 0);

    /* Memory. */
    char *m = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    BITS("mlock2", 0, 31, 0, S(mlock2, m, 4096, flag)); S(munlockall);
    BITS("mlockall", 3, 31, 0, S(mlockall, flag));
    BITS("mremap", 1, 31, 4, S(mremap, m, 4096, 4096, flag, 0));
    BITS("msync", 0, 31, 0, S(msync, m, 4096, flag));
    BITS("mprotect", 3, 63, 0, S(mprotect, m, 4096, flag));
    BITS("membarrier flags", 0, 31, 0, S(membarrier, 0, flag) > 0 ? 1 : S(membarrier, 0, flag));
    ODD("process_vm_readv flags", 0, S(process_vm_readv, getpid(), &one, 1, &one, 1, value) < 0 ? -EINVAL : 0);

    /* Time. */
    BITS("clock_nanosleep", 0, 31, 0, S(clock_nanosleep, 1, flag, zero, 0));
    ODD("clock_nanosleep clock", value == 8 || value == 9 || value == 16 || value == 17 || value < -1, S(clock_nanosleep, value, 0, zero, 0));
    ODD("clock_getres", value == 16 || value == 17 || value < -1, S(clock_getres, value, 0));
    ODD("clock_gettime", value == 16 || value == 17 || value < -1, S(clock_gettime, value, zero)); zero[0] = (struct timespec){0, 0};
    ODD("timer_create", value == 8 || value == 9 || value == 16 || value == 17 || value < -1, ({ long r = S(timer_create, value, 0, &id); if (r == 0) S(timer_delete, id); r; }));
    S(timer_create, 1, 0, &id);
    BITS("timer_settime", 0, 31, 0, S(timer_settime, id, flag, &timer, 0));
    BITS("timerfd_settime", 0, 31, 0, S(timerfd_settime, tfd, flag, &timer, 0));
    ODD("timer_gettime", (int)value >= 0 && (int)value < 100, S(timer_gettime, value, &timer));
    ODD("timer_getoverrun", (int)value >= 0 && (int)value < 100, S(timer_getoverrun, value));
    ODD("timer_delete", (int)value >= 0 && (int)value < 100, S(timer_delete, value));
    ODD("getitimer", 0, S(getitimer, value, &alarm_)); ODD("setitimer", 0, S(setitimer, value, &alarm_, 0));
    for (int notify = -1; notify < 9; notify++) {
        struct sigevent signal_ = {.sigev_notify = notify, .sigev_signo = SIGUSR1};
        signal_._sigev_un._tid = notify == 4 ? getpid() : 99999999;
        tell("timer_create notify", notify, ({ long r = S(timer_create, 1, &signal_, &id); if (r == 0) S(timer_delete, id); r; }));
        signal_.sigev_signo = 65;
        tell("and signal 65", notify, ({ long r = S(timer_create, 1, &signal_, &id); if (r == 0) S(timer_delete, id); r; }));
        signal_.sigev_signo = 0;
        tell("and signal 0", notify, ({ long r = S(timer_create, 1, &signal_, &id); if (r == 0) S(timer_delete, id); r; }));
    }

    /* Processes. */
    BITS("wait4", 0, 31, 0, S(wait4, -1, &status, flag, 0));
    BITS("waitid", 0, 31, 0, S(waitid, P_ALL, 0, &info, flag, 0));
    ODD("waitid of", 0, S(waitid, value, 1, &info, WEXITED | WNOHANG, 0));
    BITS("unshare", 0, 31, 0xffffff00UL, S(unshare, flag));
    BITS("pidfd_open", 0, 31, O_EXCL | O_NONBLOCK, S(pidfd_open, getpid(), flag));
    ODD("pidfd_open of", value == 1 || value == 2 || value == getpid() || value == (1L << 32 | 1) || (value > 2 && value < 10000) || (int)value == 1, S(pidfd_open, value, 0));
    ODD("getrusage", value == 1, S(getrusage, value, buf));
    ODD("prlimit64", 0, S(prlimit64, 0, value, 0, &limit)); ODD("getrlimit", 0, S(getrlimit, value, &limit));
    ODD("getpriority", value == 1 || value == 2 || value == (1L << 32 | 1), S(getpriority, value, 0) < 0);
    ODD("kill", value > -2 || value < -0x7fffffff, S(kill, getpid(), value));
    ODD("kill signal 0", 0, S(kill, getpid(), (value & 0x7f) + 65));
    ODD("tgkill", value > 0 && value <= 0x7fffffff, S(tgkill, value, getpid(), 0));
    ODD("getpgid", (int)value >= 0 && (int)value < 100000, S(getpgid, value)); ODD("getsid", (int)value >= 0 && (int)value < 100000, S(getsid, value));
    ODD("sigprocmask", 0, S(rt_sigprocmask, value, &none, 0, 8)); ODD("sigprocmask size", 0, S(rt_sigprocmask, 0, 0, 0, value));
    ODD("sigaction", value == 9 || value == 19, S(rt_sigaction, value, 0, 0, 8)); ODD("sigaction size", 0, S(rt_sigaction, 1, 0, 0, value));
    ODD("sigpending size", value > 8, S(rt_sigpending, buf, value));
    BITS("sigaltstack", 0, 30, 0, ({ stack_t stack = {buf, (int)flag, 16384}; long r = S(sigaltstack, &stack, 0); stack.ss_flags = SS_DISABLE; S(sigaltstack, &stack, 0); r; }));
    BITS("futex operation", 4, 31, 0x80 | 0x100, S(futex, &word, flag, 1, 0, 0, 0));
    ODD("set_robust_list", value == 24, S(set_robust_list, buf, value));
    ODD("getgroups", (int)value >= 0, S(getgroups, value, buf));
    ODD("syslog", (value >= 0 && value < 11) || value == 1L << 32 || value == (1L << 32 | 1) || value == 1L << 62 || value == -1L << 62, S(syslog, value, 0, 0));
    ODD("sched_get_priority_max", value == 7 || value == 1L << 62, S(sched_get_priority_max, value));
    ODD("personality", value != 0xffffffff && value != 0 && value != -1, S(personality, 0xffffffff));
    return 0;
}
