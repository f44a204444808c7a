// covers: madvise mremap semtimedop
/* Guard regions: every access to them faults, in children too, and unmapping or moving takes them along. And a call
 * with no time to wait, which leaves nothing behind that waits. */
#include "guest.h"
#include <setjmp.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

static sigjmp_buf back;
static int code;

static void fault(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    code = info->si_code;
    siglongjmp(back, 1);
}

/* Loads a byte of a page; whether it faults, and how. */
static void load(const char *what, volatile char *at)
{
    if (sigsetjmp(back, 1))
        printf("%s faults: %s\n", what, code == SEGV_MAPERR ? "not mapped" : code == SEGV_ACCERR ? "not allowed" : "?");
    else
        printf("%s: %d\n", what, *at);
}

int main(void)
{
    const size_t page = 4096;
    char *area = mmap(0, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int at = 0; at < 8; at++)
        area[at * page] = (char)(at + 1);
    long first = S(madvise, area + 2 * page, 2 * page, MADV_GUARD_INSTALL);
    if (first == -EINVAL)
        lacks("this Linux has no guard regions, which came with 6.13");
    num(first);
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);

    load("before", area + page);
    load("guard", area + 2 * page);
    load("its second page", area + 3 * page);
    load("behind", area + 4 * page);
    /* The kernel does not read them either. */
    int two[2];
    check(pipe(two));
    check(write(two[1], area + 2 * page, 1));
    /* Neither is dropped with the pages, nor do permissions change it. */
    T(madvise, area, 8 * page, MADV_DONTNEED);
    load("guard after DONTNEED", area + 2 * page);
    load("before, dropped", area + page);
    T(mprotect, area, 8 * page, PROT_READ);
    load("guard after mprotect", area + 3 * page);
    T(mprotect, area, 8 * page, PROT_READ | PROT_WRITE);
    /* A child has them. */
    fflush(stdout);
    if (fork() == 0) {
        load("guard of the child", area + 2 * page);
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    /* They move along. */
    char *there = mmap(0, 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    num(mremap(area, 8 * page, 8 * page, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
    load("guard that moved", there + 2 * page);
    load("beside it", there + 4 * page);
    /* One of two is taken away. */
    T(madvise, there + 3 * page, page, MADV_GUARD_REMOVE);
    load("what was guarded", there + 3 * page);
    load("what still is", there + 2 * page);
    /* A new mapping there is new. */
    num(mmap(there, 8 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == there);
    load("new mapping", there + 2 * page);
    /* What is locked cannot be guarded, but be freed. */
    check(mlock(there, page));
    T(madvise, there, page, MADV_GUARD_INSTALL);
    T(madvise, there, page, MADV_GUARD_REMOVE);

    /* A set that goes wakes nobody who has not waited. */
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    struct timespec none = {0, 0};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(semtimedop(set, &down, 1, &none) == -1 ? errno : 0);
    int status;
    waitpid(child, &status, 0);
    printf("semtimedop of no time: %s\n", strerrorname_np(WEXITSTATUS(status)));
    check(semctl(set, 0, GETNCNT));
    check(semctl(set, 0, IPC_RMID));
    return 0;
}
