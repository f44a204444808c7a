// covers: wait4 waitid setrlimit prctl kill
/* The flag of a status that tells of a core dump: by signal, limit and whether the process may be dumped. Without
 * guest.h, which takes the limit away. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux writes core files here. If it may not, or gives them to a program, the flag is that program's, and what
 * is printed is what core(5) says of a file. */
static int writes_files(void)
{
    char pattern[128] = "";
    struct rlimit limit;
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY);
    if (fd >= 0 && read(fd, pattern, sizeof pattern - 1) < 0)
        pattern[0] = 0;
    close(fd);
    getrlimit(RLIMIT_CORE, &limit);
    return pattern[0] && !strpbrk(pattern, "|/") && limit.rlim_max == RLIM_INFINITY;
}

static void ends_by(int signo, const char *what, rlim_t most, int dumpable, int expected)
{
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        struct rlimit limit = {most, RLIM_INFINITY};
        setrlimit(RLIMIT_CORE, &limit);
        prctl(PR_SET_DUMPABLE, dumpable);
        /* Who started the test may ignore it, as a shell does for what runs in the background. */
        signal(signo, SIG_DFL);
        kill(getpid(), signo);
        _exit(1);
    }
    siginfo_t info = {0};
    int status = 0;
    waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
    waitpid(pid, &status, 0);
    if (expected && !writes_files()) {
        status |= 0x80;
        info.si_code = CLD_DUMPED;
    }
    printf("%s, %s: status %#x, code %s, signal %d\n", sigabbrev_np(signo), what, status,
           info.si_code == CLD_DUMPED ? "dumped" : info.si_code == CLD_KILLED ? "killed" : "other", info.si_status);
}

int main(void)
{
    static const int dumps[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
    static const int others[] = {SIGHUP, SIGINT, SIGKILL, SIGUSR1, SIGPIPE, SIGALRM, SIGTERM, SIGVTALRM, SIGPROF};
    mkdir("cores", 0777);
    if (chdir("cores"))
        return 1;
    for (unsigned i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        ends_by(dumps[i], "no limit", RLIM_INFINITY, 1, 1);
        ends_by(dumps[i], "a limit of 1", 1, 1, 0);
        ends_by(dumps[i], "not dumpable", RLIM_INFINITY, 0, 0);
    }
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        ends_by(others[i], "no limit", RLIM_INFINITY, 1, 0);
    fflush(stdout);
    return execl("/bin/sh", "sh", "-c", "cd .. && rm -rf cores", (char *)0);
}
