// covers: wait4 waitid fork kill setpgid rt_sigaction clone pidfd_open
#include "child.h"
#include <sched.h>
#include <linux/wait.h>

/* Which child a wait takes, in which order, and what else of it is told: usage, __WALL, __WCLONE, groups, SIGCHLD. */
static volatile int signals, status_, code_;
static void handler(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    signals++, status_ = info->si_status, code_ = info->si_code;
}
static pid_t ends(int status)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(status);
    return pid;
}
static void zombie(pid_t pid)
{
    siginfo_t info;
    waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
}
static void told(const char *what, int options, idtype_t type, id_t id)
{
    siginfo_t i;
    memset(&i, 0, sizeof i);
    long r = S(waitid, type, id, &i, options, 0);
    printf("%s: %s signo %d code %d status %d\n", what, r < 0 ? strerrorname_np((int)-r) : "ok", i.si_signo, i.si_code, i.si_status);
}

int main(void)
{
    int status, numbers[4];
    pid_t a = ends(1), b = ends(2), c = ends(3);
    zombie(a), zombie(b), zombie(c);
    /* By number, and then the rest, oldest first. */
    is(waitpid(b, &status, 0) == b), num(WEXITSTATUS(status)), is(waitpid(-1, &status, 0) == a), is(waitpid(0, &status, WNOHANG) == c),
        is(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
    /* One that is stopped, one that has ended, one that runs. */
    for (int i = 0; i < 3; i++)
        if ((numbers[i] = fork()) == 0)
            for (;;)
                pause();
    kill(numbers[0], SIGSTOP), waitid(P_PID, numbers[0], &(siginfo_t){0}, WSTOPPED | WNOWAIT), kill(numbers[1], SIGTERM), zombie(numbers[1]),
        told("stopped or ended", WSTOPPED | WEXITED | WNOWAIT, P_ALL, 0), told("ended", WEXITED | WNOWAIT, P_ALL, 0),
        told("continued", WCONTINUED | WNOHANG, P_ALL, 0), told("stopped", WSTOPPED, P_ALL, 0), told("stopped again", WSTOPPED | WNOHANG, P_ALL, 0),
        told("ended", WEXITED, P_ALL, 0), told("ended again", WEXITED | WNOHANG, P_ALL, 0);
    kill(numbers[0], SIGCONT), told("continued", WCONTINUED, P_ALL, 0), kill(numbers[0], SIGSTOP),
        waitid(P_PID, numbers[0], &(siginfo_t){0}, WSTOPPED | WNOWAIT), kill(numbers[0], SIGCONT),
        waitid(P_PID, numbers[0], &(siginfo_t){0}, WCONTINUED | WNOWAIT), told("a stop that is over", WSTOPPED | WNOHANG, P_PID, numbers[0]),
        told("continued", WCONTINUED | WNOHANG, P_PID, numbers[0]);
    S(setpgid, numbers[2], numbers[2]), kill(numbers[0], SIGKILL), kill(numbers[2], SIGKILL), zombie(numbers[0]), zombie(numbers[2]),
        is(waitpid(0, &status, 0) == numbers[0]), is(waitpid(0, &status, 0) == -1 && errno == ECHILD), told("its group", WEXITED, P_PGID, numbers[2]),
        told("its group", WEXITED, P_PGID, numbers[2]);

    /* Children that do not send SIGCHLD. */
    pid_t silent = (pid_t)S(clone, 0, 0, 0, 0, 0);
    if (silent == 0)
        S(exit_group, 4);
    usleep(2000), is(waitpid(silent, &status, WNOHANG) == -1 && errno == ECHILD), is(waitpid(-1, &status, 0) == -1 && errno == ECHILD),
        is(S(wait4, silent, &status, __WCLONE, 0) == silent), num(WEXITSTATUS(status)), silent = (pid_t)S(clone, 0, 0, 0, 0, 0);
    if (silent == 0)
        S(exit_group, 5);
    is(S(wait4, -1, &status, __WALL, 0) == silent), num(WEXITSTATUS(status)), a = ends(6), zombie(a),
        is(S(wait4, a, &status, __WCLONE | WNOHANG, 0) == -ECHILD), is(S(wait4, a, &status, __WALL, 0) == a);
    /* SIGCHLD comes once for several, and its information is of the first. */
    struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t set;
    sigaction(SIGCHLD, &act, 0), sigemptyset(&set), sigaddset(&set, SIGCHLD), sigprocmask(SIG_BLOCK, &set, 0), a = ends(11), zombie(a), b = ends(12),
        zombie(b), sigprocmask(SIG_UNBLOCK, &set, 0), printf("signals %d status %d code %d\n", signals, status_, code_), is(waitpid(a, 0, 0) == a),
        is(waitpid(b, 0, 0) == b);
    c = fork();
    if (c == 0)
        abort();
    is(waitpid(c, &status, 0) == c), printf("status %#x, signal %d, told %d code %d\n", status & 0x7f, WTERMSIG(status), status_, code_), signals = 0,
        a = ends(0), is(waitpid(a, &status, 0) == a), num(signals);
    /* Usage is of the one that was waited for, and adds up. */
    struct rusage u, all;
    a = ends(0), is(wait4(a, &status, 0, &u) == a), is(u.ru_maxrss > 0), getrusage(RUSAGE_CHILDREN, &all), is(all.ru_maxrss >= u.ru_maxrss),
        is(all.ru_minflt >= u.ru_minflt);
    /* A thread's child is the process's, unless it asks for its own. */
    a = ends(9), zombie(a), told("with __WNOTHREAD", WEXITED | __WNOTHREAD, P_ALL, 0), told("nothing", WEXITED | __WNOTHREAD, P_ALL, 0);
    return 0;
}
