// covers: write
// exit: 141
#include "guest.h"
int main(void)
{
    int p[2];
    S(pipe2, p, 0);
    S(close, p[0]);
    printf("before\n");
    fflush(stdout);
    S(write, p[1], "x", 1);
    return 0;
}
