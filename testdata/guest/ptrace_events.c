// covers: ptrace clone execve
// Events of ptrace(2) - tasks that a tracee makes, programs that it executes, its end, filters that tell its tracer,
// and what happens without the options.
#include "tracing.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

enum {
    SYSGOOD = 1, FORK = 2, VFORK = 4, CLONE = 8, EXEC = 16, VFORKDONE = 32, EXIT = 64, SECCOMP = 128
};
static const char *self;

static void forks(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(4);
    reap(pid);
}
static void vforks(void)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(5);
    reap(pid);
}
static void *thread(void *arg)
{
    return arg;
}
static void clones(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    /* No SIGCHLD at its end makes an event of clone(2) of it; CLONE_UNTRACED leaves it out. */
    long pid = S(clone, SIGUSR1, 0, 0, 0, 0);
    if (pid == 0)
        _exit(6);
    int status;
    S(wait4, pid, &status, __WALL, 0);
    pid = S(clone, 0x800000 | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(7);
    S(wait4, pid, &status, __WALL, 0);
}
static void executes(void)
{
    execl(self, self, "end", NULL);
}
static void *executes_too(void *arg)
{
    execl(self, self, "end", NULL);
    return arg;
}
static void thread_executes(void)
{
    pthread_t t;
    pthread_create(&t, NULL, executes_too, NULL);
    for (;;)
        pause();
}
static void dies(void)
{
    S(kill, S(getpid), SIGTERM);
}
static void leaves(void)
{
    S(exit, 9);
}

static void filters(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 77),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getgid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 78),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 5),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    printf("changed %ld\n", S(getuid));
    printf("left out %ld\n", S(getgid));
    printf("denied %ld\n", S(getuid));
    fflush(stdout);
}

/* Follows a tracee and those that come with it until the last has ended. */
static void follow(const char *what, void (*work)(void), long options, int request)
{
    printf("-- %s\n", what);
    pid_t pid = tracee(work), child = 0;
    await("first", pid);
    SAY(SETOPTIONS, pid, 0, options);
    S(ptrace, request, pid, 0, 0);
    int alive = 1;
    for (int i = 0; alive > 0 && i < 500; i++) {
        int status = 0;
        pid_t who = waitpid(-1, &status, __WALL);
        if (who < 0)
            break;
        char name[32];
        sprintf(name, "%s", who == pid ? "tracee" : "other");
        if (!WIFSTOPPED(status)) {
            say_status(name, status);
            alive -= 1;
            if (who != pid)
                child = 0;
            continue;
        }
        unsigned long message = 0;
        int event = status >> 16, signo = WSTOPSIG(status), pass = 0;
        P(GETEVENTMSG, who, 0, &message);
        siginfo_t si = {0};
        long info = P(GETSIGINFO, who, 0, &si);
        if (who != pid && !child)
            child = who;
        if (event) {
            say_status(name, status);
            int of_child = event >= 1 && event <= 3 || event == 5;
            printf("  message %ld, info %ld: %d code %x own %d\n",
                   of_child ? (long)(message == (unsigned long)child || message > 1) : event == 4 ? (long)(message == (unsigned long)pid) : (long)message,
                   info, si.si_signo, si.si_code, si.si_pid == who);
            if (event >= 1 && event <= 3) {
                alive += 1;
                child = message;
                /* The new one, before this one goes on. */
                int its = 0;
                waitpid(child, &its, __WALL);
                say_status("new", its);
                printf("  traced by this %d, state %c\n", tracer_of(child) == getpid(), state_of(child));
                P(CONT, child, 0, 0);
                int waits = event == 2 && options & VFORKDONE;
                if (waits)
                    P(CONT, who, 0, 0); /* else both would be there to be waited for */
                do {
                    waitpid(child, &its, __WALL);
                    say_status("new", its);
                    P(CONT, child, 0, 0);
                } while (WIFSTOPPED(its));
                alive -= 1;
                child = 0;
                if (waits)
                    continue;
            }
            struct user_regs_struct regs = registers(who);
            if (event == 7 && message == 77 && regs.orig_rax == SYS_getuid) {
                static int times;
                regs.orig_rax = times++ ? SYS_getppid : SYS_getpriority;
                regs.rdi = 0, regs.rsi = 0;
                SAY(SETREGS, who, 0, &regs);
            } else if (event == 7) {
                regs.orig_rax = -1;
                regs.rax = 123;
                SAY(SETREGS, who, 0, &regs);
            }
        } else if (signo == (SIGTRAP | 0x80)) {
            struct user_regs_struct regs = registers(who);
            if (regs.orig_rax != SYS_exit_group && regs.orig_rax != SYS_execve && regs.orig_rax != SYS_fork &&
                regs.orig_rax != SYS_clone && regs.orig_rax != SYS_vfork && regs.orig_rax != SYS_getuid &&
                regs.orig_rax != SYS_getppid && regs.orig_rax != SYS_getpriority)
                goto on;
            say_status(name, status);
            int forks = regs.orig_rax == SYS_fork || regs.orig_rax == SYS_clone || regs.orig_rax == SYS_vfork;
            long long rax = (long long)regs.rax, most = forks ? 1 : 1000; /* a process's number is not told */
            printf("  orig_rax %lld rax %lld\n", (long long)regs.orig_rax, rax > most ? 1000 : rax);
        } else {
            say_status(name, status);
            printf("  info %ld: %d code %d own %d\n", info, si.si_signo, si.si_code, si.si_pid == who);
            pass = signo == SIGTRAP || signo == SIGSTOP ? 0 : signo;
        }
    on:
        S(ptrace, request, who, 0, pass);
    }
    kill(pid, SIGKILL);
    for (int status, who; (who = waitpid(-1, &status, __WALL)) > 0;)
        if (WIFSTOPPED(status))
            kill(who, SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "end"))
        return 8;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    char path[512] = {0};
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 1;
    self = path;
    follow("fork, no option", forks, 0, PTRACE_CONT);
    follow("fork", forks, FORK, PTRACE_CONT);
    follow("fork and exit", forks, FORK | EXIT, PTRACE_CONT);
    follow("vfork", vforks, VFORK, PTRACE_CONT);
    follow("vfork and done", vforks, VFORK | VFORKDONE, PTRACE_CONT);
    follow("vfork done alone", vforks, VFORKDONE, PTRACE_CONT);
    follow("clone", clones, CLONE, PTRACE_CONT);
    follow("clone and exit", clones, CLONE | EXIT, PTRACE_CONT);
    follow("exec, no option", executes, 0, PTRACE_CONT);
    follow("exec", executes, EXEC, PTRACE_CONT);
    follow("exec and its calls", executes, EXEC | SYSGOOD, PTRACE_SYSCALL);
    follow("a thread's exec", thread_executes, EXEC, PTRACE_CONT);
    follow("killed", dies, EXIT, PTRACE_CONT);
    follow("exit", leaves, EXIT, PTRACE_CONT);
    follow("exit and its call", leaves, EXIT | SYSGOOD, PTRACE_SYSCALL);
    follow("filters", filters, SECCOMP, PTRACE_CONT);
    follow("filters, not told", filters, 0, PTRACE_CONT);
    follow("filters and calls", filters, SECCOMP | SYSGOOD, PTRACE_SYSCALL);
    follow("fork and its calls", forks, FORK | SYSGOOD, PTRACE_SYSCALL);
    return 0;
}
