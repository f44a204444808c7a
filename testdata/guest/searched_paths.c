// covers: open stat mkdir unlink rename link chdir access chmod faccessat2 readlink utimensat truncate execve setfsuid
// open: skip owners stay in the emulated machine
#include "child.h"
#include <sys/prctl.h>

/* Permissions on the way to a file and on the file itself, for an ordinary user: which right each call needs. */
static struct stat st;

static void calls(const char *what)
{
    char buf[32];
    printf("== %s\n", what);
    long fd;
    show("stat", S(stat, "d/f", &st)), show("lstat of a link", S(lstat, "d/l", &st)), show("readlink", S(readlink, "d/l", buf, 32)),
        show("read", (fd = S(open, "d/f", O_RDONLY)) < 0 ? fd : S(close, fd)), show("write", (fd = S(open, "d/f", O_WRONLY)) < 0 ? fd : S(close, fd)),
        show("path", (fd = S(open, "d/f", O_PATH)) < 0 ? fd : S(close, fd)),
        show("create", (fd = S(open, "d/new", O_CREAT | O_WRONLY, 0600)) < 0 ? fd : S(close, fd)), show("unlink", S(unlink, "d/new")),
        show("list", (fd = S(open, "d", O_RDONLY)) < 0 ? fd : S(getdents64, fd, buf, 32) < 0 ? 1 : S(close, fd)),
        show("mkdir", S(mkdir, "d/n", 0755)), show("rmdir", S(rmdir, "d/n")), show("rename", S(rename, "d/f", "d/g")),
        show("back", S(rename, "d/g", "d/f")), show("link", S(link, "d/f", "d/h")), show("unlink", S(unlink, "d/h")), show("chdir", S(chdir, "d")),
        S(chdir, ".."), show("access R", S(access, "d/f", R_OK)), show("access W", S(access, "d/f", W_OK)), show("access X", S(access, "d/f", X_OK)),
        show("access of none", S(access, "d/none", F_OK)), show("chmod", S(chmod, "d/f", st.st_mode & 0777)), show("truncate", S(truncate, "d/f", 5)),
        show("utime now", S(utimensat, AT_FDCWD, "d/f", 0, 0)), show("open of none", S(open, "d/none", O_RDONLY)),
        show("beneath a file", S(open, "d/f/x", O_RDONLY)), show("rename of none", S(rename, "d/none", "d/x"));
}
static void owner(void)
{
    const int modes[] = {0777, 0500, 0300, 0600, 0100, 0400, 0200, 0}, files[] = {0644, 0444, 0222, 0};
    for (int i = 0; i < 8; i++) {
        char text[32];
        S(chmod, "d", modes[i]), snprintf(text, sizeof text, "directory %03o", modes[i]), calls(text);
    }
    S(chmod, "d", 0755);
    for (int i = 0; i < 4; i++) {
        char text[32];
        S(chmod, "d/f", files[i]), snprintf(text, sizeof text, "file %03o", files[i]), calls(text);
    }
    S(chmod, "d/f", 0644);
    /* Only the owner sets times, anybody who may write sets them to now. */
    struct timespec times[] = {{1, 0}, {2, 0}};
    show("times of its own", S(utimensat, AT_FDCWD, "d/f", times, 0)),
        show("of its own, not writable", (S(chmod, "d/f", 0444), S(utimensat, AT_FDCWD, "d/f", times, 0)));
    show("a program without the right", S(execve, "d/f", 0, 0)), show("in a directory without it", (S(chmod, "d", 0600), S(execve, "d/f", 0, 0))),
        S(chmod, "d", 0755), S(mkdir, "d/sub", 0), show("beneath", S(stat, "d/sub/x", &st)), show("..", S(stat, "d/sub/..", &st)),
        show("removed", S(rmdir, "d/sub"));
}

int main(void)
{
    const char *all[] = {".", "d", "d/f", "d/l"};
    S(mkdir, "d", 0755), put("d/f", "contents"), S(symlink, "f", "d/l");
    if (getuid() == 0) {
        for (int i = 0; i < 4; i++)
            S(lchown, all[i], 1000, 1000);
        S(setgroups, 0, 0), S(setresgid, 1000, 1000, 1000), S(setresuid, 1000, 1000, 1000);
    }
    reap(child(owner));
    return 0;
}
