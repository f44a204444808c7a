/* Named cases, each a small program: it runs in a process of its own, in its own group, and its status is told. */
#ifndef CASES_H
#define CASES_H
#include "guest.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* A status of wait(2) in words. */
static inline void told(const char *what, int status)
{
    if (WIFEXITED(status))
        printf("%s: exited %d\n", what, WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        printf("%s: killed by %d%s\n", what, WTERMSIG(status), WCOREDUMP(status) ? ", core" : "");
    else if (WIFSTOPPED(status))
        printf("%s: stopped by %d\n", what, WSTOPSIG(status));
    else if (WIFCONTINUED(status))
        printf("%s: continued\n", what);
    else
        printf("%s: status %#x\n", what, status);
}

/* Waits for a child, and tells its status. */
static inline void reap(const char *what, pid_t pid, int options)
{
    int status = 0;
    pid_t got = waitpid(pid, &status, options);
    if (got < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else if (got != pid)
        printf("%s: another child\n", what);
    else
        told(what, status);
}

/* Lets another task run until it sleeps in a call, or is stopped or ended: S, T or Z. */
static inline void until(pid_t tid, char wanted)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", tid);
    for (int i = 0; i < 300 && state != wanted; i++) {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (file)
            fclose(file);
        if (state != wanted)
            usleep(500);
    }
}

static inline void run_case(const char *name, void (*run)(void))
{
    int status;
    printf("== %s\n", name);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setvbuf(stdout, NULL, _IOLBF, 0); /* what it says is there if it is killed */
        run();
        fflush(stdout);
        _exit(0);
    }
    setpgid(pid, pid);
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        S(exit_group, 77); /* as `lacks` in the case has said */
    if (status)
        told(name, status);
}
#define CASE(name) run_case(#name, name)

#endif
