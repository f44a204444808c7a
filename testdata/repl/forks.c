// A child that executes another program, one of vfork, one that a signal ends, and one that its
// parent waits for at a pipe.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int flag;
volatile char got;

__attribute__((noinline)) int helper(int n) {
    flag = n;
    return n + 1;
}

static void handler(int signal) { flag = -signal; }

static void *thread(void *arg) {
    helper(8);
    return arg;
}

int main(int argc, char **argv) {
    helper(1);
    pid_t child = fork();
    if (child == 0) {
        helper(2);
        execl(argv[1], "forked", NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    child = vfork();
    if (child == 0) {
        flag = 3;
        execl(argv[1], "forked", "x", NULL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    child = fork();
    if (child == 0) {
        helper(4);
        *(volatile int *)0 = 1;
    }
    waitpid(child, &status, 0);
    int ends[2];
    if (pipe(ends) != 0)
        return 2;
    child = fork();
    if (child == 0) {
        signal(SIGUSR1, handler);
        raise(SIGUSR1);
        return write(ends[1], "x", 1) != 1;
    }
    if (read(ends[0], (char *)&got, 1) != 1)
        return 3;
    waitpid(child, &status, 0);
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    helper(5);
    return 0;
}
