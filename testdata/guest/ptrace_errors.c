// covers: ptrace
// flags: -pthread
// What ptrace(2) refuses - every request without a tracee, of one that runs, of one that has ended, and with bad
// arguments; who may not be traced.
#include "tracing.h"
#include <pthread.h>
#include <sys/prctl.h>

static volatile int *shared;

static void sleeps(void)
{
    for (;;)
        pause();
}
static void *itself(void *arg)
{
    shared[1] = S(gettid);
    while (!shared[0])
        usleep(500);
    return arg;
}

/* Every request that there is, but for those that begin tracing, and some that there are not. */
static void all(const char *what, pid_t pid, long addr, long data)
{
    printf("-- %s\n", what);
    static const int requests[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 27, 28,
                                   29, 30, 31, 32, 33, 34, 63, 100, 0x41ff, 0x4200, 0x4201, 0x4202, 0x4203, 0x4204, 0x4205,
                                   0x4208, 0x4209, 0x420a, 0x420b, 0x420e, 0x4300, -1};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        long r = S(ptrace, (long)requests[i], pid, addr, data);
        printf("%x: %s\n", requests[i], r < 0 ? strerrorname_np(-r) : "done");
    }
}

int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t me = getpid();
    all("nobody", 0, 0, 0);
    SAY(ATTACH, me, 0, 0);
    SAY(SEIZE, me, 0, 0);
    SAY(SEIZE, me, 1, 0);
    SAY(ATTACH, 0, 0, 0);
    SAY(ATTACH, -1, 0, 0);
    SAY(ATTACH, 0x7ffffffe, 0, 0);
    SAY(SEIZE, 0x7ffffffe, 1, 0);
    SAY(PEEKDATA, me, 0, 0);
    SAY(KILL, me, 0, 0);
    SAY(INTERRUPT, me, 0, 0);
    show("the high half", S(ptrace, 0x100000000 | PTRACE_ATTACH, me, 0, 0));
    pthread_t t;
    pthread_create(&t, NULL, itself, NULL);
    while (!shared[1])
        usleep(500);
    SAY(ATTACH, shared[1], 0, 0);
    SAY(SEIZE, shared[1], 0, 0);
    shared[0] = 1;
    pthread_join(t, NULL);
    /* Whoever joins may be sooner than the kernel is done with the thread. */
    while (S(tgkill, me, shared[1], 0) == 0)
        usleep(200);
    SAY(ATTACH, shared[1], 0, 0);

    pid_t pid = child(sleeps);
    until(pid, 'S');
    all("a child that is not traced", pid, 0, 0);
    SAY(KILL, pid, 0, 0);
    SAY(SEIZE, pid, 0, 0);
    all("one that runs", pid, 0, 0);
    SAY(INTERRUPT, pid, 0, 0);
    await("it was interrupted", pid);
    all("one that is stopped, with bad addresses", pid, 16, -1); /* it listens now */
    SAY(INTERRUPT, pid, 0, 0);
    await("it was interrupted", pid);
    fflush(stdout);
    if (fork() == 0) {
        all("another one's tracee", pid, 0, 0);
        SAY(ATTACH, pid, 0, 0);
        SAY(SEIZE, pid, 0, 0);
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    SAY(KILL, pid, 0, 0);
    until(pid, 'Z');
    all("one that has ended", pid, 0, 0);
    SAY(ATTACH, pid, 0, 0);
    waitpid(pid, &status, 0);
    all("one that is gone", pid, 0, 0);

    pid = child(sleeps);
    until(pid, 'S');
    kill(pid, SIGKILL);
    until(pid, 'Z');
    SAY(ATTACH, pid, 0, 0);
    SAY(SEIZE, pid, 0, 0);
    waitpid(pid, &status, 0);

    /* Twice, by others too. */
    fflush(stdout);
    if (fork() == 0) {
        SAY(TRACEME, 99, 99, 99);
        SAY(TRACEME, 0, 0, 0);
        printf("tracer %d\n", tracer_of(getpid()) == getppid());
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    say_status("traced by its parent", status);

    /* Who may not be looked into. */
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_DUMPABLE, 0);
        shared[2] = 1;
        sleeps();
    }
    while (!shared[2])
        usleep(500);
    fflush(stdout);
    if (fork() == 0) {
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(1);
        SAY(ATTACH, pid, 0, 0);
        SAY(SEIZE, pid, 0, 0);
        SAY(SEIZE, pid, 0, 0x1000000);
        /* And who may not be told of what it does. */
        SAY(TRACEME, 0, 0, 0);
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    kill(pid, SIGKILL);
    wait(&status);
    return 0;
}
