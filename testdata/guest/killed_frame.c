// covers: rt_sigreturn
// exit: 139
#include "guest.h"
int main(void)
{
    /* A frame that is not one. */
    printf("before\n");
    fflush(stdout);
    __asm__ volatile("xor %%esp, %%esp\n\tmov $15, %%eax\n\tsyscall" ::: "memory");
    return 0;
}
