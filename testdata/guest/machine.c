// covers: uname sysinfo capget capset kcmp
#include "guest.h"
#include <linux/capability.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

int main(void)
{
    unfiltered();
    struct utsname u;
    struct sysinfo s;
    T(uname, &u);
    printf("%s %s\n", u.sysname, u.machine);
    is(u.release[0] >= '3' && u.release[1] != 0 && u.nodename[0] != 0);
    T(uname, BAD);
    T(sysinfo, &s);
    is(s.totalram > 0 && s.freeram <= s.totalram && s.mem_unit >= 1 && s.procs >= 1 && s.uptime > 0);
    T(sysinfo, BAD);
    struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct d[2], e[2];
    T(capget, &h, d);
    is(d[0].effective == 0 || getuid() == 0);
    is((d[0].effective & ~d[0].permitted) == 0);
    T(capset, &h, d);
    h.pid = 0x7ffffff0;
    T(capget, &h, e);
    h.pid = -1;
    T(capget, &h, e);
    h.pid = 0, h.version = 1;
    T(capget, &h, NULL);
    printf("%x\n", h.version);
    h.version = 1;
    T(capget, &h, e);
    T(capget, BAD, e);
    h.version = _LINUX_CAPABILITY_VERSION_3;
    T(capget, &h, BAD);
    memset(e, 0, sizeof e);
    T(capset, &h, e);
    T(capget, &h, d);
    printf("%x %x\n", d[0].effective, d[0].permitted);
    e[0].effective = 1;
    T(capset, &h, e);
    e[0].permitted = 1;
    T(capset, &h, e);

    long pid = S(getpid);
    int p[2];
    S(pipe2, p, 0);
    long twin = S(dup, p[0]);
    OK(kcmp, pid, pid, 1, 0, 0);
    is(S(kcmp, pid, pid, 0, p[0], twin) == 0);
    is(S(kcmp, pid, pid, 0, p[0], p[1]) > 0);
    T(kcmp, pid, pid, 0, p[0], 99);
    T(kcmp, pid, pid, 99, 0, 0);
    T(kcmp, pid, 0x7ffffff0, 1, 0, 0);
    return 0;
}
