// covers: execve rt_sigaction rt_sigprocmask rt_sigpending alarm setitimer timer_create sigaltstack umask
// args: first
#define KEEP_INHERITED
#include "guest.h"
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>

/* What of a process is left when it executes a program: signals, timers, masks, descriptors, limits, its name. */
static void handler(int signo)
{
    (void)signo;
}
static const char *action(int signo)
{
    struct sigaction a;
    sigaction(signo, 0, &a);
    return a.sa_handler == SIG_DFL ? "default" : a.sa_handler == SIG_IGN ? "ignored" : "handled";
}

static void state(void)
{
    sigset_t mask, pending;
    struct itimerval real;
    struct rlimit files;
    stack_t stack;
    char name[17] = "";
    sigprocmask(SIG_SETMASK, 0, &mask), sigpending(&pending), getitimer(ITIMER_REAL, &real), sigaltstack(0, &stack), getrlimit(RLIMIT_NOFILE, &files),
        prctl(PR_GET_NAME, name);
    printf("USR1 %s, USR2 %s, CHLD %s, HUP %s\n", action(SIGUSR1), action(SIGUSR2), action(SIGCHLD), action(SIGHUP));
    printf("mask: TERM %d INT %d; pending: TERM %d RTMIN %d\n", sigismember(&mask, SIGTERM), sigismember(&mask, SIGINT),
        sigismember(&pending, SIGTERM), sigismember(&pending, SIGRTMIN));
    printf("timer %s, alternate stack %s, umask %o, soft limit %ld, name %s\n", real.it_value.tv_sec ? "runs" : "none",
        stack.ss_flags & SS_DISABLE ? "none" : "there", umask(022), (long)files.rlim_cur, name);
    int death = -1, dumpable = (int)S(prctl, PR_GET_DUMPABLE), keep = (int)S(prctl, PR_GET_KEEPCAPS), reaper = -1;
    prctl(PR_GET_PDEATHSIG, &death), prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    printf("death signal %d, dumpable %d, keepcaps %d, subreaper %d, no new privileges %d, slack %ld\n", death, dumpable, keep, reaper,
        (int)S(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), S(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0) == 77777 ? 77777l : 0);
    printf("descriptors: 10 %s, 11 %s, 12 %s\n", fcntl(10, F_GETFD) < 0 ? "closed" : "open", fcntl(11, F_GETFD) < 0 ? "closed" : "open",
        fcntl(12, F_GETFD) < 0 ? "closed" : "open");
    printf("nice %ld, own group %d, argument area %s\n", 20 - S(getpriority, PRIO_PROCESS, 0), getpgrp() == getpid(),
        getenv("VARIABLE") ? getenv("VARIABLE") : "without the variable");
    struct itimerspec t;
    show("timer 0", S(timer_gettime, 0, &t));
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "ShdPnd", 6) == 0)
            if (strncmp(line, "SigIgn", 6) == 0) /* Without those that whoever started it may ignore. */
                printf("  SigIgn: %lx\n", strtoul(line + 8, 0, 16) & 0x7ffffff9);
            else if (strncmp(line, "SigQ", 4))
                printf("  %s", line);
    fclose(f);
    char cwd[300], *last;
    last = getcwd(cwd, sizeof cwd) ? strrchr(cwd, '/') : 0, printf("in %s\n", last && strcmp(last, "/empty") == 0 ? "host/empty" : "another directory");
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1 && strcmp(argv[1], "second") == 0) {
        printf("== second, argc %d\n", argc), state();
        return 0;
    }
    drop_inherited();
    int null = open("/dev/null", O_RDWR);
    dup2(null, 10), dup3(null, 11, O_CLOEXEC), dup2(null, 12), fcntl(12, F_SETFD, FD_CLOEXEC), close(null);
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &a, 0), signal(SIGUSR2, SIG_IGN), signal(SIGCHLD, SIG_IGN);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGTERM), sigaddset(&set, SIGRTMIN), sigprocmask(SIG_BLOCK, &set, 0);
    union sigval value = {.sival_int = 5};
    kill(getpid(), SIGTERM), sigqueue(getpid(), SIGRTMIN, value);
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct itimerval real = {{0, 0}, {1000, 0}};
    struct rlimit files = {100, 200};
    timer_t timer;
    struct itimerspec later = {{0, 0}, {1000, 0}};
    sigaltstack(&alternate, 0), setitimer(ITIMER_REAL, &real, 0), umask(027), setrlimit(RLIMIT_NOFILE, &files), prctl(PR_SET_NAME, "of another name"),
        prctl(PR_SET_PDEATHSIG, SIGHUP), prctl(PR_SET_KEEPCAPS, 1), prctl(PR_SET_CHILD_SUBREAPER, 1), prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        prctl(PR_SET_TIMERSLACK, 77777), timer_create(CLOCK_MONOTONIC, 0, &timer), timer_settime(timer, 0, &later, 0),
        setpriority(PRIO_PROCESS, 0, 7);
    char self[4096];
    long n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    if (chdir("host/empty"))
        printf("chdir failed\n");
    printf("== first\n"), state(), umask(027);
    char *args[] = {"name", "second", NULL}, *env[] = {"VARIABLE=of the first", NULL};
    execve(self, args, env);
    printf("not executed\n");
    return 1;
}
