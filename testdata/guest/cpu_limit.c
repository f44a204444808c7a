// covers: setrlimit getrlimit
#include "guest.h"

static volatile sig_atomic_t got;

static void note(int signo)
{
    got = signo;
}

/* The signal of the CPU limit comes while the program computes, once a second. */
int main(void)
{
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGXCPU, &action, NULL);
    struct rlimit limit = {0, 1000};
    T(setrlimit, RLIMIT_CPU, &limit);
    while (!got)
        ;
    is(got == SIGXCPU);
    T(getrlimit, RLIMIT_CPU, &limit);
    is(limit.rlim_cur > 0 && limit.rlim_max == 1000);
    return 0;
}
