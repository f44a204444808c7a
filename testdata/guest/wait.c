// covers: wait4 waitid
#include "guest.h"
#include <sys/wait.h>

int main(void)
{
    int status;
    siginfo_t info;
    T(wait4, -1, &status, 0, NULL);
    T(wait4, -1, &status, WNOHANG, NULL);
    T(wait4, 0, &status, 0, NULL);
    T(wait4, 0x7ffffff0, &status, 0, NULL);
    T(wait4, -1, &status, 0x100, NULL);
    T(waitid, P_ALL, 0, &info, WEXITED, NULL);
    T(waitid, P_PID, 0x7ffffff0, &info, WEXITED, NULL);
    T(waitid, P_ALL, 0, &info, 0, NULL);
    T(waitid, P_ALL, 0, &info, WNOHANG, NULL);
    T(waitid, 9, 0, &info, WEXITED, NULL);
    T(waitid, P_PID, 0, &info, WEXITED, NULL);
    return 0;
}
