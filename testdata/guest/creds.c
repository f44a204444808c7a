// covers: setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups getgroups capget capset prctl geteuid getegid getresuid getresgid getuid getgid chown access
// open: skip owners stay in the emulated machine
/* Root and others see different things here, but each the same on Linux. Of root's capabilities
 * only those are kept that containers leave it, too. */
#include "guest.h"
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>

enum { SET = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_FOWNER | 1 << CAP_FSETID | 1 << CAP_SETGID |
             1 << CAP_SETUID | 1 << CAP_SETPCAP };

static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

static void who(const char *what)
{
    uid_t u[3];
    gid_t g[3];
    struct __user_cap_data_struct caps[2] = {{0}};
    S(getresuid, &u[0], &u[1], &u[2]);
    S(getresgid, &g[0], &g[1], &g[2]);
    S(capget, &header, caps);
    /* Those who are not root have their own ids. */
    long uid = S(setfsuid, -1), gid = S(setfsgid, -1);
    static uid_t me = -1;
    static gid_t us = -1;
    if (me == -1)
        me = u[0], us = g[0];
    if (me)
        for (int i = 0; i < 3; i++)
            u[i] -= me, g[i] -= us;
    printf("%s: uid %d %d %d %ld gid %d %d %d %ld caps %x %x %x %x\n", what, u[0], u[1], u[2], me ? uid - me : uid,
           g[0], g[1], g[2], me ? gid - us : gid, caps[0].effective & SET, caps[0].permitted & SET,
           caps[0].inheritable & SET, caps[1].effective & 0);
}

