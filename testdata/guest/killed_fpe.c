// covers: rt_sigaction
// exit: 136
#include "guest.h"
int main(void)
{
    volatile int one = 1, zero = 0;
    printf("before\n");
    fflush(stdout);
    return one / zero;
}
