// covers: unshare setns clone sethostname uname setuid setgid setgroups getresuid capget
// native: skip not every machine lets users make namespaces; the output is that of Linux where they may
// expect: user_ns.out
// open: skip the host's files have no owners of the emulated machine
#include "emulated.h"
#include "namespace.h"
#include <netdb.h>
#include <net/if.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <sys/msg.h>
#include <sys/ioctl.h>

/* A user namespace of its own, and what belongs to it. */

/* A map with an id of its own, and whether it was taken. */
static void told_map(const char *path, const char *form, unsigned own)
{
    char text[64];
    int len = snprintf(text, sizeof text, form, own);
    long result = put_map(path, text);
    printf("%s: %s: ", path, form);
    if (result == len)
        printf("ok\n");
    else
        show("write", result);
}

static void shown_map(const char *path, unsigned own)
{
    unsigned first, lower, count;
    FILE *f = fopen(path, "r");
    while (fscanf(f, "%u %u %u", &first, &lower, &count) == 3)
        printf("%s: %u %s %u\n", path, first, lower == own ? "own" : lower == 0 ? "0" : "other", count);
    fclose(f);
}

static void ids(void)
{
    uid_t r, e, s;
    S(getresuid, &r, &e, &s);
    printf("uid %d %d %d", r, e, s);
    S(getresgid, &r, &e, &s);
    printf(" gid %d %d %d\n", r, e, s);
}

static void caps(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    S(capget, &header, data);
    printf("caps %x%08x\n", data[1].effective & 0x1ff, data[0].effective);
}

