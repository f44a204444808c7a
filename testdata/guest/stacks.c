// covers: mmap setrlimit mprotect munmap mlock2 mlockall madvise getrusage
#include "guest.h"
#include <setjmp.h>

#define P 4096L
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define MIB (1L << 20)

static sigjmp_buf back;
static long fault;

static void on_fault(int signo, siginfo_t *info, void *context)
{
    (void)context;
    fault = info->si_code;
    siglongjmp(back, signo);
}

/* Stores a byte: 0, or the signal and what it says of the address. */
static void touch(const char *what, char *at)
{
    int signo = sigsetjmp(back, 1);
    if (signo == 0) {
        *(volatile char *)at = 1;
        printf("%s: stored\n", what);
    } else {
        printf("%s: signal %d code %ld\n", what, signo, fault);
    }
}

/* The pages of the mapping that ends at an address. */
static long pages_below(char *end)
{
    char line[512];
    long found = -1;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        sscanf(line, "%lx-%lx", &from, &to);
        if (to == (unsigned long)end)
            found = (long)(to - from) / P;
    }
    fclose(maps);
    return found;
}

/* The flags of the mapping at an address that programs can set, in the order of /proc/self/smaps. */
static void flags(const char *what, char *at)
{
    static const char ours[] = " gd lo sr rr dc lf ac nr wf dd hg nh mg ";
    char line[512], shown[256] = "";
    int here = 0;
    FILE *smaps = fopen("/proc/self/smaps", "r");
    while (fgets(line, sizeof line, smaps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= (unsigned long)at && (unsigned long)at < to;
        if (here && !strncmp(line, "VmFlags:", 8))
            for (char *word = strtok(line + 8, " \n"); word; word = strtok(0, " \n")) {
                char spaced[8];
                sprintf(spaced, " %s ", word);
                if (strstr(ours, spaced))
                    strcat(strcat(shown, " "), word);
            }
    }
    fclose(smaps);
    printf("%s:%s\n", what, shown);
}

static void advice(void)
{
    char *p = (char *)S(mmap, 0, 16 * P, RW, ANON | MAP_NORESERVE, -1, 0);
    flags("new", p);
    S(munmap, p, 16 * P);
    p = (char *)S(mmap, 0x180000000000, 16 * P, RW, ANON | MAP_FIXED, -1, 0);
    num(pages_below(p + 16 * P));
#define A(at, name)                            \
    do {                                       \
        T(madvise, p + (at) * P, P, MADV_##name); \
        flags(#name, p + (at) * P);            \
    } while (0)
    A(1, RANDOM);
    A(1, SEQUENTIAL);
    A(1, NORMAL);
    A(3, DONTFORK);
    A(3, DOFORK);
    A(5, DONTDUMP);
    A(5, DODUMP);
    A(7, WIPEONFORK);
    A(7, KEEPONFORK);
    /* Advice about a part makes a mapping of its own of it, until it is taken back. */
    A(9, DONTFORK);
    num(pages_below(p + 10 * P));
    A(9, DOFORK);
    num(pages_below(p + 16 * P));
    /* Not every kernel has these. */
    if (S(madvise, p, P, MADV_HUGEPAGE) == 0) {
        A(0, HUGEPAGE);
        A(0, NOHUGEPAGE);
    }
    T(mlock, p + 11 * P, P);
    flags("mlock", p + 11 * P);
    T(mlock2, p + 11 * P, P, MLOCK_ONFAULT);
    flags("mlock2", p + 11 * P);
    T(mlock, p + 11 * P, P);
    flags("mlock", p + 11 * P);
    T(munlock, p + 11 * P, P);
    flags("munlock", p + 11 * P);
    unsigned char vec[2] = {0};
    S(mlock2, p + 12 * P, 2 * P, MLOCK_ONFAULT);
    p[12 * P] = 1;
    S(mincore, p + 12 * P, 2 * P, vec);
    printf("touched %d, untouched %d\n", vec[0] & 1, vec[1] & 1);
    T(mlockall, MCL_FUTURE | MCL_ONFAULT);
    char *later = (char *)S(mmap, 0, 2 * P, RW, ANON, -1, 0);
    flags("later", later);
    S(mincore, later, 2 * P, vec);
    printf("untouched %d\n", vec[0] & 1);
    T(munlockall);
    flags("later", later);
    char *shared = (char *)S(mmap, 0, P, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T(madvise, shared, P, MADV_WIPEONFORK);
    T(madvise, shared, P, MADV_DONTFORK);
    flags("shared", shared);
}

/* A field of /proc/self/status in kB. */
static long status(const char *field)
{
    char buf[8192];
    long file = S(open, "/proc/self/status", O_RDONLY), n = S(read, file, buf, sizeof buf - 1);
    S(close, file);
    buf[n > 0 ? n : 0] = 0;
    char *line = strstr(buf, field);
    return line ? atol(line + strlen(field)) : -1;
}

static void peaks(void)
{
    struct rusage usage;
    long size = status("VmSize:"), most = status("VmPeak:"), resident = status("VmRSS:");
    is(most >= size);
    char *p = (char *)S(mmap, 0, 64 * MIB, RW, ANON, -1, 0);
    memset(p, 1, 32 * MIB);
    S(munmap, p, 64 * MIB);
    is(status("VmSize:") < size + 1024);
    is(status("VmPeak:") >= size + 65536 && status("VmPeak:") < most + 2 * 65536);
    is(status("VmHWM:") >= resident + 30000);
    is(status("VmRSS:") < resident + 20000);
    getrusage(RUSAGE_SELF, &usage);
    is(usage.ru_maxrss >= resident + 30000);
    is(usage.ru_minflt > 0);
}

static char deep(long left)
{
    volatile char room[1024];
    room[0] = (char)left;
    return left ? deep(left - 1) + room[0] : room[0];
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &act, 0);
    struct rlimit old, small = {MIB, RLIM_INFINITY};
    S(getrlimit, RLIMIT_STACK, &old);
    small.rlim_max = old.rlim_max;
    /* Far from everything else. */
    char *room = (char *)0x100000000000, *end = room + 64 * MIB;
    char *top = end - P;
    is((char *)S(mmap, top, P, RW, ANON | MAP_FIXED | MAP_GROWSDOWN, -1, 0) == top);
    flags("grows down", top);
    num(pages_below(end));
    touch("its own page", top);
    touch("the page below", top - 1);
    num(pages_below(end));
    touch("a page far below", top - 100 * P);
    num(pages_below(end));
    printf("%d %d\n", top[-1], top[-50 * P]);
    S(setrlimit, RLIMIT_STACK, &small);
    touch("within the limit", end - MIB);
    num(pages_below(end));
    touch("beyond the limit", end - MIB - 1);
    num(pages_below(end));
    S(setrlimit, RLIMIT_STACK, &old);
    touch("within the old one", end - MIB - 1);
    num(pages_below(end));
    /* A guard gap of 1 MiB stays free above what is below. */
    char *below = end - 4 * MIB;
    S(mmap, below, P, RW, ANON | MAP_FIXED, -1, 0);
    touch("in the gap", below + P);
    touch("at the gap", below + P + MIB);
    num(pages_below(end));
    /* What may not be accessed needs no gap. */
    S(mprotect, below, P, PROT_NONE);
    touch("right above it", below + P);
    num(pages_below(end));
    S(munmap, below, P);
    /* Calls make it grow too, and advice does not. */
    int pair[2];
    S(pipe, pair);
    S(write, pair[1], "xy", 2);
    T(read, pair[0], below - 1, 2);
    num(pages_below(end));
    T(madvise, below - 8 * P, P, MADV_WILLNEED);
    T(mprotect, below - 8 * P, P, PROT_READ);
    T(mlock, below - 8 * P, P);
    T(mprotect, below + 2 * P, P, PROT_READ | PROT_GROWSDOWN);
    touch("read only", below - 1);
    touch("below it", below - 2 * P);
    touch("still writable", below + 3 * P);
    /* A hint in the gap is not taken. */
    char *low = room + 8 * MIB;
    S(mmap, low, P, RW, ANON | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    is((char *)S(mmap, low - P, P, RW, ANON, -1, 0) != low - P);
    is((char *)S(mmap, low - 300 * P, P, RW, ANON, -1, 0) == low - 300 * P);
    /* The address space is limited as well. */
    struct rlimit none, tight;
    S(getrlimit, RLIMIT_AS, &none);
    tight = none;
    tight.rlim_cur = (rlim_t)status("VmSize:") * 1024 + 16 * P;
    S(setrlimit, RLIMIT_AS, &tight);
    touch("a few pages more", low - 4 * P);
    touch("too many pages", low - 40 * P);
    S(setrlimit, RLIMIT_AS, &none);

    /* The program's own stack, beyond 8 MiB where the limit is raised. */
    struct rlimit large = {32 * MIB, old.rlim_max};
    S(setrlimit, RLIMIT_STACK, &large);
    num(deep(20000));
    is(status("VmStk:") > 20000);
    S(setrlimit, RLIMIT_STACK, &old);
    advice();
    peaks();
}
