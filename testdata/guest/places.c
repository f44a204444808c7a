// covers: prctl process_vm_readv process_vm_writev ustat sysfs quotactl
#include "guest.h"
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <sys/uio.h>

extern char **environ;

static void stat_fields(char **argv)
{
    is(own_stat_field(26) <= (unsigned long)&stat_fields && (unsigned long)&stat_fields < own_stat_field(27));
    is(own_stat_field(28) <= (unsigned long)argv && (unsigned long)argv < own_stat_field(28) + 4096);
    static int datum = 1;
    is(own_stat_field(45) < (unsigned long)&datum && (unsigned long)&datum < own_stat_field(46));
    is(own_stat_field(47) <= (unsigned long)S(brk, 0) && own_stat_field(47) > 0);
    is(own_stat_field(48) == (unsigned long)argv[0]);
    is(own_stat_field(49) == own_stat_field(50));
    is(own_stat_field(50) == (unsigned long)environ[0]);
    is(own_stat_field(51) > own_stat_field(50));
    num(own_stat_field(52));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_SETMASK, &set, 0);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGHUP, exit);
    raise(SIGUSR1);
    num(own_stat_field(31));
    num(own_stat_field(32) == 1 << (SIGUSR1 - 1));
    num(own_stat_field(33) >> (SIGUSR2 - 1) & 1);
    num(own_stat_field(34) & 1);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGHUP, SIG_DFL);
    S(setpriority, 0, 0, 5);
    num(own_stat_field(18));
    num(own_stat_field(19));
}

/* A program may write a title over its arguments. */
static void title(char **argv)
{
    size_t length = strlen(argv[0]) + 1;
    cat("/proc/self/cmdline");
    memset(argv[0], 'x', length - 1);
    cat("/proc/self/cmdline");
    long more = environ[0] - argv[0];
    memset(argv[0], 'y', more + 3);
    argv[0][more + 3] = 0;
    cat("/proc/self/cmdline");
    argv[0][2] = 0;
    cat("/proc/self/cmdline");
}

static void places(void)
{
    int size = 0;
    T(prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0);
    num(size);
    T(prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, BAD, 0, 0);
    T(prctl, PR_SET_MM, PR_SET_MM_START_CODE, 0, 0, 1);
    T(prctl, PR_SET_MM, PR_SET_MM_START_CODE, 0, 1, 0);
}

static void remote(void)
{
    char from[64] = "0123456789abcdef", to[64] = "";
    struct iovec here[2] = {{to, 4}, {to + 8, 6}}, there[3] = {{from, 2}, {from + 4, 0}, {from + 4, 8}};
    T(process_vm_readv, getpid(), here, 2, there, 3, 0);
    printf("%.4s %.6s\n", to, to + 8);
    T(process_vm_writev, getpid(), here, 1, there + 2, 1, 0);
    printf("%s\n", from);
    T(process_vm_readv, getpid(), here, 2, there, 3, 1);
    T(process_vm_readv, getpid(), BAD, 2, there, 3, 0);
    T(process_vm_readv, getpid(), here, 2, BAD, 3, 0);
    T(process_vm_readv, getpid(), here, 0, there, 3, 0);
    T(process_vm_readv, getpid(), here, 2, there, 0, 0);
    T(process_vm_readv, getpid(), here, 2000, there, 1, 0);
    T(process_vm_readv, 0x3fffffff, here, 2, there, 3, 0);
    char *end = edge();
    struct iovec over = {end - 3, 10}, large = {to, 10}, bad = {BAD, 4}, negative = {to, -1};
    T(process_vm_readv, getpid(), &large, 1, &over, 1, 0);
    T(process_vm_writev, getpid(), &large, 1, &over, 1, 0);
    T(process_vm_readv, getpid(), &large, 1, &bad, 1, 0);
    T(process_vm_readv, getpid(), &bad, 1, &large, 1, 0);
    T(process_vm_readv, getpid(), &negative, 1, &large, 1, 0);
}

static void kinds(void)
{
    char name[64] = "";
    if (S(sysfs, 3, 0, 0) == -ENOSYS)
        lacks("this kernel is built without sysfs(2)");
    long count = S(sysfs, 3, 0, 0), proc = S(sysfs, 1, "proc", 0);
    is(count > 3);
    is(proc >= 0 && proc < count);
    T(sysfs, 2, proc, name);
    printf("%s\n", name);
    T(sysfs, 2, proc, BAD);
    T(sysfs, 2, count, name);
    T(sysfs, 1, "no such kind", 0);
    T(sysfs, 1, BAD, 0);
    T(sysfs, 4, 0, 0);
    struct stat st;
    stat("/proc", &st);
    char buf[64];
    T(ustat, st.st_dev, buf);
    T(ustat, st.st_dev, BAD);
    T(ustat, 0xfffff, buf);
    T(quotactl, 0x80000103, 0, 0, 0);
    T(quotactl, 0x80000100, 0, 0, 0);
    T(quotactl, 0x80000200, 0, 0, 0);
    T(quotactl, 0x80000200, "/nowhere", 0, 0);
    T(quotactl, 0x80000200, "/proc", 0, 0);
    T(quotactl, 0x80000200, BAD, 0, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    unfiltered();
    stat_fields(argv);
    places();
    remote();
    kinds();
    title(argv);
}
