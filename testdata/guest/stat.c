// covers: stat fstat lstat newfstatat statx
#include "guest.h"
#include <sys/sysmacros.h>

static struct stat st;

static void about(const char *what)
{
    printf("%s: mode %o links %ld size %ld blksize %ld rdev %u:%u mine %d\n", what, st.st_mode,
           S_ISDIR(st.st_mode) ? 0L : (long)st.st_nlink, S_ISDIR(st.st_mode) ? 0L : (long)st.st_size,
           (long)st.st_blksize, major(st.st_rdev), minor(st.st_rdev), st.st_uid == getuid() && st.st_gid == getgid());
}

int main(void)
{
    struct statx x;

    T(stat, "host/file", &st);
    about("file");
    num(st.st_mtime);
    num(st.st_mtim.tv_nsec);
    struct stat other;
    T(stat, "host/link", &other);
    is(other.st_ino == st.st_ino && other.st_dev == st.st_dev);
    T(lstat, "host/link", &st);
    about("link");
    is(other.st_ino != st.st_ino);
    T(lstat, "host/link/", &st);
    T(stat, "host/tool", &st);
    about("tool");
    T(stat, "host", &st);
    about("directory");
    T(stat, "host/", &st);
    T(stat, "host/.", &other);
    is(other.st_ino == st.st_ino);
    T(stat, "host/empty/..", &other);
    is(other.st_ino == st.st_ino);
    T(stat, "host/dangling", &st);
    T(lstat, "host/dangling", &st);
    about("dangling");
    T(stat, "/dev/null", &st);
    about("/dev/null");
    T(stat, "/dev/zero", &st);
    about("/dev/zero");
    T(stat, "/proc/self", &st);
    printf("kind %o\n", st.st_mode & S_IFMT);
    T(lstat, "/proc/self", &st);
    printf("kind %o\n", st.st_mode & S_IFMT);
    T(stat, "", &st);
    T(stat, "nothing", &st);
    T(stat, "host/file/x", &st);
    T(stat, "host/file/", &st);
    T(stat, BAD, &st);
    T(stat, "host/file", BAD);
    T(stat, "host/file", NULL);
    S(symlink, "loop", "loop");
    T(stat, "loop", &st);
    T(lstat, "loop", &st);
    T(stat, "loop/x", &st);

    long fd = S(open, "host/file", O_RDONLY), dir = S(open, "host", O_RDONLY);
    T(fstat, fd, &st);
    about("fd");
    T(fstat, 99, &st);
    T(fstat, -1, &st);
    T(fstat, fd, BAD);
    int p[2];
    S(pipe2, p, 0);
    T(fstat, p[0], &st);
    about("pipe");
    T(newfstatat, dir, "file", &st, 0);
    about("file");
    T(newfstatat, dir, "link", &st, AT_SYMLINK_NOFOLLOW);
    about("link");
    T(newfstatat, fd, "", &st, AT_EMPTY_PATH);
    about("file");
    T(newfstatat, dir, "", &st, AT_EMPTY_PATH);
    T(newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH);
    T(newfstatat, p[0], "", &st, AT_EMPTY_PATH);
    T(newfstatat, fd, "", &st, 0);
    T(newfstatat, fd, "x", &st, 0);
    T(newfstatat, 99, "x", &st, 0);
    T(newfstatat, 99, "/dev/null", &st, 0);
    T(newfstatat, 99, "", &st, AT_EMPTY_PATH);
    T(newfstatat, dir, "file", &st, 1);
    T(newfstatat, dir, "file", &st, AT_NO_AUTOMOUNT);
    T(newfstatat, dir, BAD, &st, 0);

    memset(&x, 0, sizeof x);
    T(statx, AT_FDCWD, "host/file", 0, STATX_BASIC_STATS, &x);
    is((x.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
    printf("mode %o links %u size %llu mtime %lld.%09u blksize %u\n", x.stx_mode, x.stx_nlink, x.stx_size,
           x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec, x.stx_blksize);
    is(x.stx_ino == other.st_ino || x.stx_ino != 0);
    T(statx, AT_FDCWD, "host/link", AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_MODE, &x);
    printf("mode %o\n", x.stx_mode);
    T(statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &x);
    T(statx, fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &x);
    T(statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &x);
    T(statx, fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_TYPE, STATX_SIZE, &x);
    T(statx, AT_FDCWD, "host/file", 1, STATX_SIZE, &x);
    T(statx, AT_FDCWD, "host/file", 0, 0x80000000, &x);
    T(statx, AT_FDCWD, "nothing", 0, STATX_SIZE, &x);
    T(statx, AT_FDCWD, "host/file", 0, STATX_SIZE, BAD);
    T(statx, AT_FDCWD, BAD, 0, STATX_SIZE, &x);
    T(statx, 99, "x", 0, STATX_SIZE, &x);
    T(statx, fd, "x", 0, STATX_SIZE, &x);
    T(statx, fd, "", 0, STATX_SIZE, &x);

    /* Links and sizes follow changes. */
    long new = S(open, "new", O_RDWR | O_CREAT, 0600);
    S(write, new, "12345", 5);
    T(fstat, new, &st);
    about("new");
    S(link, "new", "new2");
    T(fstat, new, &st);
    about("two links");
    S(unlink, "new"), S(unlink, "new2");
    T(fstat, new, &st);
    about("unlinked");
    S(write, new, "678", 3);
    T(fstat, new, &st);
    about("longer");
    S(mkdir, "d", 0755);
    S(stat, "d", &st);
    is(st.st_blksize > 0 && st.st_nlink >= 1);
    return 0;
}
