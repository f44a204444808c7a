// covers: setrlimit prlimit64 mmap mprotect mremap brk mlock mlockall
#include "guest.h"

#define P 4096L
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define MIB (1L << 20)

static void limit(int which, unsigned long soft)
{
    struct rlimit now;
    S(getrlimit, which, &now);
    now.rlim_cur = soft;
    S(setrlimit, which, &now);
}

/* A field of a file of /proc/self, in bytes. */
static long field(const char *path, const char *name, long unit)
{
    char buf[8192];
    long file = S(open, path, O_RDONLY), n = S(read, file, buf, sizeof buf - 1);
    S(close, file);
    buf[n > 0 ? n : 0] = 0;
    char *line = strstr(buf, name);
    return line ? atol(line + strlen(name)) * unit : -1;
}

int main(void)
{
    long old = (long)S(mmap, 0, 4 * P, RW, ANON, -1, 0), ro = (long)S(mmap, 0, 4 * MIB, PROT_READ, ANON, -1, 0);
    long end = S(brk, 0), size = field("/proc/self/status", "VmSize:", 1024);
    limit(RLIMIT_AS, size + MIB);
    printf("address space\n");
    OK(mmap, 0, 2 * MIB, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    OK(mmap, 0, 2 * MIB, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    is(S(brk, end + 2 * MIB) == end);
    OK(mremap, ro, 4 * MIB, 6 * MIB, MREMAP_MAYMOVE);
    /* What is replaced does not count twice. */
    OK(mmap, ro, 4 * MIB, PROT_READ, ANON | MAP_FIXED, -1, 0);
    long half = OK(mmap, 0, MIB / 2, RW, ANON, -1, 0);
    OK(mmap, 0, MIB, RW, ANON, -1, 0);
    S(munmap, half, MIB / 2);
    is(S(brk, end + MIB / 2) == end + MIB / 2);
    S(brk, end);
    limit(RLIMIT_AS, RLIM_INFINITY);
    OK(mmap, 0, 2 * MIB, PROT_NONE, ANON, -1, 0);

    printf("data\n");
    /* A limit of nothing is none, for the sake of programs that set it. */
    limit(RLIMIT_DATA, 0);
    OK(mmap, 0, P, RW, ANON, -1, 0);
    limit(RLIMIT_DATA, P);
    OK(mmap, 0, P, RW, ANON, -1, 0);
    OK(mmap, 0, P, PROT_READ, ANON, -1, 0);
    OK(mmap, 0, P, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T(mprotect, ro, P, RW);
    T(mprotect, old, P, PROT_READ);
    OK(mremap, old + P, 3 * P, 5 * P, MREMAP_MAYMOVE);
    is(S(brk, end + MIB) == end);
    limit(RLIMIT_DATA, RLIM_INFINITY);
    T(mprotect, ro, P, RW);
    is(S(brk, end + MIB) == end + MIB);

    struct rlimit now = {5, 4};
    T(setrlimit, RLIMIT_AS, &now);
    T(setrlimit, 16, &now);
    T(setrlimit, -1, &now);
    T(setrlimit, RLIMIT_AS, BAD);
    T(getrlimit, 16, &now);
    T(getrlimit, RLIMIT_AS, BAD);
    T(prlimit64, 0, 16, 0, 0);
    T(prlimit64, 0, 99, 0, BAD);
    T(prlimit64, -1, RLIMIT_AS, 0, 0);
    T(prlimit64, 0x7fffffff, RLIMIT_AS, 0, 0);
    T(prlimit64, 0, RLIMIT_AS, BAD, 0);
    T(prlimit64, 0, RLIMIT_AS, 0, BAD);
    T(prlimit64, 0, RLIMIT_AS, &now, 0);
    now = (struct rlimit){10 << 20, 100 << 20};
    T(prlimit64, 0, RLIMIT_STACK, &now, &now);
    T(prlimit64, 0, RLIMIT_STACK, 0, &now);
    num(now.rlim_cur);
    num(now.rlim_max);
    now = (struct rlimit){100, 200};
    T(setrlimit, RLIMIT_NOFILE, &now);
    num(field("/proc/self/limits", "Max open files", 1));
    char *line = "Max stack size            10485760             104857600            bytes     ";
    char buf[4096] = "";
    long file = S(open, "/proc/self/limits", O_RDONLY);
    S(read, file, buf, sizeof buf - 1);
    is(strstr(buf, line) != NULL);
    is(strstr(buf, "Max open files            100                  200                  files     ") != NULL);
    /* Every resource is there, with its unit. */
    for (char *p = strtok(buf, "\n"); p; p = strtok(NULL, "\n"))
        printf("%.25s|%s\n", p, strlen(p) > 68 ? p + 68 : "");
}
