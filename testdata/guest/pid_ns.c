// covers: clone unshare setns getpid getppid gettid kill wait4 waitid setsid getpgid fcntl
#include "namespace.h"
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Numbers of processes in PID namespaces, and the first process of one. */

static int clones(unsigned long flags)
{
    fflush(stdout);
    return (int)S(clone, flags | SIGCHLD, 0, 0, 0, 0);
}

/* Waits for any child and tells its number in words: the one that was made, or another. */
static void waits(const char *what, pid_t expected)
{
    int status = 0;
    pid_t got = waitpid(-1, &status, 0);
    printf("%s: %s ", what, got == expected ? "the child" : got < 0 ? strerrorname_np(errno) : "another");
    told("", status);
}

static void line_of(const char *path, const char *key)
{
    char line[256];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key)))
            printf("%s %s", path, line);
    if (f)
        fclose(f);
    else
        printf("%s: %s\n", path, strerrorname_np(errno));
}

/* What a process of a namespace sees of itself. */
static void seen(void)
{
    T(getpid);
    T(gettid);
    T(getppid);
    T(getpgid, 0);
    T(getsid, 0);
    T(getpgrp);
    T(setsid);
    T(getpgid, 0);
    T(getpgid, 1);
    T(getsid, 1);
    T(getpgid, 2);
    T(kill, 1, 0);
    T(kill, 5, 0);
    T(kill, -1, 0);
    T(tgkill, 1, 1, 0);
    T(setpgid, 0, 0);
    T(sched_getscheduler, 1);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        char buf[64];
        T(getpid);
        T(getppid);
        T(getpgid, 0);
        T(setpgid, 0, 0);
        T(getpgid, 0);
        T(kill, 1, 0);
        snprintf(buf, sizeof buf, "%d", getpid());
        printf("own number: %s\n", buf);
        fflush(stdout);
        _exit(3);
    }
    printf("fork = %d\n", pid);
    waits("wait", pid);
    siginfo_t info = {0};
    fflush(stdout);
    pid = fork();
    if (!pid)
        _exit(4);
    S(waitid, P_PID, pid, &info, WEXITED | WNOWAIT, 0);
    printf("waitid: pid %d status %d\n", info.si_pid, info.si_status);
    waits("wait", pid);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        fflush(stdout);
        pid_t orphan = fork();
        if (!orphan) {
            while (getppid() != 1)
                usleep(1000);
            printf("orphan: parent %d\n", getppid());
            fflush(stdout);
            _exit(7);
        }
        _exit(0);
    }
    waits("wait", pid);
    waits("wait for the orphan", pid + 1);
    waits("wait", 0);
    fflush(stdout);
}

static volatile int got_pid, got_code, got;
static void handler(int signo, siginfo_t *info, void *context)
{
    got = signo;
    got_pid = info->si_pid;
    got_code = info->si_code;
}

static void handle(int signo)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(signo, &action, NULL);
}

/* Signals to and from the first process. */
static void signals(int ready, int go)
{
    char c;
    handle(SIGUSR1);
    T(kill, 1, SIGTERM);
    T(kill, 1, SIGKILL);
    T(kill, 1, SIGSTOP);
    T(kill, 1, SIGUSR1);
    printf("got %d from %d code %d\n", got, got_pid, got_code);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        T(kill, 1, SIGKILL);
        T(kill, 1, SIGHUP);
        T(kill, 1, SIGUSR1);
        fflush(stdout);
        _exit(0);
    }
    waits("wait", pid);
    printf("got %d from %d\n", got, got_pid == pid);
    got = 0;
    fflush(stdout);
    write(ready, "r", 1);
    read(go, &c, 1);
    while (!got)
        usleep(1000);
    printf("got %d from outside: %d\n", got, got_pid);
    fflush(stdout);
    write(ready, "r", 1);
    for (;;)
        pause();
}

static void first_process(void)
{
    int up[2], down[2];
    char c;
    printf("-- signals\n");
    pipe(up);
    pipe(down);
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid)
        signals(up[1], down[0]);
    read(up[0], &c, 1);
    T(kill, pid, SIGTERM);
    T(kill, pid, SIGUSR1);
    write(down[1], "g", 1);
    read(up[0], &c, 1);
    T(kill, pid, SIGKILL);
    waits("wait", pid);
}

/* A fault ends the first process all the same. */
static void fault(void)
{
    printf("-- fault\n");
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid) {
        *(volatile int *)8 = 1;
        _exit(0);
    }
    waits("wait", pid);
}

/* With the first process all others end, and before it can be waited for. */
static void death(void)
{
    int up[2];
    char c;
    printf("-- death\n");
    pipe(up);
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid) {
        for (int i = 0; i < 3; i++)
            if (!fork()) {
                close(up[0]);
                write(up[1], "r", 1);
                for (;;)
                    pause();
            }
        for (int i = 0; i < 3; i++)
            read(up[0], &c, 1);
        _exit(9);
    }
    close(up[1]);
    waits("wait", pid);
    long n = read(up[0], &c, 1);
    printf("end of the pipe: %ld\n", n);
    close(up[0]);
}

/* Namespaces for children alone. */
static void for_children(void)
{
    printf("-- unshare\n");
    fflush(stdout);
    pid_t before = getpid();
    T(unshare, CLONE_NEWPID);
    is(getpid() == before);
    T(unshare, CLONE_NEWPID);
    show("clone(CLONE_THREAD)", S(clone, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND, 0, 0, 0, 0));
    int fd = open("/proc/self/ns/pid_for_children", O_RDONLY);
    show("open of a namespace without processes", fd < 0 ? -errno : 0);
    int own = open("/proc/self/ns/pid", O_RDONLY);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        T(getpid);
        fflush(stdout);
        _exit(0);
    }
    waits("wait", pid);
    fflush(stdout);
    pid = fork();
    show("fork after the first one's end", pid < 0 ? -errno : 0);
    if (!pid)
        _exit(0);
    T(setns, own, CLONE_NEWPID);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        is(getpid() > 2);
        fflush(stdout);
        _exit(0);
    }
    waits("wait", pid);
    close(own);
    close(fd);
}

