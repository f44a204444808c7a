// Namespaces in which an ordinary user may mount.
#pragma once
#include "cases.h"
#include <sched.h>

static void put_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    S(write, fd, text, strlen(text));
    close(fd);
}

/* Goes on as root of a user namespace of its own with the mounts that are there. */
static void become_root(void)
{
    char map[64];
    unsigned uid = getuid(), gid = getgid();
    unfiltered();
    if (S(unshare, CLONE_NEWUSER | CLONE_NEWNS) < 0)
        lacks("no namespaces may be made here");
    put_map("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", uid);
    put_map("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    put_map("/proc/self/gid_map", map);
}
