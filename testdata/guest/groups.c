// covers: setpgid getpgid setsid getsid kill fork wait4
#include "guest.h"
#include <sys/wait.h>

static int pipes[2];

static void wait_for_byte(void)
{
    char byte;
    if (read(pipes[0], &byte, 1) != 1)
        _exit(99);
}

int main(void)
{
    int status;
    pipe(pipes);
    pid_t pid = fork();
    if (!pid) {
        T(setpgid, 0, -1);
        T(setpgid, getppid(), 0);
        T(setpgid, 0x3fffff, 0);
        T(setpgid, 0, 0x3fffff);
        is(getpgid(0) == getpgid(getppid()));
        T(setpgid, 0, 0);
        is(getpgrp() == getpid());
        OK(setpgid, 0, getpgid(getppid()));
        is(getpgrp() == getpgid(getppid()));
        is(S(setsid) == getpid());
        is(getsid(0) == getpid());
        is(getpgrp() == getpid());
        T(setsid);
        T(setpgid, 0, 0);
        is(getsid(getppid()) != getsid(0));
        T(getpgid, 0x3fffff);
        T(getsid, 0x3fffff);
        T(getsid, -5);
        T(kill, 0, 0);
        T(kill, -0x3fffff, 0);
        T(kill, 0x3fffff, 0);
        T(kill, getpid(), 65);
        T(kill, getpid(), -1);
        T(kill, INT32_MIN, 0);
        fflush(stdout);
        _exit(0);
    }
    check(waitpid(pid, &status, 0) == pid);
    num(status);

    /* A child that has called exec cannot be moved; a member of another session cannot either. */
    pid = fork();
    if (!pid) {
        setsid();
        wait_for_byte();
        _exit(1);
    }
    while (getsid(pid) != pid)
        usleep(1000);
    T(setpgid, pid, 0);
    T(setpgid, pid, getpgrp());
    /* kill of a group, of a zombie, of what was waited for */
    T(kill, -pid, 0);
    write(pipes[1], "x", 1);
    siginfo_t info;
    check(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    T(kill, pid, 0);
    T(kill, -pid, 0);
    T(kill, pid, SIGKILL);
    is(getpgid(pid) == pid);
    is(getsid(pid) == pid);
    check(waitpid(pid, &status, 0) == pid);
    num(WEXITSTATUS(status));
    T(kill, pid, 0);
    T(getpgid, pid);

    pid = fork();
    if (!pid) {
        execl("/bin/sleep", "sleep", "100", (char *)NULL);
        _exit(98);
    }
    char path[64], name[64] = "";
    sprintf(path, "/proc/%d/comm", pid);
    long result;
    do {
        result = S(setpgid, pid, pid);
        if (result)
            break;
        usleep(1000);
        result = S(setpgid, pid, getpgrp());
    } while (!result);
    show("setpgid after exec", result);
    (void)name;
    kill(pid, SIGKILL);
    check(waitpid(pid, &status, 0) == pid);
    num(WTERMSIG(status));
    return 0;
}
