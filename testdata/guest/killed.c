// covers: kill
// exit: 143
#include "guest.h"
int main(void)
{
    for (int s = 1; s < 64; s++)
        if (s == SIGCHLD || s == SIGURG || s == SIGWINCH || s == SIGCONT)
            T(kill, getpid(), s);
    printf("still here\n");
    fflush(stdout);
    T(kill, getpid(), SIGTERM);
    printf("not reached\n");
    return 0;
}
