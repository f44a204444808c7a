// covers: ptrace
// flags: -pthread
// Attaching to processes and threads, with PTRACE_ATTACH and PTRACE_SEIZE - interrupting them, group stops and
// PTRACE_LISTEN, letting them go, and the end of a tracer.
#include "tracing.h"
#include <poll.h>
#include <pthread.h>

static int ends[2];
static volatile int *shared;

static void sleeps(void)
{
    for (;;)
        pause();
}
static void spins(void)
{
    while (!shared[0])
        ;
}
static pid_t plain(void (*work)(void))
{
    return child(work);
}

static void say_info(pid_t pid)
{
    siginfo_t si = {0};
    long r = P(GETSIGINFO, pid, 0, &si);
    printf("  info %ld: signal %d code %x own %d\n", r, si.si_signo, si.si_code, si.si_pid == pid);
}

static void *thread(void *arg)
{
    shared[1] = S(gettid);
    char c;
    if (read(ends[0], &c, 1) != 1)
        printf("read failed\n");
    return arg;
}
static void has_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
}
static void reads(void)
{
    char c = '-';
    long r = S(read, ends[0], &c, 1);
    printf("read %ld %c\n", r, c);
}

static void on_chld(int s, siginfo_t *i, void *c)
{
    shared[8 + (shared[7]++ & 7)] = i->si_code * 100 + i->si_status;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    if (pipe(ends))
        return 1;

    /* PTRACE_ATTACH to one that sleeps, and its call goes on. */
    pid_t pid = plain(reads);
    until(pid, 'S');
    printf("tracer %d\n", tracer_of(pid));
    SAY(ATTACH, pid, 0, 0);
    await("attached", pid);
    printf("tracer %d, state %c\n", tracer_of(pid) == getpid(), state_of(pid));
    say_info(pid);
    SAY(ATTACH, pid, 0, 0);
    SAY(SEIZE, pid, 0, 0);
    SAY(INTERRUPT, pid, 0, 0);
    SAY(LISTEN, pid, 0, 0);
    struct user_regs_struct regs = registers(pid);
    printf("orig_rax %lld rax %lld\n", (long long)regs.orig_rax, (long long)regs.rax);
    SAY(DETACH, pid, 0, 65);
    SAY(DETACH, pid, 0, 0);
    SAY(DETACH, pid, 0, 0);
    if (write(ends[1], "x", 1) != 1)
        return 1;
    await("read", pid);

    /* One that runs. */
    pid = plain(spins);
    SAY(ATTACH, pid, 0, 0);
    await("spins", pid);
    SAY(DETACH, pid, 0, SIGTERM);
    await("spins", pid);

    /* One that is stopped. */
    pid = plain(sleeps);
    until(pid, 'S');
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    say_status("stopped", status);
    SAY(ATTACH, pid, 0, 0);
    await("attached", pid);
    say_info(pid);
    printf("%c\n", state_of(pid));
    NEXT(CONT, pid, 0);
    P(DETACH, pid, 0, 0);
    until(pid, 'T');
    printf("%c\n", state_of(pid));
    kill(pid, SIGCONT);
    until(pid, 'S');
    kill(pid, SIGKILL);
    await("killed", pid);

    /* PTRACE_SEIZE stops nothing; PTRACE_INTERRUPT does. */
    pid = plain(sleeps);
    until(pid, 'S');
    SAY(SEIZE, pid, 1, 0);
    SAY(SEIZE, pid, 0, 1L << 40);
    SAY(SEIZE, pid, 0, 0x100);
    SAY(SEIZE, pid, 0, 1);
    printf("%d %c\n", waitpid(pid, &status, WNOHANG), state_of(pid));
    SAY(CONT, pid, 0, 0);
    SAY(PEEKUSER, pid, 0, &regs);
    SAY(INTERRUPT, pid, 0, 0);
    await("interrupted", pid);
    say_info(pid);
    NEXT(SYSCALL, pid, 0); /* pause begins again */
    P(SYSCALL, pid, 0, 0);
    /* Stops of its group. */
    kill(pid, SIGSTOP);
    await("end of the call", pid);
    NEXT(CONT, pid, 0);
    NEXT(CONT, pid, SIGSTOP);
    say_info(pid);
    SAY(LISTEN, pid, 0, 0);
    SAY(CONT, pid, 0, 0);
    SAY(PEEKUSER, pid, 0, &regs);
    printf("%d %c\n", waitpid(pid, &status, WNOHANG), state_of(pid));
    kill(pid, SIGCONT);
    await("listens", pid);
    say_info(pid);
    NEXT(CONT, pid, 0);
    say_info(pid);
    P(CONT, pid, 0, SIGCONT);
    P(INTERRUPT, pid, 0, 0);
    await("interrupted", pid);
    SAY(LISTEN, pid, 0, 0);
    SAY(INTERRUPT, pid, 0, 0);
    await("again", pid);
    SAY(SETOPTIONS, pid, 0, 0x100);
    SAY(DETACH, pid, 0, 0);
    until(pid, 'S');
    kill(pid, SIGKILL);
    await("killed", pid);

    /* A thread alone, by its own number. */
    shared[1] = 0;
    pid = plain(has_thread);
    while (!shared[1])
        usleep(500);
    pid_t tid = shared[1];
    until(tid, 'S');
    SAY(SEIZE, tid, 0, 1);
    SAY(INTERRUPT, tid, 0, 0);
    await("thread", tid);
    printf("process %c %d, thread %c %d\n", state_of(pid), tracer_of(pid), state_of(tid), tracer_of(tid) == getpid());
    NEXT(SYSCALL, tid, 0);
    P(SYSCALL, tid, 0, 0);
    if (write(ends[1], "x", 1) != 1)
        return 1;
    await("read ends", tid);
    P(CONT, tid, 0, 0);
    await("thread", tid);
    await("process", pid);

    /* Both, stopped with each other. */
    shared[1] = 0;
    pid = plain(has_thread);
    while (!shared[1])
        usleep(500);
    tid = shared[1];
    until(tid, 'S');
    SAY(SEIZE, pid, 0, 0);
    SAY(SEIZE, tid, 0, 0);
    kill(pid, SIGTSTP);
    await("signal", pid);
    P(CONT, pid, 0, SIGTSTP);
    await("group", pid);
    await("group", tid);
    say_info(tid);
    P(LISTEN, pid, 0, 0);
    P(LISTEN, tid, 0, 0);
    kill(pid, SIGCONT);
    await("continued", pid);
    await("continued", tid);
    P(CONT, pid, 0, 0);
    await("SIGCONT", pid);
    P(CONT, pid, 0, SIGCONT);
    P(CONT, tid, 0, 0);
    kill(pid, SIGKILL);
    await("thread", tid);
    await("process", pid);

    /* What a tracer is told with SIGCHLD. */
    struct sigaction sa = {.sa_sigaction = on_chld, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGCHLD, &sa, NULL);
    pid = plain(sleeps);
    until(pid, 'S');
    shared[7] = 0;
    P(ATTACH, pid, 0, 0);
    await("attached", pid);
    printf("%d: %d\n", shared[7], shared[8]);
    sa.sa_flags |= SA_NOCLDSTOP;
    sigaction(SIGCHLD, &sa, NULL);
    kill(pid, SIGUSR1);
    NEXT(CONT, pid, 0);
    printf("%d\n", shared[7]);
    P(CONT, pid, 0, SIGUSR1);
    await("end", pid);
    printf("%d: %d\n", shared[7], shared[9]);
    signal(SIGCHLD, SIG_DFL);

    /* The tracer is another process: the parent is told of the end after it. */
    shared[2] = shared[3] = 0;
    pid = plain(sleeps);
    until(pid, 'S');
    fflush(stdout);
    pid_t tracer = fork();
    if (tracer == 0) {
        SAY(ATTACH, pid, 0, 0);
        await("attached", pid);
        fflush(stdout);
        shared[2] = 1;
        while (!shared[3])
            usleep(500);
        SAY(CONT, pid, 0, SIGKILL);
        siginfo_t si = {0};
        waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
        shared[2] = 2;
        while (shared[3] != 2)
            usleep(500);
        await("end", pid);
        fflush(stdout);
        shared[2] = 3;
        _exit(0);
    }
    while (!shared[2])
        usleep(500);
    printf("tracer %d, state %c, parent waits %d\n", tracer_of(pid) == tracer, state_of(pid), waitpid(pid, &status, WNOHANG));
    printf("as a stop %d\n", waitpid(pid, &status, WNOHANG | WUNTRACED));
    SAY(ATTACH, pid, 0, 0);
    SAY(PEEKUSER, pid, 0, &regs);
    fflush(stdout);
    shared[3] = 1;
    while (shared[2] != 2)
        usleep(500);
    printf("parent waits %d, state %c\n", waitpid(pid, &status, WNOHANG), state_of(pid));
    fflush(stdout);
    shared[3] = 2;
    while (shared[2] != 3)
        usleep(500);
    await("after the tracer", pid);
    await("tracer", tracer);

    /* A tracer that ends lets its tracee go on, or with PTRACE_O_EXITKILL has it killed. */
    for (int kills = 0; kills < 2; kills++) {
        pid = plain(sleeps);
        until(pid, 'S');
        fflush(stdout);
        tracer = fork();
        if (tracer == 0) {
            P(SEIZE, pid, 0, kills ? 0x100000 : 0);
            P(INTERRUPT, pid, 0, 0);
            await("interrupted", pid);
            fflush(stdout);
            _exit(0);
        }
        await("tracer", tracer);
        if (!kills) {
            until(pid, 'S');
            printf("tracer %d\n", tracer_of(pid));
            kill(pid, SIGTERM);
        }
        await("tracee", pid);
    }
    return 0;
}
