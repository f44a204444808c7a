// covers: execve clone clone3 exit exit_group gettid tgkill
// flags: -pthread
#include "guest.h"
#include <pthread.h>
#include <sys/wait.h>

static int how;

static void *sleeper(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void *actor(void *arg)
{
    char *name = arg;
    usleep(10000);
    switch (how) {
    case 0:
        execl(name, "thread_exec", "again", (char *)NULL);
        _exit(99);
    case 1:
        exit(31);
    case 2:
        raise(SIGKILL);
        break;
    case 3:
        S(exit, 32);
        break;
    case 4:
        __builtin_trap();
    }
    return NULL;
}

static void run(int what, char *name)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        pthread_t thread;
        how = what;
        pthread_create(&thread, NULL, sleeper, NULL);
        pthread_create(&thread, NULL, actor, name);
        if (what == 5)
            S(exit, 33);
        if (what == 3) {
            pthread_join(thread, NULL);
            _exit(34);
        }
        if (what == 6) {
            usleep(1000);
            execl(name, "thread_exec", "again", (char *)NULL);
        }
        pause();
        _exit(98);
    }
    if (what == 5) {
        usleep(50000);
        printf("leader has ended, the others go on: %d\n", waitpid(pid, &status, WNOHANG));
        kill(pid, SIGTERM);
    }
    int own = waitpid(pid, &status, 0) == pid;
    printf("%d: waited %d, status %#x\n", what, own, status);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        /* Whoever called exec is the only thread now, and has the process's number. */
        char path[64];
        sprintf(path, "/proc/self/task/%d", getpid());
        return S(gettid) == getpid() && access(path, F_OK) == 0 ? 21 : 22;
    }
    for (int what = 0; what < 7; what++)
        run(what, "/proc/self/exe");
    (void)argv;
    return 0;
}
