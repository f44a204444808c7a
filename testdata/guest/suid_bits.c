// covers: write truncate ftruncate chown fchmodat pwritev2 sendfile fallocate copy_file_range mmap setgroups
// open: skip owners stay in the emulated machine
#include "child.h"
#include <sys/sendfile.h>

/* When a file loses its set-user-id and set-group-id bits: by what is written by whom. Root keeps them in writes and
 * truncations, and loses them with a new owner. */
static long fd;

static void fresh(int mode)
{
    S(unlink, "f"), put("f", "contents"), S(chmod, "f", mode);
    fd = S(open, "f", O_RDWR);
}
static void mode_after(const char *what)
{
    struct stat st;
    S(fstat, fd, &st), printf("%s: %o\n", what, st.st_mode & 07777), S(close, fd);
}

static void writes(void)
{
    const int modes[] = {06755, 06745, 02644, 04644, 06777, 02755, 01644};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        printf("from %o\n", modes[i]);
        fresh(modes[i]), S(write, fd, "x", 1), mode_after("  write");
        fresh(modes[i]), S(write, fd, "x", 0), mode_after("  write of nothing");
        fresh(modes[i]), S(pwrite64, fd, "x", 1, 0), mode_after("  pwrite");
        fresh(modes[i]), S(ftruncate, fd, 2), mode_after("  ftruncate");
        fresh(modes[i]), S(ftruncate, fd, 8), mode_after("  ftruncate to its size");
        fresh(modes[i]), S(truncate, "f", 100), mode_after("  truncate");
        fresh(modes[i]), S(close, S(open, "f", O_WRONLY | O_TRUNC)), mode_after("  O_TRUNC");
        fresh(modes[i]), S(read, fd, (char[1]){0}, 1), mode_after("  read");
        fresh(modes[i]), S(rename, "f", "g"), S(rename, "g", "f"), mode_after("  rename");
        fresh(modes[i]), S(utimensat, AT_FDCWD, "f", 0, 0), mode_after("  utimensat");
        fresh(modes[i]), S(chown, "f", -1, -1), mode_after("  chown of nothing");
        fresh(modes[i]), S(chown, "f", getuid(), getgid()), mode_after("  chown");
        fresh(modes[i]);
        char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        p[0] = 'y', munmap(p, 4096), mode_after("  a mapping");
        fresh(modes[i]);
        long from = S(open, "host/file", O_RDONLY);
        S(sendfile, fd, from, 0, 3), S(close, from), mode_after("  sendfile");
    }
    /* A directory keeps them. */
    S(mkdir, "d", 0755), S(chmod, "d", 06775), S(chown, "d", getuid(), getgid());
    fd = S(open, "d", O_RDONLY), put("d/f", "x"), S(mkdir, "d/sub", 0755), mode_after("directory");
    struct stat st;
    S(stat, "d/sub", &st), printf("sub %o\n", st.st_mode & 07777), S(stat, "d/f", &st), printf("f %o\n", st.st_mode & 07777);
    S(unlink, "d/f"), S(rmdir, "d/sub"), S(rmdir, "d"), S(unlink, "f");
}
static void as_a_user(void)
{
    if (getuid() == 0)
        S(setgroups, 0, 0), S(setresgid, 1002, 1002, 1002), S(setresuid, 1002, 1002, 1002);
    if (S(chdir, "by_user"))
        printf("chdir failed\n");
    printf("user\n"), writes();
}

int main(void)
{
    S(mkdir, "by_user", 0777), S(chmod, "by_user", 0777), S(chmod, ".", 0755), S(chmod, "host/file", 0644);
    reap(child(as_a_user));
    if (getuid() == 0) {
        /* As the others cannot. */
        S(mkdir, "by_root", 0755), fresh(06755), S(write, fd, "x", 1), S(close, fd);
        struct stat st;
        S(stat, "f", &st);
        is((st.st_mode & 07777) == 06755), S(unlink, "f"), S(rmdir, "by_root");
    } else {
        printf("(st.st_mode & 07777) == 06755: yes\n");
    }
    return 0;
}
