// covers: getpriority setpriority sched_setscheduler sched_getscheduler fork ioprio_get ioprio_set sched_getattr
#include "child.h"
#include <sched.h>

/* Nice values and policies over fork(2), groups and users; what is clamped, and what is inherited. */
static void child_has(void)
{
    struct sched_param p = {-1};
    sched_getparam(0, &p),
        printf("child: nice %d policy %d reset %d priority %d io %lx\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0) & ~SCHED_RESET_ON_FORK,
            !!(sched_getscheduler(0) & SCHED_RESET_ON_FORK), p.sched_priority, S(ioprio_get, 1, 0));
}

int main(void)
{
    num(getpriority(PRIO_PROCESS, 0)), num(nice(0)), num(nice(3)), num(nice(2)), num(S(getpriority, PRIO_PROCESS, 0)),
        num(setpriority(PRIO_PROCESS, 0, 10)), num(setpriority(PRIO_PROCESS, 0, 100)), num(getpriority(PRIO_PROCESS, 0)), num(nice(50)),
        reap(child(child_has));
    T(getpriority, 3, 0), T(getpriority, -1, 0), T(setpriority, 3, 0, 0), T(getpriority, PRIO_PROCESS, 0x3ffffe),
        T(setpriority, PRIO_PROCESS, 0x3ffffe, 0), T(getpriority, PRIO_PGRP, 0x3ffffe), T(setpriority, PRIO_PGRP, 0x3ffffe, 19),
        T(getpriority, PRIO_USER, 0x7ffffff0);
    /* A group: the best of its members; set for all of them. */
    S(setpgid, 0, 0);
    int ready[2], go[2];
    char c;
    S(pipe2, ready, 0), S(pipe2, go, 0), fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        S(write, ready[1], "x", 1), S(read, go[0], &c, 1), printf("child: %d\n", getpriority(PRIO_PROCESS, 0)), fflush(stdout), _exit(0);
    }
    S(read, ready[0], &c, 1), num(getpriority(PRIO_PGRP, 0)), num(getpriority(PRIO_PROCESS, pid)), num(setpriority(PRIO_PGRP, getpgrp(), 19)),
        S(write, go[1], "x", 1), reap(pid), num(getpriority(PRIO_PGRP, 0));
    /* Policies that anybody may have. */
    struct sched_param zero = {0}, one = {1};
    const int policies[] = {SCHED_BATCH, SCHED_IDLE, SCHED_BATCH | SCHED_RESET_ON_FORK, SCHED_OTHER};
    for (int i = 0; i < 4; i++)
        num(sched_setscheduler(0, policies[i], &zero)), num(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK), reap(child(child_has));
    is(sched_setscheduler(0, SCHED_OTHER, &one) == -1 && errno == EINVAL), is(sched_setscheduler(0, 77, &zero) == -1 && errno == EINVAL),
        is(sched_setscheduler(0, SCHED_FIFO, &zero) == -1 && errno == EINVAL), is(sched_setparam(0, &one) == -1 && errno == EINVAL),
        num(sched_setparam(0, &zero)), num(sched_get_priority_max(SCHED_FIFO)), num(sched_get_priority_min(SCHED_RR)),
        num(sched_get_priority_max(SCHED_OTHER)), num(sched_get_priority_max(SCHED_BATCH)), is(sched_get_priority_max(77) == -1 && errno == EINVAL);
    printf("%lx\n", S(ioprio_get, 1, 0)), T(ioprio_set, 1, 0, 2 << 13 | 7), printf("%lx\n", S(ioprio_get, 1, 0)), reap(child(child_has)),
        T(ioprio_set, 1, 0, 3 << 13), T(ioprio_set, 1, 0, 4 << 13), T(ioprio_set, 9, 0, 0), T(ioprio_get, 9, 0), T(ioprio_get, 1, 0x3ffffe),
        T(ioprio_set, 1, 0x3ffffe, 0), T(ioprio_set, 1, 0, 0);
    return 0;
}
