// covers: ptrace
// flags: -fno-pie -no-pie -O1
// Stops at system calls - their beginnings and ends, what a tracer is told of them, calls that it changes, leaves
// out or emulates, calls that a signal interrupts, and single steps.
#include "tracing.h"
#include <poll.h>
#include <time.h>

struct info {
    uint8_t op, pad[3];
    uint32_t arch;
    uint64_t ip, sp;
    uint64_t u[8];
};

static void say_call(pid_t pid)
{
    struct info info;
    memset(&info, 0xee, sizeof info);
    unsigned long message = 99;
    P(GETEVENTMSG, pid, 0, &message);
    struct user_regs_struct regs = registers(pid);
    long len = P(GET_SYSCALL_INFO, pid, sizeof info, &info);
    printf("  info %ld: op %d, message %lu, arch %x, places %d %d; orig_rax %lld rax %lld\n", len, info.op, message,
           info.arch, info.ip == regs.rip, info.sp == regs.rsp, (long long)regs.orig_rax, (long long)regs.rax);
    if (info.op == 1)
        printf("  call %ld(%ld, %ld, %ld)\n", (long)info.u[0], (long)info.u[1], (long)info.u[2], (long)info.u[3]);
    if (info.op == 2)
        printf("  value %ld, error %d\n", (long)info.u[0], (int)(info.u[1] & 0xff));
}

static void work(void)
{
    S(sched_get_priority_max, 1);
    printf("close %ld\n", S(close, 99));
    printf("dup %ld\n", S(dup, 98));
    printf("left out %ld\n", S(getuid));
    printf("emulated %ld\n", S(getpgid, 0x1234));
    fflush(stdout);
    S(sched_get_priority_min, 1);
}

static volatile int handled;
static void handler(int s)
{
    handled = s;
}

static void sleeps(void)
{
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, NULL);
    sa.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &sa, NULL);
    int ends[2];
    char c;
    if (pipe(ends))
        return;
    struct timespec t = {0, 30000000};
    printf("read %ld\n", S(read, ends[0], &c, 1));
    printf("read %ld\n", S(read, ends[0], &c, 1));
    printf("poll %ld\n", S(poll, NULL, 0, 30));
    printf("nanosleep %ld\n", S(nanosleep, &t, NULL));
    printf("pause %ld\n", S(pause));
    fflush(stdout);
}

extern const char steps_begin[], steps_end[];
static void steps(void)
{
    volatile int *to = &handled;
    __asm__ volatile("steps_begin: nop; mov $39, %%eax; syscall; nop; pushf; popf; mov $3, %%ecx; 1: loop 1b\n"
                     "mov $2, %%ecx; rep stosb; steps_end: nop" : "+D"(to) : : "rax", "rcx", "r11", "memory");
}

