// covers: openat mkdirat unlinkat renameat linkat symlinkat readlinkat faccessat fchmodat fchownat newfstatat utimensat mknodat openat2 statx
#include "guest.h"
#include <linux/openat2.h>

/* Calls that begin at a directory's descriptor: the directory may move, be removed, be a file, be closed, or not matter. */
static struct stat st;
static long other;

static void all(const char *what, long d, const char *name)
{
    char buf[32];
    printf("== %s %s\n", what, name);
    long fd = S(openat, d, name, O_CREAT | O_WRONLY, 0644);
    show("openat", fd < 0 ? fd : 0), S(close, fd), show("newfstatat", S(newfstatat, d, name, &st, 0)), show("faccessat", S(faccessat, d, name, R_OK)),
        show("fchmodat", S(fchmodat, d, name, 0600)), show("fchownat", S(fchownat, d, name, -1, -1, 0)),
        show("utimensat", S(utimensat, d, name, 0, 0)), show("renameat", S(renameat, d, name, other, "moved")),
        show("and back", S(renameat, other, "moved", d, name)), show("linkat", S(linkat, d, name, other, "linked", 0)),
        show("unlinkat", S(unlinkat, other, "linked", 0)), show("unlinkat", S(unlinkat, d, name, 0)), show("mkdirat", S(mkdirat, d, name, 0755)),
        show("unlinkat of a directory", S(unlinkat, d, name, 0)), show("rmdir", S(unlinkat, d, name, AT_REMOVEDIR)),
        show("symlinkat", S(symlinkat, "target", d, name)), show("readlinkat", S(readlinkat, d, name, buf, 32)),
        show("rmdir of a link", S(unlinkat, d, name, AT_REMOVEDIR)), show("unlinkat", S(unlinkat, d, name, 0)),
        show("mknodat", S(mknodat, d, name, S_IFIFO | 0600, 0)), show("unlinkat", S(unlinkat, d, name, 0)), show("flags", S(unlinkat, d, name, 1)),
        show("of none", S(newfstatat, d, name, &st, AT_SYMLINK_NOFOLLOW)), show("flags of stat", S(newfstatat, d, name, &st, 2));
    struct open_how how = {O_CREAT | O_RDWR, 0600, RESOLVE_BENEATH};
    fd = S(openat2, d, name, &how, sizeof how), show("openat2", fd < 0 ? fd : 0), S(close, fd), S(unlinkat, d, name, 0);
}

int main(void)
{
    char top[4096], absolute[4200];
    if (!getcwd(top, sizeof top))
        return 1;
    S(mkdir, "d", 0755), S(mkdir, "other", 0755), put("file", ""), S(symlink, "d", "link");
    long d = S(open, "d", O_RDONLY | O_DIRECTORY), file = S(open, "file", O_RDONLY), path = S(open, "d", O_PATH), link = S(open, "link", O_RDONLY);
    other = S(open, "other", O_RDONLY);
    all("directory", d, "x"), all("path", path, "x"), all("through a link", link, "x"), all("directory", d, "../y"), all("directory", d, "./x"),
        all("working directory", AT_FDCWD, "x"), all("file", file, "x"), all("closed", 99, "x"), all("-1", -1, "x"), all("directory, empty", d, ""),
        all("file, empty", file, ""), snprintf(absolute, sizeof absolute, "%s/x", top);
    long fds[] = {d, file, 99};
    for (int i = 0; i < 3; i++) {
        long fd = S(openat, fds[i], absolute, O_CREAT | O_WRONLY, 0644);
        show("absolute", fd < 0 ? fd : 0), S(close, fd), show("unlinked", S(unlinkat, fds[i], absolute, 0));
    }
    T(rename, "d", "moved"), all("moved", d, "x"), T(rmdir, "moved"), all("removed", d, "x"), show("above it", S(newfstatat, d, "..", &st, 0)),
        show("itself", S(newfstatat, d, "", &st, AT_EMPTY_PATH)), num(st.st_nlink), show("of a file", S(newfstatat, file, "", &st, AT_EMPTY_PATH)),
        show("of nothing", S(newfstatat, 99, "", &st, AT_EMPTY_PATH)),
        show("of the working directory", S(newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH)), show("NULL", S(newfstatat, file, BAD, &st, AT_EMPTY_PATH));
    return 0;
}
