// covers: rt_sigaction rt_sigprocmask
// exit: 139
#include "guest.h"
int main(void)
{
    /* Blocked or ignored, a fault kills all the same. */
    signal(SIGSEGV, SIG_IGN);
    printf("before\n");
    fflush(stdout);
    *(volatile int *)4 = 1;
    return 0;
}
