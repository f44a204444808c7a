// covers: fork wait4 rt_sigaction rt_sigtimedwait kill exit_group
#include "guest.h"
#include <sys/wait.h>

static volatile int seen, codes[16], values[16], mine[16];
static pid_t pid;

static void handler(int signo, siginfo_t *info, void *context)
{
    (void)context, (void)signo;
    codes[seen & 15] = info->si_code;
    values[seen & 15] = info->si_status;
    mine[seen & 15] = info->si_pid == pid && info->si_uid == getuid();
    seen++;
}

static void act(void (*how)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = how, .sa_flags = flags | SA_SIGINFO};
    sigaction(SIGCHLD, &action, NULL);
}

static void child(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &old);
    pid = fork();
    if (!pid) {
        sigprocmask(SIG_SETMASK, &old, NULL);
        for (;;)
            pause();
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void tell(const char *what)
{
    printf("%s: %d seen", what, seen);
    for (int i = 0; i < seen; i++)
        printf(" [code %d status %d own %d]", codes[i], values[i], mine[i]);
    printf("\n");
    seen = 0;
}

int main(void)
{
    int status;
    act(handler, 0);
    child();
    kill(pid, SIGSTOP);
    while (seen < 1)
        usleep(1000);
    kill(pid, SIGCONT);
    while (seen < 2)
        usleep(1000);
    kill(pid, SIGTERM);
    while (seen < 3)
        usleep(1000);
    tell("stop, continue, end");
    check(waitpid(pid, &status, 0) == pid);

    act(handler, SA_NOCLDSTOP);
    child();
    kill(pid, SIGSTOP);
    check(waitpid(pid, &status, WUNTRACED) == pid);
    kill(pid, SIGCONT);
    check(waitpid(pid, &status, WCONTINUED) == pid);
    tell("SA_NOCLDSTOP, stopped and continued");
    kill(pid, SIGKILL);
    check(waitpid(pid, &status, 0) == pid);
    tell("SA_NOCLDSTOP, ended");

    act(handler, SA_NOCLDWAIT);
    child();
    kill(pid, SIGKILL);
    check(waitpid(pid, &status, 0));
    tell("SA_NOCLDWAIT");

    signal(SIGCHLD, SIG_IGN);
    pid = fork();
    if (!pid)
        _exit(3);
    check(waitpid(pid, &status, 0));
    check(waitpid(-1, &status, WNOHANG));
    tell("ignored");

    signal(SIGCHLD, SIG_DFL);
    pid = fork();
    if (!pid)
        _exit(4);
    check(waitpid(pid, &status, 0) == pid);
    printf("default: %#x\n", status);

    /* One that is blocked waits, and is one however many children end. */
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 3; i++)
        if (!fork())
            _exit(i);
    while (waitpid(-1, &status, 0) > 0)
        ;
    check(sigwaitinfo(&set, &info));
    struct timespec none = {0, 0};
    check(sigtimedwait(&set, &info, &none));
    return 0;
}
