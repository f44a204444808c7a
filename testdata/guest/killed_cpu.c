// covers: setrlimit
// exit: 137
#include "guest.h"

/* At the hard limit nothing helps. */
int main(void)
{
    struct rlimit limit = {0, 0};
    printf("before\n");
    fflush(stdout);
    S(setrlimit, RLIMIT_CPU, &limit);
    for (;;)
        ;
}
