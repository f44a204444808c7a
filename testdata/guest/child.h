/* Children that do one thing and end. */
#ifndef CHILD_H
#define CHILD_H
#include "guest.h"
#include <sys/wait.h>

/* Starts a child that ends with status 0 unless `work` ends it otherwise. */
static inline pid_t child(void (*work)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        work();
        fflush(stdout);
        _exit(0);
    }
    return pid;
}

/* Waits for a child: its status, or the signal that has ended it, negative. */
static inline int reap(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
#endif
