// covers: clone clone3 fork vfork wait4 exit exit_group set_tid_address
#include "guest.h"
#include <linux/sched.h>
#include <sched.h>
#include <sys/wait.h>

static char stack[65536] __attribute__((aligned(16)));
static int shared_word;

/* A child by the bare call: what it returns is its status. */
static long spawn(long flags, void *sp, int *ptid, int *ctid)
{
    return S(clone, flags, sp, ptid, ctid, 0);
}

static void reap(const char *what, long pid, int options)
{
    int status = -1;
    long got = S(wait4, pid, &status, options, NULL);
    printf("%s: %s, status %#x\n", what, got == pid ? "waited for" : strerrorname_np((int)-got), status);
}

static int runs_on_stack(void *arg)
{
    shared_word += *(int *)arg;
    return 11;
}

static void errors(void)
{
    struct clone_args args;
    static const struct {
        const char *name;
        unsigned long flags;
    } wrong[] = {
        {"thread without sighand", CLONE_THREAD | CLONE_VM},
        {"sighand without vm", CLONE_SIGHAND},
        {"thread alone", CLONE_THREAD},
        {"newns with fs", CLONE_NEWNS | CLONE_FS},
        {"pidfd with parent_settid", CLONE_PIDFD | CLONE_PARENT_SETTID},
        {"pidfd with detached", CLONE_PIDFD | 0x400000},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        show(wrong[i].name, spawn((long)wrong[i].flags | SIGCHLD, NULL, NULL, NULL));
    memset(&args, 0, sizeof args);
    args.exit_signal = SIGCHLD;
    T(clone3, &args, 63);
    T(clone3, &args, 8192);
    T(clone3, BAD, 88);
    T(clone3, NULL, 64);
#define WRONG(field, value)                       \
    do {                                          \
        struct clone_args saved = args;           \
        args.field = (value);                     \
        show(#field " = " #value, S(clone3, &args, sizeof args)); \
        args = saved;                             \
    } while (0)
    WRONG(flags, SIGCHLD);
    WRONG(flags, 0x400000);
    WRONG(flags, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM);
    WRONG(flags, CLONE_PARENT);
    WRONG(flags, CLONE_SIGHAND | CLONE_VM | CLONE_CLEAR_SIGHAND);
    WRONG(flags, 1ULL << 40);
    WRONG(exit_signal, 65);
    WRONG(exit_signal, 0x100);
    WRONG(stack, (uintptr_t)stack);
    WRONG(stack_size, 4096);
    WRONG(set_tid_size, 1);
    WRONG(set_tid_size, 33);
    WRONG(set_tid, (uintptr_t)&shared_word);
    struct {
        struct clone_args args;
        uint64_t more[2];
    } longer = {args, {0, 1}};
    T(clone3, &longer, sizeof longer);
}

int main(void)
{
    int ptid = 0, ctid = 0;
    errors();
    fflush(stdout);

    long pid = S(fork);
    if (pid == 0)
        S(exit_group, S(getppid) == 1 ? 1 : 5);
    reap("fork", pid, 0);

    /* The word is the child's own, unless memory is shared. */
    pid = spawn(SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID, NULL, &ptid, &ctid);
    if (pid == 0)
        S(exit_group, ctid == S(gettid) && ptid == ctid ? 6 : 1);
    printf("parent_settid: %d, child_settid seen here: %d\n", ptid == pid, ctid == pid);
    reap("settid", pid, 0);

    pid = S(vfork);
    if (pid == 0) {
        shared_word = 1;
        S(exit_group, 7);
    }
    printf("vfork shares memory: %d\n", shared_word);
    reap("vfork", pid, 0);

    int add = 20;
    pid = clone(runs_on_stack, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &add);
    printf("after the stack of its own: %d\n", shared_word);
    reap("own stack", pid, 0);
    pid = clone(runs_on_stack, stack + sizeof stack, SIGCHLD, &add);
    reap("own stack, own memory", pid, 0);
    printf("unchanged: %d\n", shared_word);

    struct clone_args args = {.exit_signal = SIGCHLD, .stack = (uintptr_t)stack, .stack_size = sizeof stack};
    args.stack = args.stack_size = 0;
    pid = S(clone3, &args, sizeof args);
    if (pid == 0)
        S(exit_group, 8);
    reap("clone3", pid, 0);

    /* What has no SIGCHLD is only waited for by those who ask for it. */
    pid = spawn(0, NULL, NULL, NULL);
    if (pid == 0)
        S(exit_group, 9);
    reap("no signal, plain wait", pid, 0);
    reap("no signal, __WCLONE", pid, __WCLONE);
    signal(SIGUSR1, SIG_IGN);
    pid = spawn(SIGUSR1, NULL, NULL, NULL);
    if (pid == 0)
        S(exit_group, 10);
    reap("SIGUSR1, __WALL", pid, __WALL);
    T(wait4, -1, NULL, __WALL, NULL);
    return 0;
}