static void link_changes(const char *name, unsigned long flag)
{
    char path[64], before[64], after[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    before[readlink(path, before, 63)] = 0;
    long result = S(unshare, flag);
    long n = readlink(path, after, 63);
    after[n] = 0;
    printf("%s: ", name);
    show("unshare", result);
    is(strcmp(before, after) != 0);
    is(strncmp(after, name, strlen(name)) == 0);
}

int main(void)
{
    become_a_user();
    unsigned uid = getuid(), gid = getgid();
    printf("== before\n");
    shown_map("/proc/self/uid_map", uid);
    cat("/proc/self/setgroups");
    caps();
    T(unshare, CLONE_NEWUTS);
    int old = open("/proc/self/ns/user", O_RDONLY);
    is(old >= 0);
    T(ioctl, old, 0xb703);
    T(setns, old, 0);
    T(setns, old, CLONE_NEWNET);

    printf("== a namespace without maps\n");
    T(unshare, CLONE_NEWUSER);
    ids();
    caps();
    shown_map("/proc/self/uid_map", uid);
    T(setuid, 0);
    T(setgroups, 0, NULL);
    told_map("/proc/self/gid_map", "0 %u 1", gid);
    told_map("/proc/self/setgroups", "maybe", 0);
    told_map("/proc/self/setgroups", "deny", 0);
    told_map("/proc/self/uid_map", "0 %u 2", uid);
    told_map("/proc/self/uid_map", "0 0 1", 0);
    told_map("/proc/self/uid_map", "0 x 1", 0);
    told_map("/proc/self/uid_map", "0 %u 0", uid);
    told_map("/proc/self/uid_map", "0 %u 1", uid);
    told_map("/proc/self/uid_map", "0 %u 1", uid);
    told_map("/proc/self/gid_map", "5 %u 1", gid);
    shown_map("/proc/self/uid_map", uid);
    shown_map("/proc/self/gid_map", gid);
    ids();
    T(setgroups, 0, NULL);
    T(setgid, 5);
    T(setgid, 0);
    T(setuid, 1);
    T(setuid, 0);
    T(setns, old, 0);
    struct stat of;
    stat(".", &of);
    printf("owner %d %d\n", of.st_uid, of.st_gid);
    stat("/proc/version", &of);
    printf("owner %d %d\n", of.st_uid, of.st_gid);
    put("made", "");
    T(chown, "made", 0, 5);
    T(chown, "made", 7, 5);
    T(chown, "made", 0, 7);
    T(mknod, "device", S_IFCHR | 0666, 0x103);
    T(clock_settime, 0, NULL);
    T(sethostname, "early", 5);

    printf("== others\n");
    link_changes("uts", CLONE_NEWUTS);
    link_changes("ipc", CLONE_NEWIPC);
    link_changes("net", CLONE_NEWNET);
    link_changes("cgroup", CLONE_NEWCGROUP);
    struct utsname name;
    struct addrinfo *found;
    uname(&name);
    printf("%s has an address: %d\n", name.nodename, getaddrinfo(name.nodename, NULL, NULL, &found) == 0);
    T(sethostname, "inside", 6);
    uname(&name);
    printf("%s\n", name.nodename);
    int uts = open("/proc/self/ns/uts", O_RDONLY);
    T(unshare, CLONE_NEWUTS);
    T(sethostname, "deeper", 6);
    T(setns, uts, CLONE_NEWIPC);
    T(setns, uts, CLONE_NEWUTS);
    uname(&name);
    printf("%s\n", name.nodename);
    close(uts);
    T(setns, uts, 0);
    T(setns, 0, 0);

    long queue = T(msgget, 77, IPC_CREAT | 0600), named = S(mq_open, "inside", O_CREAT | O_RDWR, 0600, NULL);
    struct msqid_ds held;
    T(msgctl, queue, IPC_STAT, &held);
    printf("owner %d %d\n", held.msg_perm.uid, held.msg_perm.gid);
    held.msg_perm.uid = 5;
    T(msgctl, queue, IPC_SET, &held);
    held.msg_perm.uid = 0;
    T(msgctl, queue, IPC_SET, &held);
    held.msg_perm.gid = 0;
    T(msgctl, queue, IPC_SET, &held);
    T(unshare, CLONE_NEWIPC);
    T(msgget, 77, 0600);
    T(mq_unlink, "inside"), T(mq_open, "inside", O_RDWR, 0, NULL), T(mq_timedsend, named, "x", 1, 0, NULL);

    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    long s = S(socket, AF_INET, SOCK_STREAM, 0);
    T(connect, s, &a, sizeof a);
    T(bind, s, &a, sizeof a);
    a.sin_addr.s_addr = 0;
    T(bind, s, &a, sizeof a);
    T(listen, s, 1);

    struct ifreq lo = {.ifr_name = "lo"}, none = {.ifr_name = "none0"};
    T(ioctl, s, SIOCGIFFLAGS, &lo), printf("flags %x\n", lo.ifr_flags);
    T(ioctl, s, SIOCGIFADDR, &lo);
    lo.ifr_flags = IFF_UP;
    T(ioctl, s, SIOCSIFFLAGS, &none), T(ioctl, s, SIOCSIFFLAGS, &lo);
    T(ioctl, s, SIOCGIFFLAGS, &lo), printf("flags %x\n", lo.ifr_flags);
    T(ioctl, s, SIOCGIFADDR, &lo);
    s = S(socket, AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK), a.sin_port = htons(81);
    T(connect, s, &a, sizeof a);
    lo.ifr_flags = 0;
    T(ioctl, s, SIOCSIFFLAGS, &lo);
    T(ioctl, s, SIOCGIFFLAGS, &lo), printf("flags %x\n", lo.ifr_flags);

    fflush(stdout);
    long child = S(clone, CLONE_NEWUSER | CLONE_NEWUTS | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        ids();
        caps();
        T(sethostname, "child", 5);
        fflush(stdout);
        S(exit_group, 3);
    }
    int status;
    waitpid(child, &status, 0);
    num(WEXITSTATUS(status));
    uname(&name);
    printf("%s\n", name.nodename);
    T(clone, CLONE_NEWUSER | CLONE_FS | SIGCHLD, 0, 0, 0, 0);
    T(unshare, CLONE_NEWUSER | CLONE_THREAD);
    caps();
    return 0;
}
