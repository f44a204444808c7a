// covers: open openat read write readlink getdents64 process_vm_readv process_vm_writev pidfd_send_signal lseek
// flags: -pthread
/* /proc of other processes and threads. */
#include "guest.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char text[1 << 16];

/* Reads a whole file of a process; the error of open or read, or the number of bytes. */
static long get(int pid, const char *name)
{
    char path[64];
    if (pid)
        sprintf(path, "/proc/%d/%s", pid, name);
    else
        sprintf(path, "/proc/self/%s", name);
    long fd = S(open, path, O_RDONLY), n = 0, got = 0;
    if (fd < 0)
        return fd;
    while ((got = S(read, fd, text + n, sizeof text - 1 - n)) > 0)
        n += got;
    text[n] = 0;
    S(close, fd);
    return got < 0 ? got : n;
}

/* A line of /proc/PID/status. */
static void field(int pid, const char *name)
{
    get(pid, "status");
    char *line = strstr(text, name);
    printf("%.*s\n", line ? (int)strcspn(line, "\n") : 4, line ? line : "none");
}

/* A field of /proc/PID/stat, counted from 1. */
static const char *stat_field(int pid, int number)
{
    static char word[64];
    get(pid, "stat");
    char *p = strrchr(text, ')') + 2;
    for (int at = 3; at < number; at++)
        p = strchr(p, ' ') + 1;
    sprintf(word, "%.*s", (int)strcspn(p, " \n"), p);
    return word;
}

static char mine[] = "before", constant[8192] __attribute__((aligned(4096)));
static int up[2], down[2];

static void step(void)
{
    char c;
    S(read, down[0], &c, 1);
}

static void ready(void)
{
    S(write, up[1], "x", 1);
}

/* Waits until a process sleeps. */
static void asleep(int pid)
{
    char c;
    S(read, up[0], &c, 1);
    while (*stat_field(pid, 3) != 'S')
        usleep(1000);
}

static int listed(const char *dir, int number)
{
    DIR *d = opendir(dir);
    int found = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        found += atoi(e->d_name) == number;
    if (d)
        closedir(d);
    return found;
}

static void child(void)
{
    S(prctl, 15, "a (b) c"); /* PR_SET_NAME */
    chdir("host");
    S(dup2, S(open, "file", O_RDONLY), 50);
    S(lseek, 50, 2, SEEK_SET);
    S(dup2, S(open, "made", O_WRONLY | O_CREAT, 0600), 51);
    flock(51, LOCK_EX);
    strcpy(mine, "child!");
    signal(SIGUSR1, SIG_IGN);
    ready();
    step();
    printf("child: %s, %s\n", mine, constant);
    fflush(stdout);
    ready();
    step();
    S(exit_group, 7);
}

static pthread_barrier_t barrier;
static volatile int tid;
static char inside[16], leader[16];