static void catches(void)
{
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, NULL);
    S(kill, S(getpid), SIGUSR1);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    pid_t pid = tracee(work);
    await("first", pid);
    NEXT(SYSCALL, pid, 0);
    say_call(pid);
    NEXT(SYSCALL, pid, 0);
    say_call(pid);
    SAY(SETOPTIONS, pid, 0, 1);
    for (int call = 0; call < 40; call++) {
        int status = NEXT(SYSCALL, pid, 0);
        if (!WIFSTOPPED(status))
            break;
        struct user_regs_struct regs = registers(pid);
        if (regs.orig_rax == SYS_write || regs.orig_rax == SYS_newfstatat || regs.orig_rax == SYS_fstat)
            continue;
        say_call(pid);
        if (regs.rax != (unsigned long)-38) {
            if (regs.orig_rax == SYS_dup) {
                regs.rax = -ENOTTY;
                SAY(SETREGS, pid, 0, &regs);
            }
            continue;
        }
        switch (regs.orig_rax) {
        case SYS_close:
            regs.orig_rax = SYS_dup; /* another call */
            regs.rdi = 77;
            SAY(SETREGS, pid, 0, &regs);
            break;
        case SYS_getuid:
            SAY(POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
            break;
        case SYS_getpgid:
            regs.orig_rax = -1;
            regs.rax = 4711;
            SAY(SETREGS, pid, 0, &regs);
            break;
        }
    }

    /* PTRACE_SYSEMU: no call is made. */
    pid = tracee(steps);
    await("emulated", pid);
    NEXT(SYSEMU, pid, 0);
    struct user_regs_struct regs = registers(pid);
    printf("%lld %lld\n", (long long)regs.orig_rax, (long long)regs.rax);
    regs.rax = 5;
    P(SETREGS, pid, 0, &regs);
    NEXT(SYSEMU, pid, 0);
    regs = registers(pid);
    printf("%lld %lld, the number %d\n", (long long)regs.orig_rax, (long long)regs.rax, regs.orig_rax == SYS_exit_group);
    NEXT(CONT, pid, 0);

    /* A signal interrupts calls. */
    pid = tracee(sleeps);
    await("sleeps", pid);
    P(SETOPTIONS, pid, 0, 1);
    static const int signals[] = {SIGUSR1, SIGCHLD, SIGUSR2, SIGUSR1, SIGCHLD, SIGCHLD, SIGUSR1, SIGUSR1, SIGUSR1, SIGUSR1};
    int sent = 0;
    for (int i = 0; i < 80; i++) {
        P(SYSCALL, pid, 0, 0);
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFSTOPPED(status)) {
            say_status("end", status);
            break;
        }
        regs = registers(pid);
        long nr = regs.orig_rax;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            /* A signal: every other one is kept from it. */
            say_status("signal", status);
            printf("  orig_rax %ld rax %lld\n", nr, (long long)regs.rax);
            P(SYSCALL, pid, 0, sent % 2 ? WSTOPSIG(status) : 0);
            waitpid(pid, &status, 0);
            regs = registers(pid);
            nr = regs.orig_rax;
            say_status("after it", status);
            if (!WIFSTOPPED(status))
                break;
        }
        if (nr != SYS_read && nr != SYS_poll && nr != SYS_nanosleep && nr != SYS_pause && nr != 219)
            continue;
        int begins = regs.rax == (unsigned long)-38;
        if (!begins)
            printf("%s ends: %lld\n", nr == 219 ? "restart" : nr == SYS_read ? "read" : nr == SYS_pause ? "pause" : "timed",
                   (long long)regs.rax);
        else if (sent < 10 && nr != SYS_poll && nr != SYS_nanosleep && nr != 219)
            kill(pid, signals[sent++]);
    }

    /* Single steps, also over a call and within a string instruction. */
    pid = tracee(steps);
    await("steps", pid);
    long code = 0;
    P(PEEKTEXT, pid, steps_begin, &code);
    P(POKETEXT, pid, steps_begin, (code & ~0xffL) | 0xcc);
    NEXT(CONT, pid, 0);
    P(POKETEXT, pid, steps_begin, code);
    P(POKEUSER, pid, offsetof(struct user_regs_struct, rip), steps_begin);
    for (int i = 0; i < 40; i++) {
        int status = 0;
        P(SINGLESTEP, pid, 0, 0);
        waitpid(pid, &status, 0);
        siginfo_t si = {0};
        P(GETSIGINFO, pid, 0, &si);
        regs = registers(pid);
        printf("+%lld: %x code %d, TF %d, orig_rax %lld\n", regs.rip - (unsigned long)steps_begin, status, si.si_code,
               (int)(regs.eflags >> 8 & 1), (long long)regs.orig_rax);
        if (regs.rip == (unsigned long)steps_end)
            break;
    }
    NEXT(CONT, pid, 0);

    /* A step into a handler, and on. */
    pid = tracee(catches);
    await("catches", pid);
    NEXT(CONT, pid, 0);
    for (int i = 0; i < 3; i++) {
        NEXT(SINGLESTEP, pid, i ? 0 : SIGUSR1);
        siginfo_t si = {0};
        P(GETSIGINFO, pid, 0, &si);
        regs = registers(pid);
        printf("in the handler %d, at its beginning %d, signal %d code %d\n", regs.rip - (unsigned long)handler < 64,
               regs.rip == (unsigned long)handler, si.si_signo, si.si_code);
    }
    SAY(SINGLEBLOCK, pid, 0, 65);
    NEXT(CONT, pid, 0);
    return 0;
}
