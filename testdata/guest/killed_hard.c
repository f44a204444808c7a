// covers: kill
// exit: 137
#include "guest.h"
int main(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    printf("before\n");
    fflush(stdout);
    S(kill, getpid(), SIGKILL);
    printf("not reached\n");
    return 0;
}
