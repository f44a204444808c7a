// covers: mremap mbind set_mempolicy get_mempolicy process_vm_readv process_vm_writev
/* Ranges that are only partly there, addresses that nobody may have, and counts that are too large. */
#include "guest.h"
#include <linux/mempolicy.h>
#include <sys/uio.h>

#define PAGE 4096L

static char *pages(long count)
{
    char *p = mmap(NULL, (count + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mmap(p + PAGE, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* What is cut off may have holes. */
static void shrunk(void)
{
    char *p = pages(6);
    S(munmap, p + 2 * PAGE, PAGE);
    is(S(mremap, p, 6 * PAGE, 6 * PAGE, 0, 0) == (long)p);
    is(S(mremap, p, 6 * PAGE, 5 * PAGE, MREMAP_MAYMOVE, 0) == (long)p);
    is(S(mincore, p + 5 * PAGE, PAGE, (char[8]){0}) == -ENOMEM);
    is(S(mremap, p, 5 * PAGE, PAGE, 0, 0) == (long)p);
    is(S(mincore, p + 3 * PAGE, PAGE, (char[8]){0}) == -ENOMEM);
    T(mremap, p + 2 * PAGE, PAGE, PAGE, 0, 0), T(mremap, p, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE, 0);
    T(mremap, p, 0x7ffffffff000, 4 * PAGE, MREMAP_MAYMOVE, 0), T(mremap, p, PAGE, 0, MREMAP_MAYMOVE, 0);
    long low = S(mremap, p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, 0);
    is(geteuid() == 0 || low == -EPERM);
}

static void policies(void)
{
    unsigned long none = 0, node = 1;
    char *p = pages(3);
    T(mbind, PAGE, PAGE, MPOL_DEFAULT, NULL, 0, 0), T(mbind, PAGE, PAGE, MPOL_BIND, &node, 8, 0);
    T(mbind, p, 3 * PAGE, MPOL_DEFAULT, NULL, 0, 0), T(mbind, p, -1, MPOL_DEFAULT, NULL, 0, 0);
    T(mbind, p + 1, PAGE, MPOL_DEFAULT, NULL, 0, 0);
    T(set_mempolicy, MPOL_PREFERRED | MPOL_F_STATIC_NODES, NULL, 0);
    T(set_mempolicy, MPOL_PREFERRED | MPOL_F_RELATIVE_NODES, &none, 8), T(set_mempolicy, MPOL_PREFERRED, NULL, 0);
}

static void copies(void)
{
    char to[4] = "", from[4] = "abc";
    struct iovec local = {to, 4}, remote = {from, 4}, outside = {KERNEL, 0}, both[2] = {{to, 1}, {KERNEL, 0}};
    long self = getpid();
    T(process_vm_readv, self, &local, 1, &remote, 1, 0), T(process_vm_readv, self, &local, 1025, &remote, 1, 0);
    T(process_vm_readv, self, &local, 1, &remote, 1L << 32 | 1, 0), T(process_vm_writev, self, &local, 1L << 32, &remote, 1, 0);
    T(process_vm_readv, self, &outside, 1, &remote, 1, 0), T(process_vm_readv, self, both, 2, &remote, 1, 0);
    T(process_vm_writev, self, both, 2, &remote, 1, 0), T(process_vm_readv, self, &local, 1, &outside, 1, 0);
    T(process_vm_readv, -5, &local, 1, &remote, 1L << 32 | 1, 0);
}

int main(void)
{
    shrunk();
    unfiltered(); /* containers keep memory policies from their programs */
    policies(), copies();
    return 0;
}
