// covers: mmap mprotect mremap brk shmget
#include "guest.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/sysinfo.h>

/* Reservations of memory as vm.overcommit_memory 0 has them: one alone must not be more than the machine has. */

#define P 4096UL
#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define SHARED (MAP_SHARED | MAP_ANONYMOUS)

/* The result of a mapping, which goes again. */
static void try(const char *what, long at, unsigned long len)
{
    if (show_ok(what, at) > 0)
        S(munmap, at, len);
}
#define MAP(prot, flags) try("mmap of too much: " #prot ", " #flags, S(mmap, 0, much, prot, flags, -1, 0), much)

int main(void)
{
    struct sysinfo info;
    char mode = 0;
    long f = S(open, "/proc/sys/vm/overcommit_memory", O_RDONLY);

    S(read, f, &mode, 1);
    if (mode != '0')
        lacks("vm.overcommit_memory is not 0");
    S(sysinfo, &info);
    unsigned long all = (info.totalram + info.totalswap) * info.mem_unit & -P, much = all + P;

    MAP(RW, PRIVATE), MAP(PROT_WRITE, PRIVATE), MAP(RW, SHARED), MAP(PROT_READ, SHARED), MAP(PROT_NONE, SHARED);
    MAP(PROT_READ, PRIVATE), MAP(PROT_NONE, PRIVATE), MAP(RW, PRIVATE | MAP_NORESERVE), MAP(RW, SHARED | MAP_NORESERVE);
    try("all", S(mmap, 0, all, RW, PRIVATE, -1, 0), all);
    /* More than any machine has. */
    try("32 TiB", S(mmap, 0, 1UL << 45, RW, PRIVATE, -1, 0), 1UL << 45);
    try("32 TiB of nothing", S(mmap, 0, 1UL << 45, PROT_NONE, PRIVATE, -1, 0), 1UL << 45);

    /* A range with a page before it, which is changed all the same. */
    unsigned long at = S(mmap, 0, P + much, PROT_NONE, PRIVATE, -1, 0);
    T(mprotect, at, P, PROT_READ);
    T(mprotect, at, P + much, RW), T(mprotect, at + P, much, PROT_READ), T(mprotect, at + P, all, RW);
    *(volatile char *)at = 1, puts("the page before it can be stored to");
    T(munmap, at, P + much);
    at = S(mmap, 0, much, PROT_NONE, PRIVATE | MAP_NORESERVE, -1, 0);
    T(mprotect, at, much, RW), T(munmap, at, much);

    at = S(mmap, 0, P, RW, PRIVATE, -1, 0);
    try("grown by too much", S(mremap, at, P, P + much, MREMAP_MAYMOVE), P + much);
    try("grown by all", S(mremap, at, P, P + all, MREMAP_MAYMOVE), P + all);
    at = S(mmap, 0, P, RW, PRIVATE | MAP_NORESERVE, -1, 0);
    try("grown without reservation", S(mremap, at, P, P + much, MREMAP_MAYMOVE), P + much);

    unsigned long end = S(brk, 0);
    printf("brk stays: %d\n", S(brk, end + much) == end);

    long id = OK(shmget, IPC_PRIVATE, much, 0600);
    id = OK(shmget, IPC_PRIVATE, much, 0600 | SHM_NORESERVE);
    T(shmctl, id, IPC_RMID, 0);
    id = OK(shmget, IPC_PRIVATE, all, 0600);
    T(shmctl, id, IPC_RMID, 0);
    return 0;
}
