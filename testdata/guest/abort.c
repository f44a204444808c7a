// covers: tgkill rt_sigaction
// exit: 134
#include "guest.h"
#include <setjmp.h>
static jmp_buf back;
static int times;
static void on(int s)
{
    printf("signal %d\n", s);
    if (times++ == 0)
        siglongjmp(back, 1);
}
int main(void)
{
    signal(SIGABRT, on);
    if (sigsetjmp(back, 1) == 0)
        abort();
    printf("once more\n");
    fflush(stdout);
    abort();
}
