// covers: openat2 symlink mkdir
#include "guest.h"
#include <linux/openat2.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

static struct open_how how;

static long try(long dir, const char *path, uint64_t flags, uint64_t resolve)
{
    how = (struct open_how){flags, 0, resolve};
    long fd = S(openat2, dir, path, &how, sizeof how);
    char result[32];
    if (fd >= 0)
        S(close, fd);
    snprintf(result, sizeof result, "%s", fd < 0 ? strerrorname_np((int)-fd) : "ok");
    printf("  %-28s %s\n", path, result);
    return fd;
}

/* What would change the file is not in the cache. */
static void cached(long dir, uint64_t flags)
{
    how = (struct open_how){flags, 0, RESOLVE_CACHED};
    SINCE(512, -EAGAIN, openat2, dir, "in/file", &how, sizeof how);
}

int main(void)
{
    S(mkdir, "top", 0755), S(mkdir, "top/in", 0755), put("top/in/file", "x"), put("outside", "x");
    S(symlink, "in/file", "top/link"), S(symlink, "../outside", "top/out"), S(symlink, "/in/file", "top/rooted");
    S(symlink, "in", "top/dirlink"), S(symlink, "/proc/self/exe", "top/exe"), S(symlink, "..", "top/in/up");
    S(symlink, "../../../../../../in/file", "top/high"), S(symlink, "/dev/null", "top/null");
    char cwd[4096], fd[64], absolute[4200];
    S(getcwd, cwd, sizeof cwd);
    snprintf(absolute, sizeof absolute, "%s/top/in/file", cwd);
    S(symlink, absolute, "top/absolute");
    long top = S(open, "top", O_PATH | O_DIRECTORY), file = S(open, "outside", O_RDONLY);
    snprintf(fd, sizeof fd, "/proc/self/fd/%ld", file);
    S(symlink, fd, "top/magic");
    snprintf(fd, sizeof fd, "/proc/self/fd/%ld/in/file", top);

    static const char *paths[] = {"in/file",    "link",          "out",        "rooted",   "dirlink/file", "exe",
                                  "in/up/link", "in/../in/file", "../outside", "in/../..", "high",         "null",
                                  "magic",      ".",             "..",         "missing",  "in/up/up",     "absolute",
                                  "/in/file",   "/",             "link/x",     "in/file/", "/proc/self/status"};
    static const struct {
        const char *name;
        uint64_t resolve;
    } kinds[] = {{"nothing", 0},
                 {"no symlinks", RESOLVE_NO_SYMLINKS},
                 {"no magic links", RESOLVE_NO_MAGICLINKS},
                 {"no other file system", RESOLVE_NO_XDEV},
                 {"beneath", RESOLVE_BENEATH},
                 {"in root", RESOLVE_IN_ROOT},
                 {"cached", RESOLVE_CACHED},
                 {"beneath, no symlinks", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS},
                 {"in root, no magic links", RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS}};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        printf("%s:\n", kinds[i].name);
        for (unsigned j = 0; j < sizeof paths / sizeof *paths; j++)
            /* Whether the way up from here leaves a file system is the machine's matter. */
            if (kinds[i].resolve != RESOLVE_CACHED && (kinds[i].resolve != RESOLVE_NO_XDEV || strcmp(paths[j], "high") != 0))
                try(top, paths[j], O_RDONLY, kinds[i].resolve);
    }
    printf("others:\n");
    for (unsigned i = 1; i < 6; i++) {
        long fd_ = try(top, "link", O_PATH | O_NOFOLLOW, kinds[i].resolve);
        is(fd_ >= 0);
        try(top, "magic", O_PATH | O_NOFOLLOW, kinds[i].resolve);
    }
    how = (struct open_how){O_RDONLY, 0, 0};
    show("through a descriptor", S(openat2, AT_FDCWD, fd, &how, sizeof how) >= 0);
    how.resolve = RESOLVE_NO_MAGICLINKS;
    show("refused", S(openat2, AT_FDCWD, fd, &how, sizeof how));
    try(AT_FDCWD, "top/in/file", O_RDONLY, RESOLVE_BENEATH), try(AT_FDCWD, "../x", O_RDONLY, RESOLVE_BENEATH);
    try(99, "x", O_RDONLY, RESOLVE_BENEATH), try(file, "x", O_RDONLY, RESOLVE_IN_ROOT), try(99, "/x", O_RDONLY, RESOLVE_BENEATH);
    try(99, "/x", O_RDONLY, RESOLVE_IN_ROOT), try(99, "/dev/null", O_RDONLY, 0), try(top, "", O_RDONLY, RESOLVE_IN_ROOT);
    try(top, "in/file", O_RDONLY, RESOLVE_BENEATH | RESOLVE_IN_ROOT), try(top, "in/file", O_RDONLY, 0x40);
    try(top, "in/file", O_RDONLY, 1ull << 40), cached(top, O_RDONLY | O_TRUNC), cached(top, O_RDWR | O_CREAT);
    try(top, "in/file", O_PATH | O_RDWR, 0), try(top, "in/file", O_PATH | O_APPEND, 0);
    how = (struct open_how){O_CREAT | O_WRONLY, 0600, RESOLVE_IN_ROOT};
    show("made", S(openat2, top, "/new", &how, sizeof how) >= 0);
    show("made", S(openat2, top, "../../newer", &how, sizeof how) >= 0);
    is(access("top/new", F_OK) == 0), is(access("top/newer", F_OK) == 0);
    how.resolve = RESOLVE_BENEATH;
    show("not made", S(openat2, top, "../newest", &how, sizeof how));
    show("not made", S(openat2, top, "out", &how, sizeof how));
    S(unlink, "top/absolute"); /* it names this directory, which is another in every run */
    return 0;
}