static void *thread(void *unused)
{
    (void)unused;
    tid = (int)S(gettid);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pthread_getname_np(pthread_self(), inside, sizeof inside);
    get(0, "comm");
    strcpy(leader, text);
    char path[64];
    long n = S(readlink, "/proc/thread-self", path, sizeof path - 1);
    path[n] = 0;
    char want[64];
    sprintf(want, "%d/task/%d", (int)S(getpid), tid);
    is(strcmp(path, want) == 0);
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, thread, NULL);
    pthread_barrier_wait(&barrier);
    char name[16] = "", path[64];
    num(pthread_setname_np(other, "worker"));
    num(pthread_getname_np(other, name, sizeof name));
    printf("%s\n", name);
    num(pthread_setname_np(other, "a name that is too long"));
    is(listed("/proc/self/task", tid) == 1);
    is(listed("/proc", tid) == 0);
    is(listed("/proc", getpid()) == 1);
    sprintf(path, "/proc/%d/comm", tid); /* not listed, but there */
    is(access(path, R_OK) == 0);
    sprintf(path, "task/%d/comm", tid);
    num(get(0, path));
    printf("%s", text);
    sprintf(path, "task/%d/status", tid);
    get(0, path);
    int shown = 0, group = 0;
    sscanf(strstr(text, "\nPid:"), "\nPid: %d", &shown);
    sscanf(strstr(text, "\nTgid:"), "\nTgid: %d", &group);
    is(shown == tid && group == getpid());
    field(0, "Threads:");
    printf("%s\n", stat_field(0, 20));
    sprintf(path, "/proc/self/task/%d/comm", tid);
    long comm = S(open, path, O_RDWR);
    num(S(write, comm, "a much longer name", 18));
    num(pthread_getname_np(other, name, sizeof name));
    printf("%s\n", name);
    T(open, "/proc/self/task/1/comm", O_RDONLY);
    sprintf(path, "/proc/self/task/%d", tid);
    long dir = S(open, path, O_RDONLY | O_DIRECTORY);
    is(S(openat, dir, "exe", O_PATH) > 0);
    pthread_barrier_wait(&barrier);
    pthread_join(other, NULL);
    printf("%s, leader %s", inside, leader);
    /* It is gone, and so are its files. */
    while (listed("/proc/self/task", tid))
        usleep(1000);
    T(lseek, comm, 0, SEEK_SET);
    T(read, comm, name, 10);
    T(write, comm, "x", 1);
    T(openat, dir, "comm", O_RDONLY);
    T(getdents64, dir, text, sizeof text);
    T(open, path, O_RDONLY);
    field(0, "Threads:");
}

