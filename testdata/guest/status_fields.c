// covers: open read prctl umask setrlimit rt_sigprocmask setpriority clone
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <sys/prctl.h>

/* Lines of /proc/self/status, stat, limits, comm, cmdline and environ, after the calls that change them. */
static void fields(const char *what, const char *path, const char **names)
{
    char line[500];
    FILE *f = fopen(path, "r");
    printf("%s:\n", what);
    while (f && fgets(line, sizeof line, f))
        for (int i = 0; names[i]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                printf("  %s", line);
    if (f)
        fclose(f);
    else
        show(path, -errno);
}
static void *thread(void *arg)
{
    const char *names[] = {"Name:", "Threads:", "SigPnd:", "ShdPnd:", NULL};
    char path[64];
    (void)arg, prctl(PR_SET_NAME, "the second"), fields("by the thread", "/proc/thread-self/status", names),
        fields("of the process", "/proc/self/status", names), cat("/proc/thread-self/comm"),
        snprintf(path, sizeof path, "/proc/self/task/%ld/comm", S(gettid)), put(path, "renamed by file"), cat("/proc/thread-self/comm"),
        cat("/proc/self/comm"), S(chdir, "/proc/thread-self"), cat("comm");
    return 0;
}

int main(int argc, char **argv)
{
    const char *some[] = {"Name:", "Umask:", "State:", "Threads:", "SigPnd:", "ShdPnd:", "SigBlk:", "SigCgt:", "VmLck:", "VmPin:",
        "CoreDumping:", NULL},
        *limits[] = {"Limit ", "Max open files", "Max core file size", "Max nice", "Max realtime timeout", NULL},
        *ids[] = {"Tgid:", "Ngid:", "TracerPid:", NULL};
    char buf[300];
    (void)argc;
    fields("at first", "/proc/self/status", some), umask(0777), signal(SIGUSR1, SIG_IGN), signal(SIGUSR2, (void (*)(int))fields);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGHUP), sigaddset(&set, SIGRTMAX), sigaddset(&set, SIGRTMIN), sigprocmask(SIG_BLOCK, &set, 0),
        kill(getpid(), SIGHUP), S(tgkill, getpid(), S(gettid), SIGRTMAX), prctl(PR_SET_NAME, "a \\ and\na line"),
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    struct rlimit files = {123, 456};
    S(setrlimit, RLIMIT_NOFILE, &files), dup2(1, 100), mlock(buf, 10), fields("changed", "/proc/self/status", some),
        fields("limits", "/proc/self/limits", limits), fields("ids", "/proc/self/status", ids + 1), num((long)own_stat_field(19)),
        num((long)own_stat_field(20));
    setpriority(PRIO_PROCESS, 0, 5), num((long)own_stat_field(18)), num((long)own_stat_field(19)), is(own_stat_field(4) == (unsigned long)getppid()),
        is(own_stat_field(5) == (unsigned long)getpgrp()), is(own_stat_field(6) == (unsigned long)getsid(0)), num((long)own_stat_field(38)),
        num((long)own_stat_field(40)), num((long)own_stat_field(41));
    long fd = S(open, "/proc/self/stat", O_RDONLY), n = S(read, fd, buf, 299);
    buf[n > 0 ? n : 0] = 0, printf("%.17s\n", strchr(buf, '('));
    /* The words of the program, which it may write over. */
    fd = S(open, "/proc/self/cmdline", O_RDONLY), n = S(read, fd, buf, 299), is(n == (long)strlen(argv[0]) + 1 && memcmp(buf, argv[0], n) == 0),
        T(lseek, fd, 2, SEEK_SET), is(S(read, fd, buf, 299) == n - 2), memset(argv[0], 'z', 3), S(lseek, fd, 0, SEEK_SET), S(read, fd, buf, 299),
        printf("%.3s\n", buf), setenv("ADDED", "later", 1), fd = S(open, "/proc/self/environ", O_RDONLY), n = S(read, fd, buf, 299),
        is(n > 0 && !memmem(buf, n, "ADDED", 5)), is(memmem(buf, n, "LANG=C.UTF-8", 13) != NULL);
    pthread_t t;
    pthread_create(&t, 0, thread, (void *)(long)getppid()), pthread_join(t, 0), T(open, "/proc/self/status", O_WRONLY),
        T(open, "/proc/self/none", O_RDONLY), T(open, "/proc/0", O_RDONLY), T(open, "/proc/self/task/1x", O_RDONLY),
        T(readlink, "/proc/self", BAD, 10), is(S(readlink, "/proc/self", buf, 299) > 0 && atoi(buf) == getpid()),
        n = S(readlink, "/proc/thread-self", buf, 299), buf[n > 0 ? n : 0] = 0, is(strstr(buf, "/task/") != NULL);
    return 0;
}
