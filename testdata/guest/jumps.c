// covers: mmap munmap mprotect mremap
/* Indirect calls find the code that is there now, however it came there. */
#include "guest.h"

#include <setjmp.h>
#include <sys/wait.h>

static sigjmp_buf out;

static void fault(int signo)
{
    siglongjmp(out, signo);
}

/* `mov eax, n; ret` at `to`. */
static void put_function(unsigned char *to, int n)
{
    unsigned char code[] = {0xb8, n, n >> 8, 0, 0, 0xc3};
    memcpy(to, code, sizeof code);
}

static long call(void *at)
{
    int signo = sigsetjmp(out, 1);
    if (signo)
        return -signo;
    return ((int (*)(void))at)();
}

/* Calls it until it is certainly known to whoever remembers targets. */
static void known(const char *what, void *at)
{
    long first = call(at), same = 1;
    for (int i = 0; i < 100; i++)
        same += call(at) == first;
    printf("%s: %ld, %ld times\n", what, first, same);
}

int main(void)
{
    const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC, any = MAP_PRIVATE | MAP_ANONYMOUS;
    signal(SIGSEGV, fault);
    unsigned char *p = mmap(0, 8192, rwx, any, -1, 0);
    put_function(p, 1), put_function(p + 4096, 2);
    known("first page", p);
    known("second page", p + 4096);
    put_function(p, 3);
    known("written over", p);
    mremap(p + 4096, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p);
    known("moved over it", p);
    known("where it was", p + 4096);
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    known("not executable", p);
    mprotect(p, 4096, PROT_READ | PROT_EXEC);
    known("executable again", p);
    munmap(p, 4096);
    known("unmapped", p);
    mmap(p, 4096, rwx, any | MAP_FIXED, -1, 0);
    put_function(p, 4);
    known("mapped again", p);

    /* The same frame under two names. */
    long fd = S(memfd_create, "code", 0);
    S(ftruncate, fd, 4096);
    unsigned char *w = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unsigned char *x = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    for (int i = 0; i < 3; i++) {
        put_function(w, 10 + i);
        known("through another mapping", x);
    }

    /* More targets than any table has room for. */
    long wrong = 0;
    unsigned char *many = mmap(0, 1 << 20, rwx, any, -1, 0);
    for (int i = 0; i < 1 << 16; i++)
        put_function(many + 16 * i, i & 0x7fff);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1 << 16; i++)
            wrong += ((int (*)(void))(many + 16 * i))() != (i & 0x7fff);
    num(wrong);

    /* The same address in two processes that take turns, with other code in one. */
    int there[2], back[2];
    if (pipe(there) || pipe(back))
        return 1;
    put_function(p, 20);
    known("before the fork", p);
    pid_t child = fork();
    if (!child)
        put_function(p, 21);
    long sum = 0;
    for (int i = 0; i < 200; i++) {
        char c = 0;
        if (child ? write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1
                  : read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
            return 2;
        sum += call(p) + ((int (*)(void))p)();
    }
    if (!child)
        _exit(sum == 200 * 42);
    int status;
    waitpid(child, &status, 0);
    printf("in turns: %ld, %d\n", sum, WEXITSTATUS(status));

    /* With EFLAGS.AC, in which code is translated anew, and then without it again. */
    for (int i = 0; i < 50; i++) {
        __asm__ volatile("pushfq; orl $0x40000, (%%rsp); popfq" ::: "memory", "cc");
        sum += ((int (*)(void))p)();
        __asm__ volatile("pushfq; andl $~0x40000, (%%rsp); popfq" ::: "memory", "cc");
        sum += ((int (*)(void))p)();
    }
    num(sum);
    return 0;
}