static void entered(void)
{
    int up[2];
    char c, path[64];
    printf("-- setns\n");
    pipe(up);
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid) {
        pid_t got = wait(NULL);
        printf("the first process waited: %d\n", got);
        fflush(stdout);
        write(up[1], "r", 1);
        for (;;)
            pause();
    }
    read(up[0], &c, 1);
    snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
    int fd = open(path, O_RDONLY), own = open("/proc/self/ns/pid", O_RDONLY);
    T(setns, fd, CLONE_NEWPID);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        T(getpid);
        T(getppid);
        T(kill, 1, 0);
        T(setns, own, CLONE_NEWPID);
        fflush(stdout);
        _exit(5);
    }
    waits("wait", child);
    T(setns, own, CLONE_NEWPID);
    T(kill, pid, SIGKILL);
    waits("wait", pid);
}

/* /proc shows the numbers of the namespace that it was mounted in. */
static void proc(void)
{
    printf("-- proc\n");
    S(mkdir, "p", 0755);
    pid_t pid = clones(CLONE_NEWPID | CLONE_NEWNS);
    if (!pid) {
        char link[64];
        T(mount, "proc", "p", "proc", 0, 0);
        long n = readlink("p/self", link, sizeof link);
        printf("p/self -> %.*s\n", (int)n, link);
        n = readlink("p/thread-self", link, sizeof link);
        printf("p/thread-self -> %.*s\n", (int)n, link);
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            char byte;
            read(0, &byte, 0);
            pause();
        }
        line_of("p/1/status", "Tgid:");
        line_of("p/1/status", "Pid:");
        line_of("p/1/status", "PPid:");
        line_of("p/1/status", "NSpid:");
        line_of("p/self/status", "NSpid:");
        line_of("p/2/status", "NSpid:");
        line_of("p/2/status", "PPid:");
        line_of("p/3/status", "NSpid:");
        T(access, "p/sys/kernel/pid_max", R_OK);
        T(access, "p/self/exe", X_OK);
        int pidns = open("p/1/stat", O_RDONLY);
        char stat[512] = "";
        read(pidns, stat, sizeof stat - 1);
        int own, ppid;
        sscanf(stat, "%d %*s %*c %d", &own, &ppid);
        printf("stat: %d %d\n", own, ppid);
        kill(child, SIGKILL);
        waits("wait", child);
        fflush(stdout);
        /* One further down. */
        child = clones(CLONE_NEWPID);
        if (!child) {
            char buf[64];
            T(getpid);
            n = readlink("p/self", buf, sizeof buf);
            printf("p/self -> %.*s\n", (int)n, buf);
            line_of("p/self/status", "NSpid:");
            fflush(stdout);
            _exit(0);
        }
        waits("wait", child);
        fflush(stdout);
        _exit(0);
    }
    waits("wait", pid);
    S(rmdir, "p");
}

/* Numbers that come with a message, and of owners. */
static void messages(void)
{
    int pair[2], on = 1, up[2];
    char c;
    printf("-- messages\n");
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    pipe(up);
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid) {
        setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
        write(pair[1], "x", 1);
        int fd = pair[1];
        check(fcntl(fd, F_SETOWN, 1));
        check(fcntl(fd, F_GETOWN));
        struct flock lock = {.l_type = F_WRLCK};
        int file = open("locked", O_RDWR | O_CREAT, 0644);
        fcntl(file, F_SETLK, &lock);
        char control[64] = "", data;
        struct iovec iov = {&data, 1};
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = 64};
        recvmsg(pair[1], &message, 0);
        struct ucred *cred = (void *)CMSG_DATA(CMSG_FIRSTHDR(&message));
        printf("from outside: pid %d\n", cred->pid);
        fflush(stdout);
        write(up[1], "r", 1);
        pause();
    }
    char control[64] = "", data;
    struct iovec iov = {&data, 1};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = 64};
    recvmsg(pair[0], &message, 0);
    struct ucred *cred = (void *)CMSG_DATA(CMSG_FIRSTHDR(&message));
    is(cred->pid == pid);
    write(pair[0], "y", 1);
    read(up[0], &c, 1);
    is(fcntl(pair[1], F_GETOWN) == pid);
    struct flock lock = {.l_type = F_WRLCK};
    int file = open("locked", O_RDWR);
    fcntl(file, F_GETLK, &lock);
    is(lock.l_pid == pid);
    kill(pid, SIGKILL);
    waits("wait", pid);
    close(file);
    unlink("locked");
}

int main(void)
{
    become_root();
    pid_t pid = clones(CLONE_NEWPID);
    if (!pid) {
        if (S(mount, "proc", "/proc", "proc", 0, 0) < 0)
            lacks("/proc may not be mounted here");
        printf("-- numbers\n");
        pid = clones(CLONE_NEWPID);
        if (!pid) {
            seen();
            _exit(0);
        }
        waits("wait", pid);
        first_process();
        fault();
        death();
        for_children();
        entered();
        proc();
        messages();
        T(clone, CLONE_NEWPID | CLONE_THREAD | CLONE_VM | CLONE_SIGHAND, 0, 0, 0, 0);
        T(clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
