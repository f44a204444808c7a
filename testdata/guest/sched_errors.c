// covers: sched_getaffinity sched_setaffinity sched_getscheduler sched_setscheduler sched_getparam sched_setparam sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_yield getcpu sched_getattr sched_setattr ioprio_get ioprio_set getpriority setpriority membarrier
/* Scheduling, priorities and barriers, with every error. */
#include "cases.h"

static void policies(void)
{
    unsigned long m[16] = {0};
    struct sched_param p = {0};
    struct timespec ts;
    unsigned c, n;
    T(sched_getaffinity, 0, 4, m), T(sched_getaffinity, 0, 0, m), T(sched_getaffinity, 999999, 128, m);
    T(sched_getaffinity, 0, 128, BAD), T(sched_setaffinity, 0, 8, m), T(sched_setaffinity, 0, 0, m);
    T(sched_setaffinity, 0, 8, BAD);
    m[0] = 1;
    T(sched_setaffinity, 999999, 8, m), T(sched_setaffinity, -1, 8, m), T(sched_getscheduler, -1);
    T(sched_getscheduler, 999999), T(sched_setscheduler, 0, 1, &p), T(sched_setscheduler, 0, 77, &p);
    T(sched_setscheduler, 0, -1, &p), T(sched_setscheduler, 0, 0, NULL), T(sched_setscheduler, 0, 0, BAD);
    T(sched_setscheduler, -1, 0, &p);
    p.sched_priority = 1;
    T(sched_setscheduler, 0, 0, &p), T(sched_setparam, 0, &p), T(sched_setparam, 0, NULL);
    T(sched_getparam, 0, &p), T(sched_getparam, 0, NULL), T(sched_getparam, -1, &p), T(sched_get_priority_max, 1);
    T(sched_get_priority_max, 0), T(sched_get_priority_max, 6), T(sched_get_priority_min, 9);
    T(sched_get_priority_min, 2), T(sched_rr_get_interval, -1, &ts), T(sched_rr_get_interval, 999999, &ts);
    T(sched_rr_get_interval, 0, BAD), T(sched_yield), T(getcpu, NULL, NULL, 0), T(getcpu, BAD, &n, 0);
    T(getcpu, &c, BAD, 0);
}
static void attributes(void)
{
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t prio; uint64_t rt, dl, per;
           uint32_t umin, umax; } s = {48}, a = {48};
    T(sched_getattr, 0, &a, 47, 0), T(sched_getattr, 0, &a, 5000, 0), T(sched_getattr, 0, &a, 48, 1);
    T(sched_getattr, -1, &a, 48, 0), T(sched_getattr, 999999, &a, 48, 0), T(sched_getattr, 0, NULL, 48, 0);
    T(sched_getattr, 0, BAD, 48, 0);
    s.policy = 99;
    T(sched_setattr, 0, &s, 0);
    s.policy = 6;
    T(sched_setattr, 0, &s, 0), T(sched_setscheduler, 0, 6, &s.rt);
    s.rt = 10000000, s.dl = 5000000, s.per = 20000000, T(sched_setattr, 0, &s, 0);
    s.dl = 30000000, T(sched_setattr, 0, &s, 0), s.per = 0, s.rt = 100, T(sched_setattr, 0, &s, 0);
    s.rt = 1UL << 63, s.dl = -1, T(sched_setattr, 0, &s, 0), s.rt = 2000, s.dl = 50000, T(sched_setattr, 0, &s, 0);
    s.dl = 5000000000, T(sched_setattr, 0, &s, 0), s.rt = s.dl = 0;
    s.policy = 1;
    T(sched_setattr, 0, &s, 0);
    s.prio = 100;
    T(sched_setattr, 0, &s, 0);
    s.policy = 0;
    s.prio = 1;
    T(sched_setattr, 0, &s, 0);
    s.prio = 0;
    s.flags = 0x100;
    T(sched_setattr, 0, &s, 0);
    s.flags = 0;
    T(sched_setattr, 0, &s, 1);
    s.size = 10;
    T(sched_setattr, 0, &s, 0), num(s.size >= 48);
    s.size = 4097;
    T(sched_setattr, 0, &s, 0), num(s.size >= 48), T(sched_setattr, 0, NULL, 0), T(sched_setattr, 0, BAD, 0);
    s.size = 48;
    T(sched_setattr, -1, &s, 0), T(sched_setattr, 999999, &s, 0);
}
static void priorities(void)
{
    T(ioprio_set, 1, 0, 2 << 13 | 4), T(ioprio_get, 1, 0), T(ioprio_set, 1, 0, 3 << 13 | 7), T(ioprio_set, 1, 0,
        4 << 13);
    T(ioprio_set, 4, 0, 0), T(ioprio_get, 0, 0), T(ioprio_get, 4, 0), T(ioprio_get, 1, 999999);
    T(ioprio_set, 1, 999999, 0), T(ioprio_get, 2, 999999), T(ioprio_get, 3, 999999), T(ioprio_set, 2, 999999, 0);
    T(setpriority, 0, 0, 19), T(getpriority, 0, 0), T(setpriority, 0, 0, 99), T(getpriority, 0, 0);
    T(setpriority, 3, 0, 0), T(getpriority, 3, 0), T(getpriority, 0, 999999), T(setpriority, 0, 999999, 0);
    T(getpriority, 2, 999999), S(setresuid, 1000, 1000, 1000), T(setpriority, 0, 0, -20), T(setpriority, 0, 0, 18);
    T(setpriority, 0, 0, 19);
}
static void barriers(void)
{
    is(S(membarrier, 0, 0, 0) > 0), T(membarrier, 1, 0, 0), T(membarrier, 3, 0, 0), T(membarrier, -1, 0, 0);
    T(membarrier, 0, 1, 0), T(membarrier, 8, 0, 0), T(membarrier, 16, 0, 0), T(membarrier, 8, 0, 0);
    T(membarrier, 8, 1, 0), T(membarrier, 32, 0, 0), T(membarrier, 64, 0, 0), T(membarrier, 32, 0, 0);
    T(membarrier, 4, 0, 0), T(membarrier, 2, 0, 0);
}

int main(void)
{
    unfiltered();
    CASE(policies);
    CASE(attributes);
    CASE(priorities);
    CASE(barriers);
    return 0;
}
