// covers: capget capset setresuid setreuid setuid setfsuid setresgid setregid setgid setfsgid setgroups getgroups getresuid getresgid prctl
/* Ids, groups and capabilities: each change as root and after it, and every error. */
#include "cases.h"

struct hdr {
    uint32_t version;
    int pid;
};
struct data {
    uint32_t e, p, i;
};

/* The lowest capabilities: their highest depends on the kernel. */
static void show_caps(const char *what)
{
    struct hdr h = {0x20080522, 0};
    struct data d[2];
    S(capget, &h, d);
    printf("%s %x %x %x\n", what, d[0].e & 0x1ff, d[0].p & 0x1ff, d[0].i & 0x1ff);
}

static void capabilities(void)
{
    struct hdr h = {0x20080522, 0};
    struct data d[2];
    T(capget, &h, d), T(capget, &h, NULL), T(capget, BAD, d), T(capget, &h, BAD);
    h.version = 0x19980330;
    T(capget, &h, d);
    h.version = 0x20071026;
    T(capget, &h, d);
    h.version = 7;
    T(capget, &h, d);
    printf("%#x\n", h.version);
    h.version = 7;
    T(capget, &h, NULL);
    h.version = 0x20080522;
    h.pid = -1;
    T(capget, &h, d);
    h.pid = 999999;
    T(capget, &h, d);
    h.pid = getpid();
    T(capget, &h, d);
    h.pid = 0;
    S(capget, &h, d);
    struct data o[2];
    memcpy(o, d, sizeof d);
    h.pid = getppid();
    T(capset, &h, d);
    h.pid = getpid();
    T(capset, &h, d);
    h.pid = 0;
    T(capset, &h, BAD), T(capset, BAD, d);
    h.version = 9;
    T(capset, &h, d);
    h.version = 0x20080522;
    d[0].e &= ~1;
    T(capset, &h, d);
    d[0].p &= ~1;
    T(capset, &h, d);
    d[0].p |= 1;
    T(capset, &h, d);
    d[0].p &= ~1;
    d[0].e |= 1;
    T(capset, &h, d);
    d[0].e &= ~1;
    d[0].i |= 1;
    T(capset, &h, d);
    d[0].i = d[1].i = 0;
    T(capset, &h, d);
    d[0].i |= 2;
    T(capset, &h, d), T(prctl, PR_CAPBSET_DROP, 2, 0, 0, 0);
    d[0].i |= 4;
    T(capset, &h, d);
    d[0].p &= ~(1 << 8);
    d[0].e &= ~(1 << 8);
    T(capset, &h, d);
    d[0].i |= 16;
    T(capset, &h, d), T(prctl, PR_CAPBSET_DROP, 3, 0, 0, 0);
    d[1].e = ~0;
    T(capset, &h, d);
    h.version = 0x19980330;
    T(capset, &h, d);
    h.version = 0x20080522;
    S(capget, &h, d);
}
static void user_ids(void)
{
    unsigned r, e, s;
    T(setresuid, -1, -1, -1), T(setresuid, 0, 1, 2), S(getresuid, &r, &e, &s);
    printf("%u %u %u\n", r, e, s);
    show_caps("a");
    T(setresuid, 2, 2, 2), T(setresuid, 3, -1, -1), T(setuid, 0), T(setuid, 3), S(getresuid, &r, &e, &s);
    printf("%u %u %u\n", r, e, s);
    T(setreuid, -1, 2);
    show_caps("b");
    T(setreuid, 2, 0);
    show_caps("c");
    num(S(setfsuid, 5)), num(S(setfsuid, -1)), num(S(setfsuid, 2)), num(S(setfsuid, -1));
    T(getresuid, BAD, &e, &s), T(getresuid, &r, BAD, &s), T(getresgid, &r, &e, BAD);
}
static void secure_bits(void)
{
    T(prctl, PR_GET_SECUREBITS, 0, 0, 0, 0), T(prctl, PR_SET_SECUREBITS, 1, 0, 0, 0);
    T(prctl, PR_SET_SECUREBITS, 0x1000, 0, 0, 0), T(prctl, PR_SET_SECUREBITS, 3, 0, 0, 0);
    T(prctl, PR_SET_SECUREBITS, 1, 0, 0, 0), T(prctl, PR_SET_SECUREBITS, 3 | 4 | 8, 0, 0, 0);
    T(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0), T(setresuid, 7, 7, 7);
    show_caps("no fixup");
    T(setgroups, 0, NULL), T(prctl, PR_SET_SECUREBITS, 3, 0, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 1, 0, 0);
    struct hdr h = {0x20080522, 0};
    struct data d[2];
    S(capget, &h, d);
    d[0].i |= 6;
    T(capset, &h, d), T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 1, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 1, 0, 0);
    d[0].i &= ~2;
    T(capset, &h, d), T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 1, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 2, 0, 0), T(prctl, PR_SET_SECUREBITS, 3 | 64, 0, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, 2, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 2, 0, 0), T(prctl, PR_CAP_AMBIENT, 9, 2, 0, 0);
    T(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 63, 0, 0), T(prctl, PR_CAP_AMBIENT, 4, 1, 0, 0);
    T(prctl, PR_CAP_AMBIENT, 4, 0, 0, 0);
}
static void kept_capabilities(void)
{
    T(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0), T(setresuid, 9, 9, 9);
    show_caps("keep");
    T(prctl, PR_GET_KEEPCAPS, 0, 0, 0, 0), T(setresuid, 0, 0, 0);
    struct hdr h = {0x20080522, 0};
    struct data d[2];
    S(capget, &h, d);
    d[0].e = d[0].p;
    T(capset, &h, d), T(setresuid, 0, 9, 0);
    show_caps("euid 9");
    T(setresuid, 0, 0, 0);
    show_caps("back");
    T(setresuid, -1, 9, -1);
    show_caps("e");
    T(setresuid, -1, 0, -1);
    show_caps("f");
    T(setresuid, 5, 5, 0);
    show_caps("g");
    T(setresuid, 5, 5, 5);
    show_caps("h");
}
static void groups(void)
{
    if (getuid())
        return; /* the groups of others are their own */
    unsigned g[4] = {1, 2, 3, 2}, o[8] = {0};
    T(setgroups, 4, g), T(getgroups, 0, NULL), T(getgroups, 3, o), T(getgroups, 8, o);
    printf("%u %u %u %u\n", o[0], o[1], o[2], o[3]);
    T(setgroups, 65537, g), T(setgroups, -1, g), T(setgroups, 2, BAD), T(getgroups, -1, o), T(getgroups, 4, BAD);
    g[0] = -1;
    T(setgroups, 1, g), T(setresgid, 1, 2, 3), T(setregid, 3, -1), T(setgid, 4), T(setresuid, 1, 1, 1);
    T(setgid, 4), T(setgid, 5), T(setgroups, 0, NULL), T(setresgid, 5, -1, -1), T(setfsgid, 9), T(setfsgid, -1);
    T(setgid, -1), T(setuid, -1), T(setregid, -1, 9);
}

int main(void)
{
    unfiltered();
    CASE(capabilities);
    CASE(user_ids);
    CASE(secure_bits);
    CASE(kept_capabilities);
    CASE(groups);
    return 0;
}
