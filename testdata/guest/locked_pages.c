// covers: mlock munlock mlockall munlockall mlock2 mmap mremap munmap fork mincore
#include "child.h"

/* What of memory is locked: counted by the kernel after each call, and what children and new mappings have of it. */
static long locked(void)
{
    char line[200];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmLck: %ld", &kb) == 1)
            break;
    fclose(f);
    return kb;
}
static long before;
#define LOCKED(what) printf("%s: %ld\n", what, locked() - before)
static char *p;
static void in_the_child(void)
{
    LOCKED("child");
    char *q = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LOCKED("its mapping"), (void)q;
}

int main(void)
{
    struct rlimit more = {8 << 20, 8 << 20};
    unsigned char there[8];
    S(setrlimit, RLIMIT_MEMLOCK, &more);
    p = mmap(0, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), before = locked(), num(before);
    T(mlock, p, 4096), LOCKED("one"), T(mlock, p, 4096), LOCKED("again"), T(mlock, p + 4095, 2), LOCKED("across"), T(munlock, p, 1),
        LOCKED("first back"), T(mlock2, p + 4 * 4096, 3 * 4096, 1), LOCKED("on fault"), S(mincore, p + 4 * 4096, 4096, there), num(there[0] & 1),
        p[4 * 4096] = 1, S(mincore, p + 4 * 4096, 4096, there), num(there[0] & 1), S(mincore, p + 4096, 4096, there), num(there[0] & 1);
    T(munmap, p + 5 * 4096, 4096), LOCKED("unmapped"), reap(child(in_the_child)), T(mlock, p, 8 * 4096), LOCKED("with a hole"),
        T(munlock, p, 16 * 4096), LOCKED("unlock with one"), T(munlock, p, 5 * 4096), T(munlock, p + 6 * 4096, 2 * 4096), LOCKED("all");
    char *q = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
    LOCKED("MAP_LOCKED"), S(mincore, q, 4 * 4096, there), printf("%d%d%d%d\n", there[0] & 1, there[1] & 1, there[2] & 1, there[3] & 1),
        q = mremap(q, 4 * 4096, 8 * 4096, MREMAP_MAYMOVE), LOCKED("grown"), S(mincore, q + 7 * 4096, 4096, there), num(there[0] & 1),
        q = mremap(q, 8 * 4096, 2 * 4096, 0), LOCKED("shrunk"), T(mprotect, q, 4096, PROT_NONE), LOCKED("no rights"),
        T(madvise, q + 4096, 4096, MADV_DONTNEED), T(munmap, q, 2 * 4096), LOCKED("gone");
    char *none = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(mlock, none, 4096), LOCKED("without rights"), T(munlock, none, 4096), T(mlock, p, 0), T(mlock, BAD, 1), T(mlock, p, -1), T(mlock2, p, 4096, 2),
        T(mlockall, 0), T(mlockall, 8), T(mlockall, 4), T(munlock, KERNEL, 1);
    /* Everything to come. */
    T(mlockall, MCL_FUTURE), LOCKED("nothing yet"), q = mmap(0, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), LOCKED("a new one"),
        S(mincore, q, 4096, there), num(there[0] & 1), reap(child(in_the_child)), T(munlockall), LOCKED("all back"),
        q = mmap(0, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), LOCKED("no more"), T(mlockall, MCL_FUTURE | MCL_ONFAULT),
        q = mmap(0, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), LOCKED("on fault"), S(mincore, q, 4096, there), num(there[0] & 1),
        T(munlockall), T(munlockall);
    long fd = S(open, "host/file", O_RDONLY);
    q = mmap(0, 8192, PROT_READ, MAP_PRIVATE, (int)fd, 0), T(mlock, q, 4096), LOCKED("file"), T(munlock, q, 4096);
    return 0;
}
