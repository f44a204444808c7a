// covers: rt_sigaction
// exit: 136
#include "guest.h"
int main(void)
{
    volatile int zero = 0;
    printf("before\n");
    fflush(stdout);
    return 1 / zero;
}
