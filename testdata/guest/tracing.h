/* Tracers and their tracees, ptrace(2). */
#ifndef TRACING_H
#define TRACING_H
#include "child.h"
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

/* ptrace(2) itself: a peeked word is at the fourth argument. */
#define P(request, pid, addr, data) ((void)(errno = 0), S(ptrace, PTRACE_##request, pid, addr, data))
#define SAY(request, pid, addr, data) show("PTRACE_" #request, P(request, pid, addr, data))

/* Starts a child that lets its parent trace it, stops, and does its work. */
static inline pid_t tracee(void (*work)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        S(ptrace, PTRACE_TRACEME, 0, 0, 0);
        S(kill, S(getpid), SIGSTOP);
        work();
        fflush(stdout);
        _exit(0);
    }
    return pid;
}

/* Words for a status of wait(2). */
static inline void say_status(const char *what, int status)
{
    if (WIFEXITED(status))
        printf("%s: exited %d\n", what, WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        printf("%s: killed by %d\n", what, WTERMSIG(status));
    else if (WIFCONTINUED(status))
        printf("%s: continued\n", what);
    else
        printf("%s: stopped by %d, event %d\n", what, WSTOPSIG(status), status >> 16);
    fflush(stdout);
}

/* Waits for a task, whatever it is, and says how it is. */
static inline int await(const char *what, pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, __WALL) != pid) {
        show(what, -errno);
        return -1;
    }
    say_status(what, status);
    return status;
}

/* Lets a tracee go to its next stop. */
#define NEXT(request, pid, signo) (P(request, pid, 0, signo), await(#request, pid))

static inline struct user_regs_struct registers(pid_t pid)
{
    struct user_regs_struct regs = {0};
    P(GETREGS, pid, 0, &regs);
    return regs;
}

/* The letter of /proc/PID/stat, and TracerPid. */
static inline char state_of(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file)
        fclose(file);
    return state;
}
static inline int tracer_of(pid_t pid)
{
    char path[64], line[128];
    int tracer = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "TracerPid: %d", &tracer);
    if (file)
        fclose(file);
    return tracer;
}
/* Waits until a task is in a state. */
static inline void until(pid_t pid, char state)
{
    for (int i = 0; i < 10000 && state_of(pid) != state; i++)
        usleep(500);
}
#endif
