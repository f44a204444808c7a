// covers: rmdir getcwd chdir fchdir open mkdir getdents64 rename stat
#include "child.h"

/* A directory that is removed while somebody is in it, or has it open. */
static void look(void)
{
    char buf[4096];
    struct stat st;
    T(getcwd, buf, sizeof buf), T(stat, ".", &st), printf("links %d type %o\n", (int)st.st_nlink, st.st_mode >> 12);
    T(open, "x", O_CREAT | O_WRONLY, 0644), T(mkdir, "x", 0755), T(symlink, "a", "x"), T(mknod, "x", S_IFIFO | 0644, 0), T(link, "/dev/null", "x");
    T(stat, "x", &st), T(rename, "x", "y"), T(rename, "/dev/null", "y"), T(rmdir, "../gone"), T(rmdir, "."), T(chmod, ".", 0700), T(access, ".", R_OK | W_OK);
    long n = S(readlink, "/proc/self/cwd", buf, sizeof buf - 1);
    buf[n > 0 ? n : 0] = 0;
    is(strlen(buf) > 10 && strcmp(buf + strlen(buf) - 10, " (deleted)") == 0);
    long fd = T(open, ".", O_RDONLY | O_DIRECTORY);
    T(getdents64, fd, buf, sizeof buf), T(lseek, fd, 0, SEEK_SET), T(fchdir, fd), T(close, fd);
    T(chdir, "."), T(stat, "..", &st), is(st.st_nlink > 0), T(access, "../stays", F_OK), T(chdir, "./.."), T(access, "stays", F_OK);
}

static void inside(void)
{
    S(mkdir, "gone", 0755), S(chdir, "gone"), T(rmdir, "../gone"), look();
}
static void both_removed(void)
{
    /* Its parent too: ".." is still there, and has no names either. */
    struct stat st;
    S(mkdir, "up", 0755), S(mkdir, "up/low", 0755), S(chdir, "up/low"), T(rmdir, "../low"), T(rmdir, "../../up");
    T(stat, "..", &st), num(st.st_nlink), T(open, "../x", O_CREAT | O_WRONLY, 0644), T(access, "../../stays", F_OK), T(chdir, "../.."),
        T(access, "stays", F_OK);
}
static void held(void)
{
    char buf[4096];
    struct stat st;
    S(mkdir, "held", 0755), put("held/f", "still there");
    long fd = S(open, "held", O_RDONLY | O_DIRECTORY), file = S(open, "held/f", O_RDONLY);
    T(rmdir, "held"), S(unlink, "held/f"), T(rmdir, "held"), T(getdents64, fd, buf, sizeof buf), T(fstat, fd, &st), num(st.st_nlink),
        T(openat, fd, "f", O_RDONLY), T(openat, fd, "..", O_RDONLY), T(fchmod, fd, 0711);
    T(read, file, buf, 11), T(fstat, file, &st), num(st.st_nlink), T(mkdirat, fd, "x", 0755), T(unlinkat, fd, "f", 0), T(fsync, fd);
    S(mkdir, "held", 0755), T(openat, fd, "new", O_CREAT | O_WRONLY, 0644), T(fchdir, fd), T(getcwd, buf, sizeof buf), T(access, "../held", F_OK);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%ld", file), show("anew", S(open, name, O_RDONLY)),
        show("link", S(linkat, AT_FDCWD, name, AT_FDCWD, "../back", AT_SYMLINK_FOLLOW));
}
static void made_again(void)
{
    /* Another of that name is another directory. */
    S(mkdir, "again", 0755), S(chdir, "again"), S(rmdir, "../again"), S(mkdir, "../again", 0755), T(open, "x", O_CREAT | O_WRONLY, 0644),
        T(chdir, "../again"), T(open, "x", O_CREAT | O_WRONLY, 0644);
}

int main(void)
{
    put("stays", "");
    void (*all[])(void) = {inside, both_removed, held, made_again};
    for (int i = 0; i < 4; i++)
        num(i), reap(child(all[i]));
    return 0;
}
