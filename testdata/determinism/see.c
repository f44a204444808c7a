/* Prints what a program can see of its machine and of itself, so that whatever comes from the host
 * changes the output, and whatever changes a digit or a branch changes the counts. Its arguments
 * are paths to look at besides. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void show_stat(const char *what, int failed, const struct stat *st)
{
    if (failed) {
        printf("%s: %s\n", what, strerrorname_np(errno));
        return;
    }
    printf("%s: dev %lx ino %lu mode %o nlink %lu uid %u gid %u rdev %lx size %ld blksize %ld blocks %ld "
           "times %ld %ld %ld\n",
           what, st->st_dev, st->st_ino, st->st_mode, st->st_nlink, st->st_uid, st->st_gid, st->st_rdev,
           st->st_size, st->st_blksize, st->st_blocks, st->st_atime, st->st_mtime, st->st_ctime);
}

static void look(const char *path)
{
    struct stat st;
    struct statx stx;
    struct statfs fs;

    show_stat(path, lstat(path, &st), &st);
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_ALL, &stx) == 0)
        printf("  statx mask %x attributes %llx dev %x:%x ino %llu mnt %llu\n", stx.stx_mask,
               stx.stx_attributes, stx.stx_dev_major, stx.stx_dev_minor, stx.stx_ino, stx.stx_mnt_id);
    if (statfs(path, &fs) == 0)
        printf("  statfs %lx %ld %ld %ld %ld %ld %ld %x%x %ld %ld %lx\n", fs.f_type, fs.f_bsize, fs.f_blocks,
               fs.f_bfree, fs.f_bavail, fs.f_files, fs.f_ffree, fs.f_fsid.__val[0], fs.f_fsid.__val[1],
               fs.f_namelen, fs.f_frsize, fs.f_flags);
    printf("  access %d%d%d\n", access(path, R_OK), access(path, W_OK), access(path, X_OK));
}

static void dump(const char *path)
{
    char buf[4096];
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        printf("%s: %s\n", path, strerrorname_np(errno));
        return;
    }
    printf("%s as %d:\n", path, fd);
    for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
        fwrite(buf, 1, n, stdout);
    printf("\n");
    close(fd);
}

/* Names, inode numbers and types, in the order in which they come. */
static void list(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        printf("%s: %s\n", path, strerrorname_np(errno));
        return;
    }
    printf("%s:", path);
    for (struct dirent *entry; (entry = readdir(dir));)
        printf(" %s %lu %d", entry->d_name, entry->d_ino, entry->d_type);
    printf("\n");
    closedir(dir);
}

static void myself(void)
{
    uid_t u[3];
    gid_t g[3], groups[64];
    getresuid(&u[0], &u[1], &u[2]);
    getresgid(&g[0], &g[1], &g[2]);
    printf("ids %d %d %d %d %u %u %u %u %u %u", getpid(), getppid(), getpgrp(), getsid(0), u[0], u[1], u[2],
           g[0], g[1], g[2]);
    int count = getgroups(64, groups);
    for (int i = 0; i < count; i++)
        printf(" %u", groups[i]);
    unsigned header[2] = {0x20080522, 0}, caps[6] = {0};
    syscall(SYS_capget, header, caps);
    printf("\ncaps %x %x %x %x %x %x\n", caps[0], caps[1], caps[2], caps[3], caps[4], caps[5]);
    mode_t mask = umask(0);
    umask(mask);
    printf("umask %o nice %d dumpable %d secure %d\n", mask, getpriority(PRIO_PROCESS, 0),
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_SECUREBITS));
    printf("pdeathsig %d timerslack %d nnp %d seccomp %d\n", prctl(PR_GET_PDEATHSIG, &u[0]),
           prctl(PR_GET_TIMERSLACK), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP));
    printf("personality %lx policy %d", syscall(SYS_personality, 0xffffffffl), sched_getscheduler(0));
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf(" cpus %d cpu %d ioprio %ld\n", CPU_COUNT(&cpus), sched_getcpu(), syscall(SYS_ioprio_get, 1, 0));
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit;
        getrlimit(i, &limit);
        printf("limit %d %lx %lx\n", i, limit.rlim_cur, limit.rlim_max);
    }
    for (int sig = 1; sig < 65; sig++) {
        struct sigaction action;
        if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("signal %d is not as it was\n", sig);
    }
    sigset_t set;
    unsigned long bits[2] = {0};
    sigprocmask(SIG_BLOCK, NULL, &set);
    memcpy(bits, &set, 8);
    sigpending(&set);
    memcpy(bits + 1, &set, 8);
    printf("blocked %lx pending %lx\n", bits[0], bits[1]);
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("altstack %x\n", stack.ss_flags);
    for (int fd = 0; fd < 1024; fd++) {
        struct stat st;
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "descriptor %d", fd);
        show_stat(name, fstat(fd, &st), &st);
        printf("  flags %x %x tty %d offset %ld\n", fcntl(fd, F_GETFD), fcntl(fd, F_GETFL), isatty(fd),
               (long)lseek(fd, 0, SEEK_CUR));
    }
    for (int i = 0; environ[i]; i++)
        printf("env %s\n", environ[i]);
    for (unsigned long key = 0; key < 64; key++)
        if (key != AT_RANDOM)
            printf("aux %lu %lx\n", key, getauxval(key));
    unsigned char *random = (unsigned char *)getauxval(AT_RANDOM);
    printf("addresses %p %p %p %p %02x%02x\n", (void *)&u, (void *)environ, sbrk(0), (void *)myself, random[0],
           random[15]);
}

