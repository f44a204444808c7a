// covers: seccomp prctl
#include "guest.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#define NR offsetof(struct seccomp_data, nr)
#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define RET(value) BPF_STMT(BPF_RET | BPF_K, value)
/* A verdict on one call. */
#define ON(call, verdict) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RET(verdict)
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
/* Sets a filter, and says what came of it. */
#define FILTER(what, flags, ...)                                                    \
    do {                                                                            \
        struct sock_filter insns_[] = {__VA_ARGS__};                                \
        struct sock_fprog program_ = {sizeof insns_ / sizeof *insns_, insns_};      \
        show(what, S(seccomp, SECCOMP_SET_MODE_FILTER, flags, &program_));          \
    } while (0)

/* What SIGSYS said last. */
static volatile int code, number, reason, arch, count;
static volatile long rax, distance;
static void *last_rip;
/* Blocks system calls. */
static volatile char selector;

static void on_sigsys(int signo, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    code = info->si_code, number = info->si_syscall, reason = info->si_errno, arch = info->si_arch;
    rax = uc->uc_mcontext.gregs[REG_RAX];
    last_rip = (void *)uc->uc_mcontext.gregs[REG_RIP];
    distance = (char *)info->si_call_addr - (char *)last_rip;
    count += signo == SIGSYS;
    uc->uc_mcontext.gregs[REG_RAX] = 4711;
    selector = 0;
}

/* The lines of /proc/self/status about seccomp. */
static void status(void)
{
    char buf[8192];
    long fd = S(open, "/proc/self/status", O_RDONLY), n = S(read, fd, buf, sizeof buf - 1);
    S(close, fd);
    buf[n > 0 ? n : 0] = 0;
    char *line = strstr(buf, "\nSeccomp:");
    printf("%.11s\n", line ? line + 1 : "none");
}

#define BADLY(...) FILTER(#__VA_ARGS__, 0, __VA_ARGS__)

int main(void)
{
    unfiltered();
    unsigned action = SECCOMP_RET_ERRNO;
    T(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
    T(seccomp, SECCOMP_GET_ACTION_AVAIL, 1, &action);
    T(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, BAD);
    action = 0x12345678;
    T(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
    if (release() >= 500) {
        unsigned short sizes[3];
        T(seccomp, SECCOMP_GET_NOTIF_SIZES, 0, sizes);
        printf("%d %d %d\n", sizes[0], sizes[1], sizes[2]);
    }
    T(seccomp, 99, 0, 0);
    T(seccomp, SECCOMP_SET_MODE_STRICT, 1, 0);
    T(seccomp, SECCOMP_SET_MODE_STRICT, 0, &action);
    FILTER("unknown flag", 0x1000, RET(SECCOMP_RET_ALLOW));
    T(seccomp, SECCOMP_SET_MODE_FILTER, 0, BAD);
    T(prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
    T(prctl, PR_SET_SECCOMP, 0, 0, 0, 0);
    T(prctl, PR_SET_SECCOMP, 3, 0, 0, 0);
    T(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0);
    status();

    S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    struct sock_fprog none = {0, 0}, bad = {1, BAD};
    T(seccomp, SECCOMP_SET_MODE_FILTER, 0, &none);
    T(seccomp, SECCOMP_SET_MODE_FILTER, 0, &bad);
    BADLY(LOAD(NR));
    BADLY(LOAD(64), RET(SECCOMP_RET_ALLOW));
    BADLY(LOAD(2), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_LD | BPF_MEM, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_ST, 16), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_JMP | BPF_JA, 1), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_JMP | BPF_JA, -2), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_STMT(BPF_RET | BPF_X, 0));
    BADLY(BPF_STMT(0xffff, 0), RET(SECCOMP_RET_ALLOW));
    BADLY(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), BPF_STMT(BPF_ST, 1), BPF_STMT(BPF_LD | BPF_MEM, 1),
          RET(SECCOMP_RET_ALLOW));
    T(prctl, PR_GET_SECCOMP, 0, 0, 0, 0);

    /* The user's own dispatch. */
    struct sigaction act = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &act, 0);
    if (release() >= 511) {
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 1, 0, 0);
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 99, 0, 0, 0);
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, 4096, -8192L, &selector);
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, KERNEL);
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector);
        long before = S(getppid) > 0;
        selector = 1;
        long result = S(getppid);
        printf("%ld, blocked %ld: %d signals, code %d, number %d, reason %d, rax %ld, %ld bytes away\n", before, result,
               count, code, number, reason, rax, distance);
        T(prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
    }

    /* Real filters: each adds to the others, and the severest verdict counts. */
    struct sock_filter many[] = {LOAD(NR),
                                 ON(getppid, SECCOMP_RET_ERRNO | 33),
                                 ON(getuid, SECCOMP_RET_ERRNO | 5000),
                                 ON(getgid, SECCOMP_RET_ERRNO),
                                 ON(geteuid, SECCOMP_RET_TRAP | 99),
                                 ON(getegid, SECCOMP_RET_TRACE | 1),
                                 ON(sync, SECCOMP_RET_LOG),
                                 RET(SECCOMP_RET_ALLOW)};
    struct sock_fprog all = {sizeof many / sizeof *many, many};
    T(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0);
    T(prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
    status();
    T(getppid);
    num(S(getuid));
    T(getgid);
    T(getegid);
    T(sync);
    count = 0;
    T(geteuid);
    printf("%d signals: code %d, number %d, reason %d, rax %ld, arch %x, %ld bytes away\n", count, code, number, reason,
           rax, arch, distance);
    FILTER("another", SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG, LOAD(NR),
           ON(getppid, SECCOMP_RET_ERRNO | 34), ON(getgid, SECCOMP_RET_ALLOW), RET(SECCOMP_RET_ALLOW));
    T(getppid);
    T(getgid);
    /* Arguments, arithmetic and memory: dup(fd) fails with the sum of its low half and 10 where the high half is 1. */
    FILTER("a sum", SECCOMP_FILTER_FLAG_SPEC_ALLOW, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup, 0, 8),
           LOAD(ARG(0) + 4), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0, 0, 6), LOAD(ARG(0)), BPF_STMT(BPF_ST, 3),
           BPF_STMT(BPF_LDX | BPF_MEM, 3), BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_ERRNO | 10),
           BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), BPF_STMT(BPF_RET | BPF_A, 0), RET(SECCOMP_RET_ALLOW));
    T(dup, 0x100000001);
    T(dup, 0x100000002);
    T(dup, 99);
    /* The call's number is its low half, and a call that is not there is filtered too. */
    FILTER("number and architecture", 0, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7777, 0, 1),
           RET(SECCOMP_RET_ERRNO | 1), LOAD(offsetof(struct seccomp_data, arch)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0), RET(SECCOMP_RET_KILL_PROCESS),
           RET(SECCOMP_RET_ALLOW));
    show("call 7777", sys_(7777, 0, 0, 0, 0, 0, 0));
    show("call 7777 with more bits", sys_(0x500001e61, 0, 0, 0, 0, 0, 0));
    T(prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    /* Too many instructions for one task. */
    static struct sock_filter nops[4096];
    for (int i = 0; i < 4095; i++)
        nops[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
    nops[4095] = (struct sock_filter)RET(SECCOMP_RET_ALLOW);
    struct sock_fprog large = {4096, nops};
    for (int i = 0; i < 8; i++)
        show("4096 instructions", S(seccomp, SECCOMP_SET_MODE_FILTER, 0, &large));
    status();
}
