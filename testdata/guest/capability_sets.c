// covers: capget capset prctl execve setresuid unshare chown mknod kill
// open: skip owners stay in the emulated machine
#include "namespace.h"
#include <linux/capability.h>
#include <linux/securebits.h>

/* Capabilities in a user namespace of one's own: how identities, securebits and execve(2) change them. */
static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

static void sets(const char *what)
{
    struct __user_cap_data_struct c[2];
    S(capget, &header, c);
    int ambient = 0;
    for (int i = 0; i < 41; i++)
        ambient += S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1;
    printf("%s: effective %s permitted %s inheritable %08x ambient %d\n", what,
        c[0].effective == 0 ? "none" : c[0].effective == 0xffffffff ? "all" : "some",
        c[0].permitted == 0 ? "none" : c[0].permitted == 0xffffffff ? "all" : "some", c[0].inheritable, ambient);
}
static long set(unsigned effective, unsigned permitted, unsigned inheritable)
{
    struct __user_cap_data_struct c[2] = {{effective, permitted, inheritable}, {0, 0, 0}};
    return S(capset, &header, c);
}
static void identity(void)
{
    become_root(), sets("root of the namespace"), show("to 5", S(setresuid, 5, 5, 5)), show("securebits", S(prctl, PR_GET_SECUREBITS)),
        show("chown", S(chown, "host/other", 0, 0)), show("mount", S(mount, "none", "host/empty", "tmpfs", 0, 0)),
        show("hostname", S(sethostname, "x", 1)), S(unshare, CLONE_NEWUTS), show("of its own", S(sethostname, "x", 1)),
        show("bounding", S(prctl, PR_CAPBSET_READ, CAP_SYS_ADMIN)), show("drop", S(prctl, PR_CAPBSET_DROP, CAP_SYS_ADMIN)),
        show("bounding", S(prctl, PR_CAPBSET_READ, CAP_SYS_ADMIN)), sets("dropped of the bound alone"),
        show("fewer", set(1 << CAP_CHOWN, 1 << CAP_CHOWN | 1 << CAP_KILL, 0)), sets("fewer"), show("more", set(1 << CAP_SETUID, 1 << CAP_SETUID, 0)),
        show("not permitted", set(1 << CAP_SETUID, 1 << CAP_CHOWN, 0)), show("inheritable", set(0, 1 << CAP_CHOWN, 1 << CAP_CHOWN)),
        show("inheritable, not permitted", set(0, 1 << CAP_CHOWN, 1 << CAP_KILL | 1 << CAP_CHOWN)), sets("inheritable"),
        show("mount", S(mount, "none", "host/empty", "tmpfs", 0, 0));
}
static void ambient(void)
{
    become_root(), show("not inheritable", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0)),
        set(-1, -1, 1 << CAP_CHOWN | 1 << CAP_KILL), show("raise", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0)),
        show("raise", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_KILL, 0, 0)),
        show("raise 99", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 99, 0, 0)), sets("two"), set(-1, -1, 1 << CAP_CHOWN),
        sets("one less inheritable"), show("lower", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_CHOWN, 0, 0)), sets("lowered"),
        S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0), show("locked", S(prctl, PR_SET_SECUREBITS, SECBIT_NO_CAP_AMBIENT_RAISE)),
        show("clear", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)),
        show("raise", S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0)), show("operation 9", S(prctl, PR_CAP_AMBIENT, 9, 0, 0, 0));
}
static void securebits(void)
{
    become_root(), show("bit 8", S(prctl, PR_SET_SECUREBITS, 1 << 8)),
        show("noroot", S(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED)), num(S(prctl, PR_GET_SECUREBITS)),
        show("unlock", S(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT)), show("keep", S(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)),
        num(S(prctl, PR_GET_SECUREBITS)),
        show("lock it", S(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED)),
        show("keep", S(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)), set(0, 0, 0), show("without capabilities", S(prctl, PR_SET_SECUREBITS, 0));
}
static void executes(const char *what)
{
    char *args[] = {"sed", "-n", "/^Cap[IPEA]/s/\\t0*/ /p", "/proc/self/status", NULL}, *env[] = {NULL};
    printf("%s\n", what), fflush(stdout), execve("/bin/sed", args, env);
}
static void root_executes(void)
{
    become_root(), set(0, 0, 1 << CAP_KILL), executes("root without capabilities");
}
static void noroot_executes(void)
{
    become_root(), S(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT), executes("root with SECBIT_NOROOT");
}
static void ambient_executes(void)
{
    become_root(), S(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT), set(-1, -1, 1 << CAP_CHOWN),
        S(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0), executes("with an ambient one");
}
static void nothing_executes(void)
{
    become_root(), S(prctl, PR_CAPBSET_DROP, CAP_CHOWN), S(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), executes("root with no new privileges and a smaller bound");
}

int main(void)
{
    become_a_user();
    CASE(identity);
    CASE(ambient);
    CASE(securebits);
    CASE(root_executes);
    CASE(noroot_executes);
    CASE(ambient_executes);
    CASE(nothing_executes);
    return 0;
}
