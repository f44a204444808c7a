// covers: seccomp prctl
// flags: -pthread
/* SECCOMP_RET_KILL_THREAD: of several threads one ends, and with the last one the process. */
#include "guest.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static volatile int passed, after;
static int word;

/* Has getppid(2) end the calling thread. */
static void forbid(int flags)
{
    struct sock_filter insns[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, insns};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    show("seccomp", S(seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

static void *killed(void *own)
{
    if (own)
        forbid(0);
    __atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
    S(getppid);
    after++;
    return NULL;
}

static void *waits(void *arg)
{
    S(futex, &word, 0, 0, NULL);
    return arg;
}

static void *leaves(void *arg)
{
    pthread_t first = *(pthread_t *)arg;
    pthread_join(first, NULL);
    printf("the first thread is gone\n");
    fflush(stdout);
    S(exit_group, 7);
    return NULL;
}

static void status(const char *what, int child)
{
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s: signal %d\n", what, WTERMSIG(status));
    else
        printf("%s: status %d\n", what, WEXITSTATUS(status));
    fflush(stdout);
}

int main(void)
{
    pthread_t threads[4];
    fflush(stdout);

    int child = fork();
    if (child == 0) {
        /* Its own filter: the others may call. */
        pthread_create(&threads[0], NULL, killed, "own");
        pthread_join(threads[0], NULL);
        printf("passed %d, after %d, parent %d\n", passed, after, S(getppid) > 0);
        fflush(stdout);
        S(exit_group, 3);
    }
    status("one thread killed", child);

    child = fork();
    if (child == 0) {
        /* A filter for all: several are killed, others sleep on. */
        forbid(SECCOMP_FILTER_FLAG_TSYNC);
        pthread_create(&threads[3], NULL, waits, NULL);
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, killed, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        printf("passed %d, after %d\n", passed, after);
        fflush(stdout);
        word = 1;
        S(futex, &word, 1, 1);
        pthread_join(threads[3], NULL);
        S(getppid);
        S(exit_group, 4);
    }
    status("the last one killed", child);

    child = fork();
    if (child == 0) {
        /* The first thread is killed, and the process goes on. */
        pthread_t self = pthread_self();
        forbid(SECCOMP_FILTER_FLAG_TSYNC);
        pthread_create(&threads[0], NULL, leaves, &self);
        S(getppid);
        S(exit_group, 5);
    }
    status("the first one killed", child);
    return 0;
}
