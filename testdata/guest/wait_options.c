// covers: wait4 waitid kill fork exit_group setpgid
#include "guest.h"
#include <sys/wait.h>

static pid_t child(int how)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    if (how < 0)
        for (;;)
            pause();
    _exit(how);
}

static void info_of(const char *what, long result, siginfo_t *info, pid_t pid)
{
    show(what, result);
    printf("  signo %d code %d pid %d uid %d status %d\n", info->si_signo, info->si_code, info->si_pid == pid,
           info->si_uid == getuid(), info->si_status);
    memset(info, 0xff, sizeof *info);
}

int main(void)
{
    int status;
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0xff, sizeof info);

    pid_t pid = child(-1);
    T(wait4, pid, &status, WNOHANG, NULL);
    T(waitid, P_PID, pid, &info, WEXITED | WNOHANG, NULL);
    printf("nothing yet: signo %d pid %d\n", info.si_signo, info.si_pid);
    kill(pid, SIGSTOP);
    info_of("stopped, WNOWAIT", S(waitid, P_PID, pid, &info, WSTOPPED | WNOWAIT, NULL), &info, pid);
    check(wait4(pid, &status, WUNTRACED, NULL) == pid);
    printf("status %#x stopped %d by %d\n", status, WIFSTOPPED(status), WSTOPSIG(status));
    T(wait4, pid, &status, WUNTRACED | WNOHANG, NULL);
    kill(pid, SIGCONT);
    check(wait4(pid, &status, WCONTINUED, NULL) == pid);
    printf("status %#x continued %d\n", status, WIFCONTINUED(status));
    T(wait4, pid, &status, WCONTINUED | WNOHANG, NULL);
    kill(pid, SIGTSTP);
    info_of("stopped by SIGTSTP", S(waitid, P_ALL, 0, &info, WSTOPPED | WEXITED, NULL), &info, pid);
    kill(pid, SIGCONT);
    info_of("continued", S(waitid, P_PID, pid, &info, WCONTINUED, NULL), &info, pid);
    kill(pid, SIGKILL);
    info_of("killed, WNOWAIT", S(waitid, P_PID, pid, &info, WEXITED | WNOWAIT, NULL), &info, pid);
    info_of("killed", S(waitid, P_PID, pid, &info, WEXITED, &usage), &info, pid);
    T(waitid, P_PID, pid, &info, WEXITED, NULL);

    /* Without a child the structure is of none. */
    memset(&info, 0xff, sizeof info);
    T(waitid, P_PID, pid, &info, WEXITED, NULL);
    is(info.si_signo == 0 && info.si_errno == 0 && info.si_code == 0 && info.si_pid == 0 && info.si_status == 0);
    memset(&info, 0xff, sizeof info);
    T(waitid, 99, 0, &info, WEXITED, NULL), T(waitid, P_ALL, 0, BAD, 0, NULL), T(waitid, P_PIDFD, 99, BAD, WEXITED, NULL);
    is(info.si_signo == 0 && info.si_pid == 0);

    for (int code = 0; code <= 256; code += 128) {
        pid = child(code);
        check(waitpid(pid, &status, 0) == pid);
        printf("_exit(%d): %#x\n", code, status);
    }
    static const int fatal[] = {SIGHUP, SIGABRT, SIGUSR1, SIGTERM, SIGALRM, SIGVTALRM};
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        pid = child(-1);
        kill(pid, fatal[i]);
        check(waitpid(pid, &status, 0) == pid);
        printf("signal %d: %#x\n", fatal[i], status);
    }

    /* By group; a stopped child is killed. */
    pid_t first = child(-1), second = child(-1);
    setpgid(first, first);
    setpgid(second, first);
    kill(first, SIGSTOP);
    check(waitpid(first, &status, WUNTRACED) == first);
    T(waitid, P_PGID, getpgrp(), &info, WEXITED | WNOHANG, NULL);
    kill(-first, SIGKILL);
    pid_t one = waitpid(-first, &status, 0), other = waitpid(-first, &status, 0);
    printf("both of the group: %d\n", (one == first && other == second) || (one == second && other == first));
    check(waitpid(-first, &status, 0));
    check(wait4(-1, NULL, 0, &usage));
    T(wait4, -1, BAD, WNOHANG, NULL);
    pid = child(3);
    T(wait4, pid, BAD, 0, NULL);
    T(wait4, pid, &status, 0, NULL);
    return 0;
}
