// covers: mmap
// exit: 135
#include "guest.h"
int main(void)
{
    long fd = S(open, "empty", O_RDWR | O_CREAT, 0600);
    fd = S(open, "empty", O_RDONLY);
    volatile char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    printf("before\n");
    fflush(stdout);
    return *p;
}
