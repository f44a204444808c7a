// covers: wait4 waitid kill fork sched_yield prctl
/* A process that stops and continues another all the time, while their parent waits for either: the parent gets
 * to see both. */
#include "child.h"
#include <sys/prctl.h>

static void sleeps(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static pid_t target;

static void sends(void)
{
    unsigned rounds = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        /* Now and then slower, so that on a busy machine the parent gets to see both. */
        unsigned pause = ++rounds % 16 ? 0 : 50;
        kill(target, SIGSTOP);
        pause ? usleep(pause) : sched_yield();
        kill(target, SIGCONT);
        if (pause)
            usleep(pause);
    }
}

int main(void)
{
    int seen[2] = {0, 0};
    target = child(sleeps);
    pid_t sender = child(sends);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        int options = i % 2 ? WCONTINUED : WUNTRACED;
        if (waitpid(target, &status, options) != target)
            return 1;
        seen[i % 2] += i % 2 ? WIFCONTINUED(status) : WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
    }
    for (int i = 0; i < 20; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, target, &info, i % 2 ? WCONTINUED : WSTOPPED))
            return 1;
        seen[i % 2] += info.si_code == (i % 2 ? CLD_CONTINUED : CLD_STOPPED) && info.si_pid == target;
    }
    printf("stopped %d, continued %d\n", seen[0], seen[1]);
    kill(sender, SIGKILL);
    kill(target, SIGKILL);
    printf("%d %d\n", reap(sender), reap(target));
    return 0;
}
