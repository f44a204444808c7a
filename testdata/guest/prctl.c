// covers: prctl arch_prctl personality
#include "guest.h"
#include <asm/prctl.h>
#include <sys/prctl.h>

int main(void)
{
    unfiltered();
    char name[17] = "";
    T(prctl, PR_SET_NAME, "a name that is too long");
    T(prctl, PR_GET_NAME, name);
    printf("%s\n", name);
    cat("/proc/self/comm");
    T(prctl, PR_SET_NAME, BAD);
    T(prctl, PR_GET_NAME, BAD);
    T(prctl, PR_GET_DUMPABLE);
    T(prctl, PR_SET_DUMPABLE, 0);
    T(prctl, PR_GET_DUMPABLE);
    T(prctl, PR_SET_DUMPABLE, 2);
    T(prctl, PR_SET_DUMPABLE, 1);
    int sig = -1;
    T(prctl, PR_SET_PDEATHSIG, SIGUSR1);
    T(prctl, PR_GET_PDEATHSIG, &sig);
    num(sig);
    T(prctl, PR_SET_PDEATHSIG, 99);
    T(prctl, PR_SET_PDEATHSIG, 0);
    T(prctl, PR_GET_KEEPCAPS);
    T(prctl, PR_SET_KEEPCAPS, 1);
    T(prctl, PR_GET_KEEPCAPS);
    T(prctl, PR_SET_KEEPCAPS, 2);
    T(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    T(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    T(prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
    T(prctl, PR_SET_TIMERSLACK, 12345);
    T(prctl, PR_GET_TIMERSLACK);
    int sub = -1;
    T(prctl, PR_SET_CHILD_SUBREAPER, 1);
    T(prctl, PR_GET_CHILD_SUBREAPER, &sub);
    num(sub);
    T(prctl, PR_GET_SECCOMP);
    T(prctl, PR_CAPBSET_READ, 99);
    T(prctl, PR_GET_TIMING);
    T(prctl, 9999);

    unsigned long fs = 0, gs = 1;
    T(arch_prctl, ARCH_GET_FS, &fs);
    is(*(unsigned long *)fs == fs);
    T(arch_prctl, ARCH_SET_GS, &fs);
    T(arch_prctl, ARCH_GET_GS, &gs);
    is(gs == (unsigned long)&fs);
    unsigned long through;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(through));
    is(through == fs);
    T(arch_prctl, ARCH_SET_GS, 0xffff800000000000);
    T(arch_prctl, ARCH_GET_FS, BAD);
    T(arch_prctl, 0x9999, 0);

    S(personality, 0);
    T(personality, 0xffffffff);
    T(personality, 0x0040000);
    T(personality, 0xffffffff);
    T(personality, 0);
    return 0;
}
