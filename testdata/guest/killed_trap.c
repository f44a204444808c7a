// covers: rt_sigaction
// exit: 133
#include "guest.h"
int main(void)
{
    printf("before\n");
    fflush(stdout);
    __asm__ volatile("int3");
    return 0;
}