static void capabilities(void)
{
    struct __user_cap_data_struct caps[2] = {{SET, SET, 0}};
    struct __user_cap_header_struct bad = {0x1234, 0}, one = {_LINUX_CAPABILITY_VERSION_1, 0},
                                    other = {_LINUX_CAPABILITY_VERSION_3, 0x7ffffff0};

    for (int cap = 0; cap <= 40; cap++)
        if (cap > 8 || !(SET >> cap & 1))
            S(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
    T(prctl, PR_CAPBSET_DROP, 41, 0, 0, 0);
    T(prctl, PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
    T(prctl, PR_CAPBSET_READ, 41, 0, 0, 0);
    T(prctl, PR_CAPBSET_READ, -1, 0, 0, 0);
    T(prctl, PR_CAPBSET_READ, CAP_CHOWN, 0, 0, 0);
    T(capset, &header, caps);
    who("a few capabilities");
    caps[0].permitted = caps[0].effective = -1;
    caps[1].permitted = caps[1].effective = -1;
    T(capset, &header, caps);
    caps[1].permitted = caps[1].effective = 0;
    caps[0].permitted = SET & ~(1 << CAP_CHOWN), caps[0].effective = SET;
    T(capset, &header, caps);
    caps[0].permitted = SET, caps[0].inheritable = 1 << CAP_SYS_ADMIN;
    T(capset, &header, caps);
    caps[0].inheritable = 1 << CAP_CHOWN;
    T(capset, &header, caps);
    who("an inheritable one");
    T(capset, &bad, caps);
    is(bad.version == _LINUX_CAPABILITY_VERSION_3);
    bad.version = 1;
    T(capget, &bad, NULL);
    bad.version = 1;
    T(capget, &bad, caps);
    T(capget, &other, caps);
    T(capset, &other, caps);
    other.pid = -1;
    T(capget, &other, caps);
    T(capset, &other, caps);
    T(capget, &header, NULL);
    T(capget, &header, BAD);
    T(capget, BAD, caps);
    T(capset, &header, BAD);
    T(capset, BAD, caps);
    T(capget, &one, caps);
    T(capset, &one, caps);
    who("by the old version");

    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SETUID, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_CHOWN, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 41, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 0, 1, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 1, 0, 0);
    T(prctl, PR_CAP_AMBIENT, 0, 0, 0, 0);
    T(prctl, PR_CAP_AMBIENT, 5, 0, 0, 0);

    T(prctl, PR_GET_SECUREBITS, 0, 0, 0, 0);
    T(prctl, PR_SET_SECUREBITS, 1 << 20, 0, 0, 0);
    T(prctl, PR_SET_SECUREBITS, SECBIT_NO_CAP_AMBIENT_RAISE, 0, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0);
    T(prctl, PR_SET_SECUREBITS, 0, 0, 0, 0);
    T(prctl, PR_SET_KEEPCAPS, 2, 0, 0, 0);
    T(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
    T(prctl, PR_GET_KEEPCAPS, 0, 0, 0, 0);
    T(prctl, PR_SET_KEEPCAPS, 0, 0, 0, 0);
    T(prctl, PR_GET_KEEPCAPS, 0, 0, 0, 0);
}

static void groups(void)
{
    gid_t list[3] = {30, 10, 20}, got[8];
    T(setgroups, 3, list);
    long n = S(getgroups, 8, got);
    if (n == 3)
        printf("%d %d %d\n", got[0], got[1], got[2]);
    list[1] = -1;
    T(setgroups, 2, list);
    T(setgroups, -1, list);
    T(setgroups, 65537, list);
    T(setgroups, 3, BAD);
    if (S(geteuid) == 0)
        T(getgroups, 2, got);
    T(getgroups, 300, BAD);
    T(setgroups, 0, NULL);
    if (S(geteuid) == 0)
        T(getgroups, 0, NULL);

    T(setresgid, 5, 6, 7);
    who("groups 5 6 7");
    T(setregid, 7, -1);
    who("regid 7 -1");
    T(setregid, -1, 5);
    who("regid -1 5");
    T(setfsgid, 99);
    who("fsgid 99");
    T(setgid, 8);
    who("gid 8");
}

/* What others may do with a file of the first user. */
static void files(void)
{
    struct stat st;
    put("mine", "text");
    S(mkdir, "dir", 0700);
    put("dir/in", "x");
    S(chmod, "mine", 0640);
    T(chown, "mine", 100, 200);
    T(chown, "mine", -1, 300);
    stat("mine", &st);
    if (S(geteuid) == 0)
        printf("owner %d:%d\n", st.st_uid, st.st_gid);
    put("set", "x");
    T(chmod, "set", 06755);
    stat("set", &st);
    printf("mode %o\n", st.st_mode);
    T(setfsuid, 4321);
    T(access, "dir/in", R_OK);
    T(open, "mine", O_RDONLY);
    T(open, "dir/in", O_RDONLY);
    T(chmod, "mine", 0600);
    T(unlink, "dir/in");
    T(setfsuid, S(getuid));
}

static void users(void)
{
    T(setresuid, -1, 1001, -1);
    who("effective 1001");
    T(setresuid, -1, 0, -1);
    who("effective 0");
    T(setreuid, 1001, 1002);
    who("reuid 1001 1002");
    T(setreuid, 1002, 1001);
    who("reuid 1002 1001");
    T(setuid, 0);
    T(setuid, 1002);
    who("uid 1002");
    T(setfsuid, 0);
    who("fsuid 0");
    T(setresuid, 0, 0, 0);
    T(setresuid, -1, -1, 77);
    T(setresuid, 1002, 1001, 1002);
    who("resuid 1002 1001 1002");
    T(setuid, -1);
    T(setgid, -1);
    T(setgroups, 0, NULL);
    T(prctl, PR_SET_SECUREBITS, 0, 0, 0, 0);
    T(chown, "mine", 0, 0);
    T(chmod, "mine", 0666);
    T(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int main(void)
{
    who("at first");
    capabilities();
    files();
    groups();
    if (S(geteuid) == 0) {
        /* The same again with capabilities that a change of the user keeps. */
        T(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
        users();
    }
    return 0;
}
