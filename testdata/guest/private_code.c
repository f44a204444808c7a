// covers: mmap pwrite64 mprotect ftruncate fork memfd_create
/* Private mappings of code run what is written to their files, but for pages that were stored to. */
#include "guest.h"
#include <sys/wait.h>

#define P 4096L

/* mov $n, %eax; ret */
static void code(char *at, int n)
{
    static const char form[] = {(char)0xb8, 0, 0, 0, 0, (char)0xc3};
    memcpy(at, form, sizeof form), memcpy(at + 1, &n, sizeof n);
}
static void put_code(long fd, long page, int n)
{
    char bytes[6];
    code(bytes, n), S(pwrite64, fd, bytes, sizeof bytes, page * P);
}
static int call(const char *at) { return ((int (*)(void))at)(); }
static void runs(const char *what, const char *m)
{
    printf("  %s: %d %d %d\n", what, call(m), call(m + P), call(m + 2 * P));
}
static char *map(long fd) { return (char *)S(mmap, 0, 3 * P, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0); }

static void both(const char *what, long fd)
{
    int status;
    printf("%s\n", what);
    for (int i = 0; i < 3; i++) put_code(fd, i, i + 1);
    char *m = map(fd), *other = map(fd);
    runs("as it was", m);
    put_code(fd, 0, 10), put_code(fd, 2, 30);
    runs("written", m), runs("not run before", other);
    S(mprotect, m + P, P, PROT_READ | PROT_WRITE), code(m + P, 21), S(mprotect, m + P, P, PROT_READ | PROT_EXEC);
    put_code(fd, 1, 20), runs("stored to", m), runs("the other", other);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        put_code(fd, 2, 31), runs("the child", m), fflush(stdout), _exit(0);
    waitpid(pid, &status, 0);
    runs("after the child", m);
    char *s = (char *)S(mmap, 0, 3 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *third = map(fd);
    code(s, 11), code(s + 2 * P, 32);
    runs("stored by a shared one", m), runs("mapped beside it", third);
    S(munmap, s, 3 * P), put_code(fd, 0, 12);
    runs("written again", m), runs("written again", third);
    char *late = map(fd);
    runs("mapped late", late), put_code(fd, 0, 13), runs("written after that", late);
    S(ftruncate, fd, P), S(ftruncate, fd, 3 * P), put_code(fd, 1, 22), put_code(fd, 2, 33);
    runs("cut and written", m), runs("cut and written", late);
    S(munmap, m, 3 * P), S(munmap, other, 3 * P), S(munmap, third, 3 * P), S(munmap, late, 3 * P);
}

int main(void)
{
    both("a file", S(open, "made", O_RDWR | O_CREAT, 0644));
    both("a memfd", S(memfd_create, "code", 0));
    both("of the host", S(open, "host/file", O_RDWR));
    /* A page writes the file that it runs from. */
    long fd = S(open, "self", O_RDWR | O_CREAT, 0644);
    static const unsigned char text[] = {
        0xb8, 18, 0, 0, 0,      /* mov $SYS_pwrite64, %eax; fd, bytes, length and offset are there */
        0x49, 0x89, 0xca,       /* mov %rcx, %r10 */
        0x0f, 0x05,             /* syscall */
        0xb8, 1, 0, 0, 0, 0xc3, /* mov $1, %eax; ret */
    };
    int two = 2;
    S(write, fd, text, sizeof text), S(ftruncate, fd, P);
    char *m = (char *)S(mmap, 0, P, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    num(((int (*)(long, void *, long, long))m)(fd, &two, 4, 11));
    return 0;
}
