// covers: ptrace
// flags: -pthread
// Ends that meet stops - of tracers whose tracees are stopped, of the thread that traces, of processes and threads
// with signals that wait.
#include "tracing.h"
#include <pthread.h>

static volatile int *shared;

static void sleeps(void)
{
    for (;;)
        pause();
}
static void works(void)
{
    signal(SIGUSR1, SIG_IGN);
    S(kill, S(getpid), SIGUSR1);
    shared[1] = S(getpriority, 0, 0);
    shared[2]++;
    S(exit, 6);
}

static void *traces(void *arg)
{
    pid_t pid = *(pid_t *)arg;
    P(SEIZE, pid, 0, 0);
    P(INTERRUPT, pid, 0, 0);
    await("interrupted", pid);
    printf("tracer %d\n", tracer_of(pid) == S(gettid));
    shared[3] = P(CONT, pid, 0, 0);
    P(INTERRUPT, pid, 0, 0);
    await("interrupted", pid);
    return NULL;
}
static void *leaves(void *arg)
{
    S(exit_group, 3);
    return arg;
}
static void thread_leaves(void)
{
    pthread_t t;
    pthread_create(&t, NULL, leaves, NULL);
    sleeps();
}
static void *executes(void *arg)
{
    execl("/bin/true", "true", NULL);
    return arg;
}
static void *waits(void *arg)
{
    shared[4]++;
    sleeps();
    return arg;
}
static void thread_executes(void)
{
    pthread_t t;
    pthread_create(&t, NULL, waits, NULL);
    while (!shared[4])
        usleep(500);
    pthread_create(&t, NULL, executes, NULL);
    sleeps();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    /* The tracer is killed while its tracee is in each kind of stop; that then goes on by itself. */
    for (int kind = 0; kind < 6; kind++) {
        shared[0] = shared[2] = 0;
        fflush(stdout);
        pid_t tracer = fork();
        if (tracer == 0) {
            pid_t pid = tracee(works);
            waitpid(pid, &status, 0);
            shared[5] = pid;
            P(SETOPTIONS, pid, 0, 1 | (kind == 4 ? 0x40 : 0) | (kind == 5 ? 0x100000 : 0));
            if (kind)
                P(SYSCALL, pid, 0, 0), waitpid(pid, &status, 0);
            if (kind == 2)
                P(SYSCALL, pid, 0, 0), waitpid(pid, &status, 0);
            if (kind == 3 || kind == 4)
                P(CONT, pid, 0, 0), waitpid(pid, &status, 0);
            if (kind == 4)
                P(CONT, pid, 0, 0), waitpid(pid, &status, 0);
            printf("%x\n", status);
            fflush(stdout);
            shared[0] = 1;
            sleeps();
        }
        while (!shared[0])
            usleep(500);
        pid_t pid = shared[5];
        printf("%c %d\n", state_of(pid), tracer_of(pid) == tracer);
        kill(tracer, SIGKILL);
        await("tracer", tracer);
        /* Nobody's child can only be looked at. */
        for (int i = 0; i < 4000 && kill(pid, 0) == 0 && state_of(pid) != 'Z'; i++)
            usleep(500);
        printf("it has worked: %d\n", shared[2]);
    }

    /* The thread that traces ends, but not its process. */
    pid_t pid = child(sleeps);
    until(pid, 'S');
    pthread_t t;
    pthread_create(&t, NULL, traces, &pid);
    pthread_join(t, NULL);
    until(pid, 'S');
    printf("let go: %d, tracer %d\n", shared[3], tracer_of(pid));
    P(SEIZE, pid, 0, 0);
    kill(pid, SIGKILL);
    await("end", pid);

    /* Only the thread that traces may say anything, but others may wait. */
    pid = child(sleeps);
    until(pid, 'S');
    P(SEIZE, pid, 0, 0);
    P(INTERRUPT, pid, 0, 0);
    printf("not by __WNOTHREAD's: %d\n", waitpid(pid, &status, __WALL) == pid);
    SAY(KILL, pid, 0, 0);
    await("end", pid);

    /* Threads with a tracer are waited for before their process. */
    shared[4] = 0;
    pid = tracee(thread_executes);
    await("threads", pid);
    P(SETOPTIONS, pid, 0, 8 | 16);
    P(CONT, pid, 0, 0);
    int threads = 0, ended = 0;
    for (int i = 0; i < 40; i++) {
        pid_t who = waitpid(-1, &status, __WALL);
        if (who == pid && status >> 16 == 4) {
            unsigned long message = 0;
            P(GETEVENTMSG, pid, 0, &message);
            printf("a thread has executed: %d, ended before: %d of %d\n", (pid_t)message != pid, ended, threads);
        } else if (who == pid && !WIFSTOPPED(status)) {
            break;
        }
        threads += status >> 16 == 3;
        ended += !WIFSTOPPED(status);
        P(CONT, who, 0, 0);
    }
    say_status("end", status);

    /* A thread ends a process for which nobody waits. */
    signal(SIGCHLD, SIG_IGN);
    pid = child(thread_leaves);
    show("wait", waitpid(pid, &status, 0) < 0 ? -errno : 0);
    signal(SIGCHLD, SIG_DFL);

    /* SIGKILL comes before a stop that waits. */
    pid = child(sleeps);
    until(pid, 'S');
    fflush(stdout);
    if (fork() == 0) {
        P(ATTACH, pid, 0, 0);
        kill(pid, SIGKILL);
        _exit(0);
    }
    await("end", pid);
    wait(&status);

    /* A signal ends who waits for the child of vfork(2), which is stopped. */
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (vfork() == 0) {
            shared[6] = S(getpid);
            S(kill, S(getppid), SIGTERM);
            S(kill, S(getpid), SIGSTOP);
            S(exit_group, 0);
        }
        _exit(1);
    }
    await("end", pid);
    kill(shared[6], SIGKILL);
    return 0;
}
