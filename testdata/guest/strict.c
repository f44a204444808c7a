// covers: seccomp
// exit: 137
#include "guest.h"
#include <linux/seccomp.h>

int main(void)
{
    unfiltered();
    T(seccomp, SECCOMP_SET_MODE_STRICT, 0, 0);
    static const char text[] = "written\n";
    fflush(stdout);
    S(write, 1, text, sizeof text - 1);
    S(getpid);
    S(write, 1, "not reached\n", 12);
}
