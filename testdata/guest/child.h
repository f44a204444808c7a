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

/* Waits until a child sleeps. */
static inline void asleep(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            return;
        fclose(file);
        if (state != 'S')
            usleep(500);
    }
}

/* Waits for a child: its status, or the signal that has ended it, negative. */
static inline int reap(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
#endif
