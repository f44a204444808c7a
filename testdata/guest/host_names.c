// covers: sethostname setdomainname uname unshare open write
// open: skip owners stay in the emulated machine
#include "namespace.h"
#include <limits.h>

/* Names of the machine in a UTS namespace of one's own: their lengths, their files, and who shares them. */
static void names(const char *what)
{
    struct utsname u;
    S(uname, &u), printf("%s: '%s' '%s'\n", what, u.nodename, u.domainname);
}
static void written(const char *path, const char *text)
{
    long fd = S(open, path, O_WRONLY);
    show(text, fd < 0 ? fd : S(write, fd, text, strlen(text))), S(close, fd);
}
static void own(void)
{
    char name[70], buf[70] = "";
    become_root(), show("in the first one", S(sethostname, "x", 1)), show("unshare", S(unshare, CLONE_NEWUTS)), memset(name, 'n', sizeof name);
    T(sethostname, "host", 4), T(setdomainname, "domain", 6), names("set"), T(sethostname, "longer name", 6), names("cut"), T(sethostname, "", 0),
        names("empty"), show("64", S(sethostname, name, 64)), show("65", S(sethostname, name, 65)), T(sethostname, "x", -1), T(sethostname, BAD, 4),
        T(sethostname, BAD, 0), T(setdomainname, BAD, 1), show("64", S(setdomainname, name, 65));
    struct utsname u;
    S(uname, &u), num(strlen(u.nodename)), T(sethostname, "with\nlines", 10), num(gethostname(buf, sizeof buf)), printf("%s\n", buf),
        is(gethostname(buf, 3) == -1 && errno == ENAMETOOLONG), num(getdomainname(buf, sizeof buf)), printf("%s\n", buf),
        written("/proc/sys/kernel/hostname", "by file\n"), names("by file"), cat("/proc/sys/kernel/hostname"),
        written("/proc/sys/kernel/domainname", "dom"), names("by file"), T(uname, BAD), T(uname, edge() - 100);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        names("child"), S(sethostname, "child", 5), fflush(stdout), _exit(0);
    reap("shares it", pid, 0), names("parent"), pid = fork();
    if (pid == 0)
        S(unshare, CLONE_NEWUTS), S(sethostname, "apart", 5), names("child"), fflush(stdout), _exit(0);
    reap("has its own", pid, 0), names("parent");
}
static void without_rights(void)
{
    struct utsname u;
    if (S(unshare, CLONE_NEWUSER) < 0)
        lacks("no namespaces may be made here");
    show("before a map", S(unshare, CLONE_NEWUTS)), show("its own", S(sethostname, "mine", 4)), S(uname, &u), printf("%s\n", u.nodename);
    show("setns of itself", S(setns, S(open, "/proc/self/ns/uts", O_RDONLY), CLONE_NEWUTS)),
        show("of another kind", S(setns, S(open, "/proc/self/ns/uts", O_RDONLY), CLONE_NEWIPC)), show("of no namespace", S(setns, 0, 0)),
        show("of nothing", S(setns, 99, 0));
}

int main(void)
{
    become_a_user();
    CASE(own);
    CASE(without_rights);
    return 0;
}
