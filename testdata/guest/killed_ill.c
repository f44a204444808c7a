// covers: rt_sigaction
// exit: 132
#include "guest.h"
int main(void)
{
    printf("before\n");
    fflush(stdout);
    __builtin_trap();
}
