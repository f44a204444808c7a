// covers: syslog vhangup pivot_root adjtimex acct settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm init_module delete_module clock_settime unshare clock_adjtime setns finit_module setpriority ioprio_set setrlimit
/* The calls of whoever runs a machine, by somebody who may not: all capabilities are given up first. */
#include "guest.h"
#include <linux/capability.h>
#include <linux/reboot.h>
#include <sched.h>
#include <sys/timex.h>

/* A result as expected, or that of a kernel that was built without the call. */
static int built(long result, long expected)
{
    return result == expected || result == -ENOSYS;
}

int main(void)
{
    unfiltered();
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    struct timespec time = {1000000000, 0}, bad = {5, 1000000000};
    struct timeval day = {1000000000, 0}, wrong = {5, 2000000};
    struct timex timex = {.modes = 0};
    struct rlimit limit;

    T(capset, &header, none);
    T(sethostname, "name", 4);
    T(sethostname, "name", -1);
    T(setdomainname, "name", 4);
    T(setdomainname, BAD, 100);
    T(clock_settime, 0, &time);
    T(clock_settime, 0, &bad);
    T(clock_settime, 0, BAD);
    T(clock_settime, 1, &time);
    T(clock_settime, 99, &time);
    T(settimeofday, &day, NULL);
    T(settimeofday, &wrong, NULL);
    T(settimeofday, BAD, NULL);
    T(settimeofday, NULL, NULL);
    is(S(adjtimex, &timex) >= 0 && timex.tick == 10000);
    is(S(clock_adjtime, 0, &timex) >= 0 && timex.time.tv_sec > 0);
    timex.modes = ADJ_TICK;
    T(adjtimex, &timex);
    T(clock_adjtime, 0, &timex);
    T(clock_adjtime, 1, &timex);
    T(adjtimex, BAD);
    T(mount, "a", "host", "tmpfs", 0, NULL);
    T(mount, "a", "nowhere", "tmpfs", 0, NULL);
    T(mount, BAD, "host", "tmpfs", 0, NULL);
    T(umount2, "host", 0);
    T(umount2, "host", 0x100);
    T(umount2, "nowhere", 0);
    T(pivot_root, "host", "nowhere");
    T(swapon, "host/file", 0);
    T(swapoff, "nowhere");
    T(reboot, 1, 2, 3, NULL);
    T(reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_ON, NULL);
    is(built(S(iopl, 0), 0));
    is(built(S(iopl, 3), -EPERM));
    is(built(S(iopl, 4), -EINVAL));
    is(built(S(ioperm, 0x80, 1, 1), -EPERM));
    is(built(S(ioperm, 0x80, 1, 0), 0));
    is(built(S(ioperm, 65535, 2, 1), -EINVAL));
    is(built(S(init_module, NULL, 0, ""), -EPERM));
    is(built(S(delete_module, "none", 0), -EPERM));
    is(built(S(finit_module, 0, "", 0), -EPERM));
    T(acct, NULL);
    T(vhangup);
    T(syslog, 5, NULL, 0);
    T(syslog, 6, NULL, 0);
    T(unshare, 0);
    T(unshare, CLONE_FS | CLONE_FILES | CLONE_SYSVSEM);
    T(unshare, CLONE_NEWNS);
    T(unshare, CLONE_NEWUTS);
    T(unshare, CLONE_NEWNET);
    T(unshare, 1);
    T(unshare, CLONE_VFORK);
    T(setns, 99, 0);
    T(setns, 0, 0);
    T(setpriority, PRIO_PROCESS, 0, 19);
    T(setpriority, PRIO_PROCESS, 0, 19);
    T(setpriority, PRIO_PROCESS, 0, 18);
    T(setpriority, PRIO_PROCESS, 0, -20);
    T(ioprio_set, 1, 0, 1 << 13);
    T(ioprio_set, 1, 0, 2 << 13 | 4);
    T(chroot, "host");
    T(chroot, "host/file");
    T(chroot, "nowhere");
    T(mknod, "device", S_IFCHR | 0666, 0x103);
    T(mknod, "disk", S_IFBLK | 0666, 0x800);
    limit = (struct rlimit){100, 200};
    T(setrlimit, RLIMIT_NOFILE, &limit);
    limit = (struct rlimit){100, 201};
    T(setrlimit, RLIMIT_NOFILE, &limit);
    return 0;
}
