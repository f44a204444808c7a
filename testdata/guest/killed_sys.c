// covers: seccomp
// exit: 159
#include "guest.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

static void caught(int signo)
{
    printf("a handler of %d\n", signo);
}

int main(void)
{
    unfiltered();
    signal(SIGSYS, caught);
    struct sock_filter insns[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, insns};
    S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    T(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    fflush(stdout);
    S(getppid);
    printf("not reached\n");
    fflush(stdout);
}
