// covers: mmap ftruncate read write rt_sigaction memfd_create
#include "guest.h"
#include <setjmp.h>

/* Pages of a mapping behind the end of its file: SIGBUS for the program, EFAULT for the kernel, and pages that come and
 * go as the file grows and shrinks. */
static sigjmp_buf back;
static volatile int code;
static void *volatile addr;

static void handler(int signo, siginfo_t *info, void *context)
{
    (void)context;
    code = signo * 100 + info->si_code, addr = info->si_addr;
    siglongjmp(back, 1);
}
static void touch(const char *what, volatile char *p, int write)
{
    if (sigsetjmp(back, 1)) {
        printf("%s: signal %d code %d at the address %d\n", what, code / 100, code % 100, addr == p);
        return;
    }
    if (write)
        *p = 'w';
    char c = *p;
    printf("%s: %d\n", what, c);
}

int main(void)
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &a, 0), sigaction(SIGSEGV, &a, 0);
    put("f", "abc"), put("other", "contents of the other");
    for (int kind = 0; kind < 4; kind++) {
        static const char *names[] = {"shared file", "private file", "shared memfd", "private memfd"};
        printf("== %s\n", names[kind]), put("f", "abc");
        long fd = kind < 2 ? S(open, "f", O_RDWR) : S(memfd_create, "m", 0), other = S(open, "other", O_RDONLY);
        S(ftruncate, fd, 3);
        char *p = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, kind & 1 ? MAP_PRIVATE : MAP_SHARED, (int)fd, 0);
        touch("first", p, 0), touch("behind the end, same page", p + 10, 0), touch("write there", p + 10, 1), touch("last of the page", p + 4095, 0),
            touch("next page", p + 4096, 0), touch("write it", p + 4100, 1), touch("last page", p + 4 * 4096 - 1, 0);
        T(read, other, p + 4096, 4), T(write, fd, p + 4096, 4), T(read, other, p + 4090, 12), T(open, p + 4096, O_RDONLY), T(getcwd, p + 4096, 100),
            T(pwrite64, fd, p + 4094, 4, 0);
        /* It grows: the pages are there. */
        T(ftruncate, fd, 4097), touch("next page", p + 4096, 0), touch("its end", p + 8191, 0), touch("the one behind", p + 8192, 0),
            T(pwrite64, fd, "new", 3, 8192), touch("written", p + 8192, 0), touch("own copy", p + 8193, 1);
        /* It shrinks: copies of a private mapping go too. */
        T(ftruncate, fd, 4096), touch("cut", p + 8193, 0), touch("cut", p + 4096, 0), T(ftruncate, fd, 3 * 4096), touch("grown again", p + 8193, 0),
            touch("zero", p + 8192, 0), T(ftruncate, fd, 2), touch("behind the end", p + 3, 0), touch("and written", p + 10, 0), T(ftruncate, fd, 0),
            touch("empty", p, 0), touch("empty", p, 1);
        T(madvise, p, 4096, MADV_WILLNEED), T(msync, p, 4 * 4096, MS_SYNC), T(mlock, p, 4096), T(munlock, p, 4096),
            T(madvise, p, 4096, MADV_POPULATE_READ), munmap(p, 4 * 4096), touch("unmapped", p, 0);
        p = mmap(0, 4096, PROT_READ, MAP_SHARED, (int)other, 8192), touch("an offset behind the end", p, 0), touch("no write", p, 1), S(close, fd),
            S(close, other);
    }
    return 0;
}
