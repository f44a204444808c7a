// covers: getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid getpgid getpgrp setpgid getsid setsid set_tid_address set_robust_list get_robust_list
#include "guest.h"

int main(void)
{
    uid_t u[3];
    gid_t g[3];
    long uid = S(getuid), gid = S(getgid), pid = S(getpid);

    is(pid > 0 && S(gettid) == pid && S(getppid) != pid);
    is(uid == S(geteuid) && gid == S(getegid));
    is(uid == getuid() && pid == getpid());
    T(getresuid, &u[0], &u[1], &u[2]);
    is(u[0] == uid && u[1] == uid && u[2] == uid);
    T(getresgid, &g[0], &g[1], &g[2]);
    is(g[0] == gid && g[1] == gid && g[2] == gid);
    T(getresuid, BAD, &u[1], &u[2]);
    T(getresgid, &g[0], BAD, &g[2]);
    gid_t list[100];
    long n = S(getgroups, 0, NULL);
    is(n >= 0 && S(getgroups, 100, list) == n);
    T(getgroups, -1, list);

    is(S(setuid, uid) == 0);
    is(S(setgid, gid) == 0);
    T(setreuid, -1, -1);
    T(setregid, -1, -1);
    is(S(setreuid, uid, uid) == 0 && S(setregid, gid, gid) == 0);
    T(setresuid, -1, -1, -1);
    T(setresgid, -1, -1, -1);
    is(S(setresuid, uid, uid, uid) == 0 && S(setresgid, gid, gid, gid) == 0);
    T(setuid, -1);
    T(setgid, -1);
    is(S(setfsuid, -1) == uid && S(setfsuid, uid) == uid);
    is(S(setfsgid, -1) == gid && S(setfsgid, gid) == gid);

    is(S(getpgrp) == pid && S(getpgid, 0) == pid && S(getpgid, pid) == pid);
    T(getpgid, -1);
    T(getpgid, 0x7ffffff0);
    T(setpgid, 0, 0);
    is(S(setpgid, pid, pid) == 0);
    T(setpgid, 0, -1);
    T(setpgid, 0x7ffffff0, 0);
    is(S(getsid, 0) == S(getsid, pid) && S(getsid, 0) != pid);
    T(getsid, 0x7ffffff0);
    T(setsid);

    int tid = 5;
    is(S(set_tid_address, &tid) == pid);
    struct {
        void *next;
        long offset;
        void *pending;
    } head = {&head, 0, NULL}, *got;
    size_t size;
    T(set_robust_list, &head, sizeof head);
    T(set_robust_list, &head, 8);
    T(get_robust_list, 0, &got, &size);
    is((void *)got == &head && size == sizeof head);
    T(get_robust_list, 0x7ffffff0, &got, &size);
    T(get_robust_list, 0, BAD, &size);
    return 0;
}
