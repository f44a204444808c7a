// covers: setpriority sched_setscheduler sched_setaffinity ioprio_set setpgid sched_get_priority_max
/* Whom a process may schedule: nobody of its own user who has capabilities that it lacks. */
#include "cases.h"
#include <linux/capability.h>

static int may(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    S(capget, &header, data);
    return data[0].permitted || data[1].permitted;
}

/* Without capabilities, which its parent may have. */
static void below(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    int over = may();
    long parent = S(getppid), expected = over ? -EPERM : 0;
    struct sched_param zero = {0};
    unsigned long all[128];
    memset(all, 0xff, sizeof all);
    S(capset, &header, none);
    is(S(setpriority, 0, parent, 5) == expected);
    is(S(sched_setscheduler, parent, SCHED_OTHER, &zero) == expected);
    is(S(sched_setaffinity, parent, sizeof all, all) == expected);
    is(S(ioprio_set, 1, parent, 2 << 13 | 5) == expected);
    T(setpriority, 0, 0, 6), T(sched_setscheduler, 0, SCHED_BATCH, &zero), T(ioprio_set, 1, 0, 2 << 13 | 6);
}

int main(void)
{
    CASE(below);
    T(setpgid, -1, 0), T(setpgid, 0, -1), T(setpgid, -5, 99999), T(setpgid, 99999, 0);
    SINCE(612, 0, sched_get_priority_max, 7);
    T(sched_get_priority_max, 8);
    return 0;
}