int main(void)
{
    char path[5000], buf[4096], cwd[4096];
    strcpy(constant, "constant");
    mprotect(constant, 4096, PROT_READ);
    S(pipe2, up, 0), S(pipe2, down, 0);
    /* What was opened before a fork shows its opener, whoever reads. */
    long own = S(open, "/proc/self", O_RDONLY | O_DIRECTORY), own_stat = S(open, "/proc/self/stat", O_RDONLY);
    int parent = getpid();
    fflush(stdout);
    int pid = fork();
    if (pid == 0) {
        long fd = S(openat, own, "stat", O_RDONLY);
        S(read, fd, buf, sizeof buf);
        is(atoi(buf) == parent);
        S(read, own_stat, buf, sizeof buf);
        is(atoi(buf) == parent);
        is(atoi(stat_field(0, 4)) == parent);
        fflush(stdout);
        child();
    }
    asleep(pid);
    /* Names and numbers. */
    is(listed("/proc", pid) == 1 && listed("/proc", parent) == 1);
    get(pid, "stat");
    sprintf(buf, "%d (a (b) c) S %d ", pid, parent);
    is(strncmp(text, buf, strlen(buf)) == 0);
    num(get(pid, "comm"));
    printf("%s", text);
    field(pid, "Name:");
    field(pid, "State:");
    field(pid, "Threads:");
    uint64_t ignored[2];
    for (int i = 0; i < 2; i++) {
        get(i ? pid : parent, "status");
        sscanf(strstr(text, "\nSigIgn:"), "\nSigIgn: %lx", &ignored[i]);
    }
    is((ignored[0] ^ ignored[1]) == 1 << (SIGUSR1 - 1));
    get(pid, "status");
    int tgid = 0, ppid = 0, shown = 0;
    sscanf(strstr(text, "\nTgid:"), "\nTgid: %d", &tgid);
    sscanf(strstr(text, "\nPid:"), "\nPid: %d", &shown);
    sscanf(strstr(text, "\nPPid:"), "\nPPid: %d", &ppid);
    is(tgid == pid && shown == pid && ppid == parent);
    is(strtoul(stat_field(pid, 22), NULL, 10) >= strtoul(stat_field(parent, 22), NULL, 10));
    is(atol(stat_field(pid, 23)) > 0 && atol(stat_field(pid, 24)) > 0);
    num(get(pid, "cmdline") > 0);
    is(strstr(text, "proc_tasks") != NULL);
    is(get(pid, "environ") > 0 && get(pid, "auxv") % 16 == 0);
    is(get(pid, "limits") > 0 && strstr(text, "Max open files") != NULL);
    is(get(pid, "io") > 0 && strncmp(text, "rchar: ", 7) == 0);
    is(get(pid, "schedstat") > 0 && get(pid, "statm") > 0 && get(pid, "mountinfo") > 0);
    /* Where it is. */
    getcwd(cwd, sizeof cwd);
    sprintf(path, "/proc/%d/cwd", pid);
    long n = S(readlink, path, buf, sizeof buf);
    is(n == (long)strlen(cwd) + 5 && memcmp(buf, cwd, n - 5) == 0 && memcmp(buf + n - 5, "/host", 5) == 0);
    sprintf(path, "/proc/%d/cwd/file", pid);
    is(access(path, R_OK) == 0);
    sprintf(path, "/proc/%d/root", pid);
    num(S(readlink, path, buf, sizeof buf));
    sprintf(path, "/proc/%d/root%s/host/file", pid, cwd);
    is(access(path, R_OK) == 0);
    sprintf(path, "/proc/%d/exe", pid);
    n = S(readlink, path, buf, sizeof buf), buf[n] = 0;
    printf("%s\n", strrchr(buf, '/'));
    struct stat one, two;
    is(stat(path, &one) == 0 && stat("/proc/self/exe", &two) == 0 && one.st_ino == two.st_ino);
    /* Its descriptors. */
    sprintf(path, "/proc/%d/fd", pid);
    is(listed(path, 50) == 1 && listed(path, 52) == 0);
    is(listed("/proc/self/fd", 50) == 0);
    sprintf(path, "/proc/%d/fd/50", pid);
    n = S(readlink, path, buf, sizeof buf), buf[n] = 0;
    printf("%s\n", strrchr(buf, '/'));
    lstat(path, &one);
    printf("%o\n", one.st_mode);
    long fd = S(open, path, O_RDONLY);
    num(S(read, fd, buf, 3));
    printf("%.3s\n", buf); /* from its beginning: it is opened anew */
    sprintf(path, "/proc/%d/fd/51", pid);
    lstat(path, &one);
    printf("%o\n", one.st_mode);
    sprintf(path, "/proc/%d/fd/52", pid);
    T(open, path, O_RDONLY);
    sprintf(path, "/proc/%d/fd/%d", pid, down[0]);
    fd = S(open, path, O_RDONLY | O_NONBLOCK);
    is(fd >= 0);
    T(read, fd, buf, 1);
    sprintf(path, "fdinfo/50");
    get(pid, path);
    printf("%.6s\n", text);
    T(stat, "/proc/self/fd/50", &one);
    /* Its lock. */
    fd = S(open, "/proc/locks", O_RDONLY);
    n = S(read, fd, text, sizeof text - 1), text[n > 0 ? n : 0] = 0;
    stat("host/made", &one);
    n = 0;
    for (char *lock = strtok(text, "\n"); lock; lock = strtok(NULL, "\n")) {
        unsigned long inode = 0;
        int holder = 0;
        if (sscanf(lock, "%*d: FLOCK ADVISORY WRITE %d %*[0-9a-f]:%*[0-9a-f]:%lu 0 EOF", &holder, &inode) == 2)
            n += holder == pid && inode == one.st_ino;
    }
    num(n);
    /* Its memory. */
    sprintf(path, "%lx-", (long)constant);
    get(pid, "maps");
    char *line = strstr(text, path);
    printf("%.4s\n", line ? strchr(line, ' ') + 1 : "none");
    is(get(pid, "smaps") > 0 && get(pid, "smaps_rollup") > 0);
    struct iovec here = {buf, 7}, there = {mine, 7};
    num(S(process_vm_readv, pid, &here, 1, &there, 1, 0));
    printf("%s, here %s\n", buf, mine);
    strcpy(buf, "other!");
    num(S(process_vm_writev, pid, &here, 1, &there, 1, 0));
    there.iov_base = constant;
    T(process_vm_writev, pid, &here, 1, &there, 1, 0);
    there.iov_base = (void *)8;
    T(process_vm_readv, pid, &here, 1, &there, 1, 0);
    there.iov_base = mine;
    T(process_vm_readv, 0x3fffff, &here, 1, &there, 1, 0);
    sprintf(path, "/proc/%d/mem", pid);
    long mem = S(open, path, O_RDWR);
    num(S(pread64, mem, buf, 7, (long)mine));
    printf("%s\n", buf);
    num(S(pwrite64, mem, "replaced", 9, (long)constant)); /* though it is read-only */
    printf("here %s\n", constant);
    T(pread64, mem, buf, 7, 8);
    T(lseek, mem, 0, SEEK_END);
    T(lseek, mem, 100, SEEK_SET);
    T(read, mem, buf, 1);
    S(write, down[1], "x", 1);
    asleep(pid);
    /* What others may not change, and what they may. */
    sprintf(path, "/proc/%d/comm", pid);
    fd = S(open, path, O_WRONLY);
    T(write, fd, "x", 1);
    sprintf(path, "/proc/%d/oom_score_adj", pid);
    fd = S(open, path, O_RDWR);
    T(write, fd, "500\n", 4);
    get(pid, "oom_score_adj");
    printf("%s", text);
    get(0, "oom_score_adj");
    is(atoi(text) != 500);
    T(write, fd, "1001", 4);
    T(write, fd, "x", 1);
    num(get(pid, "coredump_filter"));
    sprintf(path, "task/%d/children", parent);
    n = get(0, path);
    sprintf(buf, "%d ", pid);
    is(n == -2 || strcmp(text, buf) == 0); /* not in every kernel */
    /* A signal by its directory. */
    sprintf(path, "/proc/%d", pid);
    long dir = S(open, path, O_RDONLY | O_DIRECTORY);
    T(pidfd_send_signal, dir, 0, NULL, 0);
    T(pidfd_send_signal, dir, SIGUSR1, NULL, 0);
    T(pidfd_send_signal, own_stat, 0, NULL, 0);
    long tasks = S(openat, dir, "task", O_RDONLY | O_DIRECTORY);
    T(pidfd_send_signal, tasks, 0, NULL, 0);
    /* A zombie. */
    long status = S(openat, dir, "status", O_RDONLY), maps = S(openat, dir, "maps", O_RDONLY);
    S(write, down[1], "x", 1);
    siginfo_t info;
    S(waitid, P_PID, pid, &info, WEXITED | WNOWAIT, NULL);
    field(pid, "State:");
    field(pid, "Threads:");
    field(pid, "VmSize:");
    printf("%s\n", stat_field(pid, 3));
    num(get(pid, "cmdline"));
    num(get(pid, "maps"));
    num(get(pid, "comm"));
    num(S(read, maps, buf, 100));
    num(S(pread64, mem, buf, 7, (long)mine));
    T(openat, dir, "exe", O_RDONLY);
    sprintf(path, "/proc/%d/cwd", pid);
    T(readlink, path, buf, sizeof buf);
    T(process_vm_readv, pid, &here, 1, &there, 1, 0);
    is(listed("/proc", pid) == 1);
    T(pidfd_send_signal, dir, 0, NULL, 0);
    /* Gone. */
    num(S(wait4, pid, NULL, 0, NULL) == pid);
    is(listed("/proc", pid) == 0);
    num(get(pid, "stat"));
    T(read, status, buf, 10);
    T(openat, dir, "stat", O_RDONLY);
    T(openat, dir, ".", O_RDONLY | O_DIRECTORY);
    T(getdents64, dir, buf, sizeof buf);
    T(fstat, dir, &one);
    T(pidfd_send_signal, dir, 0, NULL, 0);
    T(fchdir, dir);
    T(open, "/proc/self/status", O_WRONLY | O_DIRECTORY);
    chdir(cwd);
    threads();
    return 0;
}