static void machine(void)
{
    struct utsname name;
    struct sysinfo info;
    struct rusage usage;
    struct tms ticks;
    struct timespec time;
    struct timeval now;
    struct winsize window = {0};
    char host[256] = "", where[4096] = "";

    uname(&name);
    printf("uname %s %s %s %s %s %s\n", name.sysname, name.nodename, name.release, name.version, name.machine,
           name.domainname);
    gethostname(host, sizeof host);
    printf("host %s id %lx\n", host, gethostid());
    sysinfo(&info);
    printf("sysinfo %ld %lu %lu %lu %lu %lu %lu %lu %u\n", info.uptime, info.loads[0], info.totalram,
           info.freeram, info.sharedram, info.bufferram, info.totalswap, info.freeswap, info.procs);
    printf("sysconf");
    for (int i = 0; i < 200; i++)
        printf(" %ld", sysconf(i));
    printf("\n");
    getrusage(RUSAGE_SELF, &usage);
    printf("usage %ld.%06ld %ld %ld %ld %ld %ld\n", usage.ru_utime.tv_sec, usage.ru_utime.tv_usec, usage.ru_maxrss,
           usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw);
    printf("times %ld %ld\n", (long)times(&ticks), (long)ticks.tms_utime);
    for (int clock = 0; clock < 12; clock++)
        if (clock_gettime(clock, &time) == 0)
            printf("clock %d %ld.%09ld\n", clock, time.tv_sec, time.tv_nsec);
    gettimeofday(&now, NULL);
    time_t second = now.tv_sec;
    char text[64];
    struct tm *local = localtime(&second);
    strftime(text, sizeof text, "%c %Z", local);
    printf("now %ld.%06ld %s\n", now.tv_sec, now.tv_usec, text);
    unsigned char random[8];
    syscall(SYS_getrandom, random, sizeof random, 0);
    printf("random %02x%02x%02x%02x\n", random[0], random[1], random[2], random[3]);
    for (int fd = 0; fd < 3; fd++)
        printf("window %d: %d %hux%hu\n", fd, ioctl(fd, TIOCGWINSZ, &window), window.ws_col, window.ws_row);
    /* Its length is input; whether there is one is not. */
    printf("cwd %d\n", getcwd(where, sizeof where) != NULL);
    struct pollfd polled[3] = {{0, POLLIN}, {1, POLLOUT}, {2, POLLOUT}};
    printf("poll %d %x %x %x\n", poll(polled, 3, 0), polled[0].revents, polled[1].revents, polled[2].revents);
    struct dirent **names;
    printf("%d names of descriptors\n", scandir("/proc/self/fd", &names, NULL, alphasort));
}

/* More files at once than a host may allow: each keeps its place. */
static void many(const char *directory)
{
    int fds[300], opened = 0;
    char name[4096], byte;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%s/%d", directory, i);
        fds[i] = open(name, O_RDONLY);
        opened += fds[i] >= 0;
    }
    unsigned sum = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++)
            if (fds[i] >= 0 && read(fds[i], &byte, 1) == 1)
                sum = sum * 31 + byte;
    printf("%d files open, sum %u\n", opened, sum);
    /* Up to the limit of the machine. */
    int last = 0, fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    printf("the last is %d, then %s\n", last, strerrorname_np(errno));
    for (fd = 3; fd <= last; fd++)
        close(fd);
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {
        "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/uptime",
        "/proc/loadavg", "/proc/cmdline", "/proc/mounts", "/proc/self/status", "/proc/self/stat",
        "/proc/self/statm", "/proc/self/limits", "/proc/self/mountinfo", "/proc/self/cgroup",
        "/proc/self/oom_score", "/proc/self/oom_score_adj", "/proc/self/io", "/proc/self/environ",
        "/proc/self/comm", "/proc/self/loginuid", "/proc/self/sessionid", "/proc/self/personality",
        "/proc/self/smaps_rollup", "/proc/vmstat", "/proc/diskstats", "/proc/locks", "/proc/interrupts",
        "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id",
        "/proc/sys/kernel/random/uuid", "/proc/sys/fs/file-nr", "/sys/devices/system/cpu/online",
        "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/net/dev",
    };
    myself();
    machine();
    look("/");
    look(".");
    look("/dev");
    look("/dev/null");
    look("/dev/shm");
    look("/proc");
    look("/proc/self");
    look("/sys");
    for (int i = 1; i < argc; i++) {
        look(argv[i]);
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            list(argv[i]);
    }
    list("/proc");
    list("/proc/self");
    list("/proc/self/fd");
    list("/dev");
    list("/sys");
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        dump(texts[i]);
    if (argc > 1)
        many(argv[1]);
    /* What it makes has its own user, mask and times. */
    int fd = open("made", O_CREAT | O_WRONLY | O_EXCL, 0666);
    printf("made %d\n", fd);
    mkdir("made.d", 0777);
    mkfifo("made.p", 0666);
    symlink("made", "made.l");
    look("made");
    look("made.d");
    look("made.p");
    look("made.l");
    fflush(stdout);
    struct stat st;
    show_stat("output", fstat(1, &st), &st);
    return 0;
}
