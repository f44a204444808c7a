// covers: sched_yield sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_setaffinity sched_getaffinity sched_setattr sched_getattr getpriority setpriority ioprio_set ioprio_get getcpu membarrier
#include "guest.h"
#include <sched.h>

struct attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

int main(void)
{
    struct sched_param p = {0};
    unsigned cpu = -1, node = -1;
    struct timespec ts;

    T(sched_yield);
    T(sched_getscheduler, 0);
    T(sched_getscheduler, -1);
    T(sched_getscheduler, 0x7ffffff0);
    T(sched_setscheduler, 0, SCHED_BATCH, &p);
    T(sched_setscheduler, 0, SCHED_OTHER, &p);
    T(sched_setscheduler, 0, 99, &p);
    T(sched_setscheduler, 0, SCHED_OTHER, NULL);
    T(sched_setscheduler, 0, SCHED_OTHER, BAD);
    p.sched_priority = 5;
    T(sched_setscheduler, 0, SCHED_OTHER, &p);
    T(sched_setparam, 0, &p);
    p.sched_priority = 0;
    T(sched_setparam, 0, &p);
    T(sched_setparam, 0, NULL);
    T(sched_getparam, 0, &p);
    num(p.sched_priority);
    T(sched_getparam, 0, NULL);
    T(sched_getparam, -1, &p);
    T(sched_getparam, 0x7ffffff0, &p);
    for (int policy = 0; policy < 7; policy++)
        printf("policy %d: %ld %ld\n", policy, S(sched_get_priority_min, policy), S(sched_get_priority_max, policy));
    OK(sched_rr_get_interval, 0, &ts);
    T(sched_rr_get_interval, -1, &ts);
    T(sched_rr_get_interval, 0, BAD);

    unsigned long mask[128] = {0};
    long n = S(sched_getaffinity, 0, sizeof mask, mask);
    is(n >= 8 && n % 8 == 0 && mask[0] != 0);
    is(S(sched_setaffinity, 0, sizeof mask, mask) == 0);
    T(sched_getaffinity, 0, 7, mask);
    T(sched_getaffinity, 0, sizeof mask, BAD);
    T(sched_getaffinity, 0x7ffffff0, sizeof mask, mask);
    memset(mask, 0, sizeof mask);
    T(sched_setaffinity, 0, sizeof mask, mask);
    T(sched_setaffinity, 0, sizeof mask, BAD);
    T(getcpu, &cpu, &node, NULL);
    is(cpu < 4096 && node < 64);
    T(getcpu, NULL, NULL, NULL);
    T(getcpu, BAD, NULL, NULL);

    struct attr a = {0};
    /* Whoever starts this may have lowered the priority. */
    int own = 20 - (int)S(getpriority, PRIO_PROCESS, 0);
    T(sched_getattr, 0, &a, sizeof a, 0);
    printf("%u %d %u\n", a.policy, a.nice == own, a.priority);
    T(sched_getattr, 0, &a, 8, 0);
    T(sched_getattr, 0, &a, sizeof a, 1);
    T(sched_getattr, 0, NULL, sizeof a, 0);
    a = (struct attr){.size = sizeof a, .policy = SCHED_BATCH, .nice = own};
    T(sched_setattr, 0, &a, 0);
    T(sched_setattr, 0, &a, 1);
    T(sched_setattr, 0, NULL, 0);
    a.policy = 99;
    T(sched_setattr, 0, &a, 0);

    is(S(getpriority, PRIO_PROCESS, 0) == 20 - own);
    T(setpriority, PRIO_PROCESS, 0, 15);
    T(getpriority, PRIO_PROCESS, 0);
    T(setpriority, PRIO_PROCESS, 0, 100);
    T(getpriority, PRIO_PROCESS, 0);
    T(getpriority, 9, 0);
    T(setpriority, 9, 0, 0);
    T(getpriority, PRIO_PROCESS, 0x7ffffff0);
    is(S(getpriority, PRIO_PROCESS, S(getpid)) == 1);
    T(ioprio_set, 1, 0, 2 << 13 | 3);
    T(ioprio_get, 1, 0);
    T(ioprio_get, 9, 0);
    T(ioprio_set, 1, 0, 7 << 13);
    T(ioprio_get, 1, 0x7ffffff0);

    is((S(membarrier, 0, 0, 0) & 1) == 1);
    T(membarrier, 1, 0, 0);
    T(membarrier, 8, 0, 0);
    T(membarrier, 16, 0, 0);
    T(membarrier, 8, 0, 0);
    T(membarrier, 1 << 20, 0, 0);
    T(membarrier, 0, 99, 0);
    return 0;
}
