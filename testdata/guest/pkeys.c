// covers: pkey_mprotect mbind set_mempolicy get_mempolicy
#include "guest.h"

int main(void)
{
    unfiltered();
    char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(pkey_mprotect, p, 4096, PROT_READ | PROT_WRITE, -1);
    p[0] = 1;
    T(pkey_mprotect, p, 4096, PROT_READ, 99);
    T(pkey_mprotect, p + 1, 4096, PROT_READ, -1);
    int mode = -1;
    unsigned long mask[16] = {0};
    T(get_mempolicy, &mode, NULL, 0, NULL, 0);
    num(mode);
    T(get_mempolicy, NULL, mask, 1024, NULL, 4);
    num(mask[0] & 1);
    T(get_mempolicy, BAD, NULL, 0, NULL, 0);
    T(set_mempolicy, 0, NULL, 0);
    T(set_mempolicy, 99, NULL, 0);
    T(mbind, p, 4096, 0, NULL, 0, 0);
    T(mbind, p, 4096, 99, NULL, 0, 0);
    return 0;
}
