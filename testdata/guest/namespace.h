// User namespaces, and others in which an ordinary user may mount.
#pragma once
#include "cases.h"
#include <sched.h>

/* The result of a write of a map, or that of opening it. */
static inline long put_map(const char *path, const char *text)
{
    long fd = S(open, path, O_WRONLY), result = fd < 0 ? fd : S(write, fd, text, strlen(text));
    S(close, fd);
    return result;
}

/* Maps root to the only user and group that anybody may. */
static inline void map_root(unsigned uid, unsigned gid)
{
    char map[64];
    put_map("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", uid);
    put_map("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    put_map("/proc/self/gid_map", map);
}

/* Goes on as an ordinary user, to whom the files here belong. */
static inline void become_a_user(void)
{
    const char *all[] = {".", "host", "host/empty", "host/file", "host/other", "host/tool"};
    if (getuid() != 0)
        return;
    for (int i = 0; i < 6; i++)
        S(chown, all[i], 1000, 1000);
    S(setgroups, 0, 0);
    S(setresgid, 1000, 1000, 1000);
    S(setresuid, 1000, 1000, 1000);
    S(prctl, 4 /* PR_SET_DUMPABLE */, 1, 0, 0, 0);
}

/* Goes on as root of a user namespace of its own with the mounts that are there. */
static inline void become_root(void)
{
    unsigned uid = getuid(), gid = getgid();
    unfiltered();
    if (S(unshare, CLONE_NEWUSER | CLONE_NEWNS) < 0)
        lacks("no namespaces may be made here");
    map_root(uid, gid);
}
