// covers: sched_setscheduler sched_getscheduler sched_setparam sched_getparam sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_setaffinity sched_getaffinity sched_setattr sched_getattr getpriority setpriority ioprio_set ioprio_get getcpu sched_yield
#include "guest.h"
#include <sched.h>

struct attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t util_min, util_max;
};

int main(void)
{
    struct sched_param zero = {0}, one = {1}, high = {100}, minus = {-1};
    int policies[] = {0, 1, 2, 3, 4, 5, 6, 8, 99, -1};
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        int policy = policies[i];
        char what[64];
        sprintf(what, "policy %x", policy);
        show(what, S(sched_get_priority_max, policy));
        show(what, S(sched_get_priority_min, policy));
        /* Which policy may be had depends on who asks; what is wrong does not. */
        show(what, S(sched_setscheduler, 0, policy, &minus));
        show(what, S(sched_setscheduler, 0, policy, &high));
        if (policy == SCHED_FIFO || policy == SCHED_RR) {
            show(what, S(sched_setscheduler, 0, policy, &zero));
            continue;
        }
        if (policy == SCHED_DEADLINE || policy == 7)
            continue;
        show(what, S(sched_setscheduler, 0, policy, &one));
        if (policy == SCHED_IDLE)
            continue; /* An idle task may not become another again without privilege on old kernels. */
        show(what, S(sched_setscheduler, 0, policy, &zero));
        show("is", S(sched_getscheduler, 0));
    }
    T(sched_setscheduler, 0, 0, &zero);
    T(sched_getscheduler, 0);
    T(sched_setscheduler, 0, 0, 0);
    T(sched_setscheduler, 0, 0, BAD);
    T(sched_setscheduler, 0, 99, BAD);
    T(sched_setscheduler, -1, 0, &zero);
    T(sched_setscheduler, -1, 99, &zero);
    T(sched_setscheduler, 0x7fffffff, 0, &zero);
    T(sched_setscheduler, 0x7fffffff, 99, &zero);
    T(sched_getscheduler, -1);
    T(sched_getscheduler, 0x7fffffff);
    T(sched_setparam, 0, &zero);
    T(sched_setparam, 0, &one);
    T(sched_setparam, 0, 0);
    T(sched_setparam, 0, BAD);
    T(sched_setparam, -1, &zero);
    T(sched_setparam, 0x7fffffff, &zero);
    T(sched_getparam, 0, &one);
    num(one.sched_priority);
    T(sched_getparam, 0, 0);
    T(sched_getparam, 0, BAD);
    T(sched_getparam, -1, &one);
    T(sched_getparam, 0x7fffffff, &one);
    struct timespec t;
    OK(sched_rr_get_interval, 0, &t);
    T(sched_rr_get_interval, 0, BAD);
    T(sched_rr_get_interval, -1, &t);
    T(sched_rr_get_interval, 0x7fffffff, &t);

    struct attr a = {0};
    T(sched_getattr, 0, &a, sizeof a, 0);
    /* Whoever starts this may have lowered the priority, which an ordinary user cannot raise again. */
    int own = 20 - (int)S(getpriority, PRIO_PROCESS, 0), higher = own < 14 ? own + 5 : 19;
    printf("%u %u %lu %d %u %lu\n", a.size >= 48, a.policy, (unsigned long)a.flags, a.nice == own, a.priority,
           (unsigned long)a.deadline);
    T(sched_getattr, 0, &a, 48, 0);
    num(a.size);
    T(sched_getattr, 0, &a, 47, 0);
    T(sched_getattr, 0, &a, 4097, 0);
    T(sched_getattr, 0, &a, 0, 0);
    T(sched_getattr, 0, &a, 48, 1);
    T(sched_getattr, 0, 0, 48, 0);
    T(sched_getattr, 0, BAD, 48, 0);
    T(sched_getattr, -1, &a, 48, 0);
    T(sched_getattr, 0x7fffffff, &a, 48, 0);
    a = (struct attr){.size = 48};
    T(sched_setattr, 0, &a, 0);
    T(sched_setattr, 0, &a, 1);
    T(sched_setattr, 0, 0, 0);
    T(sched_setattr, 0, BAD, 0);
    T(sched_setattr, -1, &a, 0);
    T(sched_setattr, 0x7fffffff, &a, 0);
    a.nice = higher;
    T(sched_setattr, 0, &a, 0);
    is(S(getpriority, PRIO_PROCESS, 0) == 20 - higher);
    a = (struct attr){0};
    T(sched_getattr, 0, &a, 48, 0);
    is(a.nice == higher);
    a = (struct attr){.size = 48, .nice = 100};
    T(sched_setattr, 0, &a, 0);
    T(getpriority, PRIO_PROCESS, 0);
    a = (struct attr){.size = 48, .policy = SCHED_BATCH, .nice = 19};
    T(sched_setattr, 0, &a, 0);
    T(sched_getscheduler, 0);
    a = (struct attr){.size = 48, .flags = 1 << 20};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 48, .flags = 8 | 16, .policy = 99};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 48, .policy = 99};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 48, .policy = -1};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 48, .priority = 1, .nice = 19};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 40, .nice = 19};
    T(sched_setattr, 0, &a, 0);
    num(a.size >= 48);
    a = (struct attr){.size = 4097, .nice = 19};
    T(sched_setattr, 0, &a, 0);
    a = (struct attr){.size = 0, .nice = 19};
    T(sched_setattr, 0, &a, 0);
    struct {
        struct attr a;
        char more[64];
    } big = {.a = {.size = sizeof big, .nice = 19}};
    T(sched_setattr, 0, &big, 0);
    big.more[60] = 1;
    big.a.size = sizeof big;
    T(sched_setattr, 0, &big, 0);

    unsigned long mask[16] = {0};
    T(sched_getaffinity, 0, 0, mask);
    T(sched_getaffinity, 0, 7, mask);
    T(sched_getaffinity, 0, 12, mask);
    T(sched_getaffinity, 0, 128, BAD);
    T(sched_getaffinity, -1, 128, mask);
    T(sched_getaffinity, 0x7fffffff, 128, mask);
    OK(sched_getaffinity, 0, 128, mask);
    is(mask[0] & 1);
    T(sched_setaffinity, 0, 128, mask);
    T(sched_setaffinity, 0, 8, mask);
    T(sched_setaffinity, 0, 1, mask);
    T(sched_setaffinity, 0, 128, BAD);
    T(sched_setaffinity, -1, 128, mask);
    T(sched_setaffinity, 0x7fffffff, 128, mask);
    memset(mask, 0, sizeof mask);
    T(sched_setaffinity, 0, 128, mask);
    T(sched_setaffinity, 0, 0, mask);
    mask[15] = 1;
    T(sched_setaffinity, 0, 128, mask);
    memset(mask, -1, sizeof mask);
    T(sched_setaffinity, 0, 128, mask);

    T(getpriority, 3, 0);
    T(getpriority, -1, 0);
    T(getpriority, PRIO_PROCESS, 0x7fffffff);
    T(getpriority, PRIO_PROCESS, -1);
    T(getpriority, PRIO_PGRP, 0x7fffffff);
    T(getpriority, PRIO_USER, 0x7ffffffe);
    T(setpriority, PRIO_PROCESS, 0, 19);
    T(getpriority, PRIO_PROCESS, 0);
    T(setpriority, PRIO_PROCESS, 0, 100);
    T(getpriority, PRIO_PROCESS, 0);
    T(setpriority, 3, 0, 0);
    T(setpriority, PRIO_PROCESS, 0x7fffffff, 0);
    T(ioprio_get, 1, 0);
    T(ioprio_get, 0, 0);
    T(ioprio_get, 4, 0);
    T(ioprio_get, 1, 0x7fffffff);
    T(ioprio_set, 1, 0, 2 << 13 | 7);
    T(ioprio_get, 1, 0);
    T(ioprio_set, 1, 0, 2 << 13 | 4);
    T(ioprio_get, 1, 0);
    T(ioprio_set, 1, 0, 3 << 13);
    T(ioprio_get, 1, 0);
    T(ioprio_set, 1, 0, 3 << 13 | 5);
    T(ioprio_set, 1, 0, 0 << 13 | 5);
    T(ioprio_set, 1, 0, 4 << 13);
    T(ioprio_set, 1, 0, 7 << 13);
    T(ioprio_set, 0, 0, 0);
    T(ioprio_set, 4, 0, 0);
    T(ioprio_set, 1, 0x7fffffff, 0);
    T(ioprio_set, 1, 0, 0);
    unsigned cpu = 99, node = 99;
    T(getcpu, &cpu, &node, BAD);
    is(cpu < 99 && node < 99);
    T(getcpu, 0, 0, 0);
    T(getcpu, BAD, 0, 0);
    T(getcpu, 0, BAD, 0);
    T(sched_yield);
}
