// covers: statx newfstatat statfs access faccessat faccessat2 fchmodat fchmodat2 fchownat utimensat truncate ftruncate fallocate rename renameat2 link linkat unlinkat rmdir mkdirat symlinkat readlinkat getdents64 chdir fchdir getcwd dup2 dup3 close_range poll ppoll select pselect6 preadv2 pwritev2 copy_file_range sync_file_range fadvise64 readahead fsync umask
#include "guest.h"
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

int main(void)
{
    static char buf[8192], name256[300], path4096[5000];
    memset(name256, 'n', 256), memset(path4096, '/', 4999);
    struct statx sx;
    struct stat st;
    struct timespec times[2] = {{1, 2}, {3, 4}}, odd[2] = {{1, 1000000000}, {0, 0}}, omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
    put("f", "0123456789"), S(mkdir, "d", 0755), S(symlink, "f", "l"), S(symlink, "loop", "loop"), S(mknod, "p", S_IFIFO | 0644, 0);
    long f = S(open, "f", O_RDWR), r = S(open, "f", O_RDONLY), w = S(open, "f", O_WRONLY), d = S(open, "d", O_RDONLY), o = S(open, "f", O_PATH);
    int p[2];
    S(pipe2, p, O_NONBLOCK);

    /* Names that lead nowhere. */
    T(newfstatat, AT_FDCWD, "", &st, 0), T(newfstatat, AT_FDCWD, name256, &st, 0), T(newfstatat, AT_FDCWD, path4096, &st, 0);
    T(newfstatat, AT_FDCWD, "loop", &st, 0), T(newfstatat, AT_FDCWD, "loop", &st, AT_SYMLINK_NOFOLLOW), T(newfstatat, AT_FDCWD, "f/x", &st, 0);
    T(newfstatat, AT_FDCWD, "f/", &st, 0), T(newfstatat, AT_FDCWD, "l/", &st, AT_SYMLINK_NOFOLLOW), T(newfstatat, AT_FDCWD, "d/.", &st, 0);
    T(newfstatat, f, "x", &st, 0), T(newfstatat, 99, "x", &st, 0), T(newfstatat, 99, "/", &st, 0), T(newfstatat, AT_FDCWD, BAD, &st, 0);
    T(newfstatat, AT_FDCWD, "f", BAD, 0), T(newfstatat, f, "", &st, AT_EMPTY_PATH), T(newfstatat, o, "", &st, AT_EMPTY_PATH), T(newfstatat, AT_FDCWD, "f", &st, 0x10);
    T(newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH), T(newfstatat, 99, "", &st, AT_EMPTY_PATH), T(newfstatat, p[0], "", &st, AT_EMPTY_PATH);
    T(statx, AT_FDCWD, "f", 0, STATX_ALL, &sx), is((sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS), num(sx.stx_size), num(sx.stx_nlink);
    T(statx, AT_FDCWD, "f", 0, 0x80000000u, &sx), T(statx, AT_FDCWD, "f", 0x6000, 0, &sx), T(statx, AT_FDCWD, "f", 0x2000, 0, &sx), T(statx, AT_FDCWD, "f", 0x4000, 0, &sx);
    T(statx, AT_FDCWD, "f", 0x10, 0, &sx), T(statx, AT_FDCWD, "", 0, 0, &sx), T(statx, f, "", AT_EMPTY_PATH, 0, &sx), T(statx, AT_FDCWD, "f", 0, 0, BAD);
    T(statx, AT_FDCWD, "l", AT_SYMLINK_NOFOLLOW, STATX_TYPE, &sx), num(sx.stx_mode & S_IFMT), num(sx.stx_size);
    T(statfs, "none", buf), T(statfs, "f", BAD), T(fstatfs, 99, buf), T(fstatfs, o, buf), T(statfs, "loop", buf);

    T(access, "f", 8), T(access, "f", F_OK), T(access, "f", R_OK | W_OK), T(access, "none", F_OK), T(access, "f/x", F_OK), T(access, BAD, F_OK), T(access, "", F_OK);
    T(faccessat2, AT_FDCWD, "f", R_OK, 0x10), T(faccessat2, AT_FDCWD, "loop", F_OK, AT_SYMLINK_NOFOLLOW), T(faccessat2, f, "", R_OK, AT_EMPTY_PATH);
    T(faccessat2, 99, "f", R_OK, 0), T(faccessat2, 99, "/", F_OK, 0), T(faccessat2, o, "", R_OK, AT_EMPTY_PATH), T(faccessat2, AT_FDCWD, "f", R_OK, AT_EACCESS);
    T(fchmodat, AT_FDCWD, "none", 0644), T(fchmodat, 99, "f", 0644), T(fchmodat, AT_FDCWD, BAD, 0644), T(fchmodat, f, "f", 0644), T(chmod, "loop", 0644);
    T(fchmod, o, 0600), T(fchmod, 99, 0600), T(fchmod, d, 0700), T(fchmod, f, 0107644), S(fstat, f, &st), num(st.st_mode);
    T(fchownat, AT_FDCWD, "f", -1, -1, 0x10), T(fchownat, AT_FDCWD, "none", -1, -1, 0), T(fchownat, AT_FDCWD, "loop", -1, -1, AT_SYMLINK_NOFOLLOW), T(fchownat, f, "", -1, -1, AT_EMPTY_PATH);
    T(fchown, o, -1, -1), T(fchown, 99, -1, -1), T(fchown, f, -1, -1), T(chown, "loop", -1, -1), T(lchown, "loop", -1, -1), T(fchownat, o, "", -1, -1, AT_EMPTY_PATH);
    T(utimensat, AT_FDCWD, "f", times, 0), T(utimensat, AT_FDCWD, "f", odd, 0), T(utimensat, AT_FDCWD, "none", omit, 0), T(utimensat, AT_FDCWD, "f", BAD, 0);
    T(utimensat, AT_FDCWD, "f", times, 1), T(utimensat, AT_FDCWD, NULL, times, 0), T(utimensat, f, NULL, times, 0), T(utimensat, o, NULL, times, 0), T(utimensat, f, NULL, times, AT_SYMLINK_NOFOLLOW);
    T(utimensat, 99, NULL, times, 0), T(utimensat, AT_FDCWD, "l", times, AT_SYMLINK_NOFOLLOW), T(utimensat, AT_FDCWD, "loop", times, 0), T(utimensat, f, "", times, AT_EMPTY_PATH), T(utimensat, 99, "none", omit, 0);
    T(utimensat, p[0], NULL, times, 0), T(utimensat, AT_FDCWD, "", times, 0);

    T(truncate, "none", 1), T(truncate, "d", 1), T(truncate, "f", -1), T(truncate, "p", 1), T(truncate, "loop", 1), T(truncate, BAD, 1), T(truncate, "f/", 1), T(truncate, "f", 10);
    T(ftruncate, r, 1), T(ftruncate, d, 1), T(ftruncate, f, -1), T(ftruncate, p[1], 1), T(ftruncate, o, 1), T(ftruncate, 99, 1), T(ftruncate, f, 10);
    T(fallocate, f, 0, 0, 0), T(fallocate, f, 0, -1, 1), T(fallocate, f, 0, 0, -1), T(fallocate, f, 0, INT64_MAX, 1), T(fallocate, r, 0, 0, 1), T(fallocate, o, 0, 0, 1), T(fallocate, 99, 0, 0, 1);
    T(fallocate, p[1], 0, 0, 1), T(fallocate, d, 0, 0, 1), T(fallocate, f, FALLOC_FL_PUNCH_HOLE, 0, 1), T(fallocate, f, 0x100, 0, 1), T(fallocate, f, FALLOC_FL_KEEP_SIZE, 100, 10), S(fstat, f, &st), num(st.st_size);
    T(fallocate, f, 0, 12, 8), S(fstat, f, &st), num(st.st_size), T(fallocate, f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 3), cat("f");
    T(fallocate, f, FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1);

    T(rename, "none", "x"), T(rename, "f", "none/x"), T(rename, "d", "d/x"), T(rename, "d", "f"), T(rename, "f", "d"), T(rename, "f", ""), T(rename, "", "f"), T(rename, ".", "x"), T(rename, "d/..", "x");
    T(rename, "f", "d/."), T(rename, "f", "x/"), T(rename, "f/", "x"), T(rename, BAD, "x"), T(rename, "f", BAD), T(rename, "f", name256), T(rename, "f", "l2"), T(rename, "l2", "f"), T(rename, "loop", "loop");
    T(renameat2, AT_FDCWD, "f", AT_FDCWD, "d", 3), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "l", 1), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "none", 2), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "x", 8), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "x", 6);
    T(renameat2, 99, "f", AT_FDCWD, "x", 0), T(renameat2, f, "f", AT_FDCWD, "x", 0), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "d", 2), T(renameat2, AT_FDCWD, "f", AT_FDCWD, "d", 2);
    T(link, "none", "x"), T(link, "d", "x"), T(link, "f", "f"), T(link, "f", "d/"), T(link, "f", "none/x"), T(link, "f/", "x"), T(link, "loop", "x"), T(unlink, "x"), T(link, BAD, "x"), T(link, "f", "x/");
    T(linkat, AT_FDCWD, "loop", AT_FDCWD, "x", AT_SYMLINK_FOLLOW), T(linkat, AT_FDCWD, "f", AT_FDCWD, "x", 0x10), T(linkat, 99, "f", AT_FDCWD, "x", 0), T(linkat, AT_FDCWD, "", AT_FDCWD, "x", 0), T(linkat, p[0], "", AT_FDCWD, "x", AT_EMPTY_PATH);
    T(unlink, "none"), T(unlink, "d"), T(unlink, "f/"), T(unlink, "f/x"), T(unlink, ""), T(unlink, "."), T(unlink, ".."), T(unlink, "/"), T(unlink, BAD), T(unlinkat, AT_FDCWD, "f", 1), T(unlinkat, AT_FDCWD, "f", AT_REMOVEDIR), T(unlinkat, 99, "f", 0);
    T(rmdir, "none"), T(rmdir, "f"), T(rmdir, "."), T(rmdir, ".."), T(rmdir, "/"), T(rmdir, ""), T(rmdir, "d/."), T(rmdir, "l"), T(rmdir, "host"), T(rmdir, "d/..");
    T(mkdir, "d", 0755), T(mkdir, "none/x", 0755), T(mkdir, "f/x", 0755), T(mkdir, "", 0755), T(mkdir, ".", 0755), T(mkdir, "/", 0755), T(mkdir, "loop", 0755), T(mkdir, "loop/x", 0755), T(mkdir, "e/", 0755), T(rmdir, "e/"), T(mkdir, name256, 0755), T(mkdirat, f, "x", 0755);
    T(symlink, "", "x"), T(symlink, "a", "f"), T(symlink, "a", ""), T(symlink, "a", "x/"), T(symlink, BAD, "x"), T(symlink, path4096, "x"), T(symlinkat, "a", 99, "x"), T(symlinkat, "a", f, "x");
    T(readlink, "f", buf, 9), T(readlink, "l", buf, 0), T(readlink, "l", buf, -1), T(readlink, "l", BAD, 9), T(readlink, "none", buf, 9), T(readlink, "", buf, 9), T(readlink, "l/", buf, 9), T(readlinkat, f, "", buf, 9), T(readlinkat, 99, "l", buf, 9), T(readlinkat, 99, "", buf, 9);

    T(getdents64, f, buf, 512), T(getdents64, d, buf, 10), T(getdents64, 99, buf, 512), T(getdents64, o, buf, 512), T(getdents64, d, BAD, 512);
    T(chdir, "f"), T(chdir, "none"), T(chdir, "loop"), T(chdir, ""), T(chdir, BAD), T(fchdir, f), T(fchdir, 99), T(fchdir, d), T(chdir, ".."), T(getcwd, buf, 0), T(getcwd, buf, 1), T(getcwd, BAD, 4096);
    num(S(umask, 0777)), num(S(umask, 0xffff022)), num(S(umask, 022));

    T(dup2, 99, 5), T(dup2, f, -1), T(dup2, f, 1 << 30), is(S(dup2, f, f) == f), T(dup2, 99, 99), T(dup3, f, f, 0), T(dup3, f, 50, 1), T(dup3, 99, 50, 0), T(dup3, f, -1, 0), T(dup3, f, 50, O_CLOEXEC), T(fcntl, 50, F_GETFD);
    T(close_range, 50, 49, 0), T(close_range, 50, 60, 8), T(close_range, 50, 60, CLOSE_RANGE_CLOEXEC), T(close_range, 50, 60, CLOSE_RANGE_UNSHARE), T(fcntl, 50, F_GETFD), T(close_range, 60, ~0u, 0), T(close, 99), T(close, -1);

    struct pollfd polls[3] = {{f, POLLIN | POLLOUT | POLLPRI, 9}, {-1, POLLIN, 9}, {99, POLLIN, 9}};
    T(poll, polls, 3, 0);
    printf("%x %x %x\n", polls[0].revents, polls[1].revents, polls[2].revents);
    T(poll, BAD, 1, 0), T(poll, NULL, 0, 0), T(poll, polls, 1 << 30, 0), T(poll, polls, -1, 0), T(ppoll, polls, 1, odd, NULL, 8), T(ppoll, polls, 1, BAD, NULL, 8), T(ppoll, polls, 1, times, BAD, 8), T(ppoll, polls, 1, times, buf, 4);
    struct timespec brief = {0, 5};
    struct timeval tv = {0, 0}, badtv = {-1, 0}, much = {0, 2000000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(f, &set);
    T(select, f + 1, &set, &set, &set, &tv), T(select, -1, NULL, NULL, NULL, &tv), T(select, f + 1, BAD, NULL, NULL, &tv), T(select, 0, NULL, NULL, NULL, &badtv);
    FD_ZERO(&set);
    FD_SET(f, &set);
    T(select, f + 1, &set, NULL, NULL, &much);
    FD_SET(40, &set);
    T(select, 41, &set, NULL, NULL, &tv);
    T(pselect6, 0, NULL, NULL, NULL, odd, NULL), T(pselect6, 0, NULL, NULL, NULL, &brief, BAD), T(select, 0, NULL, NULL, NULL, BAD);

    struct iovec one = {buf, 4};
    T(preadv2, f, &one, 1, 0, 0, 0x1000), T(preadv2, f, &one, 1, -2, 0, 0), T(preadv2, f, &one, 1, 0, 0, RWF_HIPRI), T(preadv2, p[0], &one, 1, 0, 0, 0), T(preadv2, p[0], &one, 1, -1, 0, 0), T(pwritev2, p[1], &one, 1, 0, 0, 0), T(pwritev2, f, &one, 1025, 0, 0, 0), T(preadv, f, BAD, 1, 0), T(readv, f, &one, -1), T(preadv, 99, &one, 1, 0);
    T(pwritev2, f, &one, 1, 0, 0, RWF_APPEND), S(fstat, f, &st), num(st.st_size), T(preadv2, p[0], &one, 1, -1, -1, RWF_NOWAIT), T(pwritev2, f, &one, 1, -1, -1, RWF_APPEND | RWF_DSYNC | RWF_SYNC), num(S(lseek, f, 0, SEEK_CUR)), num(S(lseek, f, 0, SEEK_END));
    T(pread64, f, buf, 4, -1), T(pread64, p[0], buf, 4, 0), T(pread64, d, buf, 4, 0), T(pread64, w, buf, 4, 0), T(pwrite64, r, buf, 4, 0), T(pread64, o, buf, 4, 0), T(read, d, buf, 4), T(write, d, buf, 4), T(read, f, BAD, 0), T(read, w, buf, 0), T(write, r, buf, 0), T(pwrite64, f, buf, 0, -1);
    T(lseek, f, -1, SEEK_SET), T(lseek, f, 0, 5), T(lseek, p[0], 0, SEEK_SET), T(lseek, o, 0, SEEK_SET), T(lseek, f, 100, SEEK_DATA), T(lseek, f, -1, SEEK_HOLE), T(lseek, f, 0, SEEK_SET);
    long off = 0, neg = -1, six = 6, g = S(open, "g", O_RDWR | O_CREAT, 0600), a = S(open, "g", O_WRONLY | O_APPEND);
    T(copy_file_range, f, &off, g, NULL, 5, 0), num(off), T(copy_file_range, f, NULL, g, NULL, 5, 1), T(copy_file_range, f, NULL, a, NULL, 5, 0), T(copy_file_range, d, NULL, g, NULL, 5, 0), T(copy_file_range, p[0], NULL, g, NULL, 5, 0), T(copy_file_range, w, NULL, g, NULL, 5, 0), T(copy_file_range, f, NULL, r, NULL, 5, 0), T(copy_file_range, 99, NULL, g, NULL, 5, 0);
    off = 0, T(copy_file_range, f, &off, f, NULL, 5, 0), T(copy_file_range, f, BAD, g, NULL, 5, 0), T(copy_file_range, f, &neg, g, NULL, 5, 0), off = 1000, T(copy_file_range, f, &off, g, NULL, 5, 0), off = 0, T(copy_file_range, f, &off, f, &six, 4, 0), T(copy_file_range, o, NULL, g, NULL, 5, 0), T(copy_file_range, f, NULL, g, NULL, 0, 0);
    T(sync_file_range, f, 0, 0, 8), T(sync_file_range, f, -1, 1, 0), T(sync_file_range, f, 0, -1, 0), T(sync_file_range, p[0], 0, 1, 0), T(sync_file_range, o, 0, 0, 0), T(sync_file_range, d, 0, 0, 2);
    T(fadvise64, f, 0, 0, 6), T(fadvise64, f, 0, -1, 0), T(fadvise64, p[0], 0, 0, 0), T(fadvise64, 99, 0, 0, 0), T(fadvise64, o, 0, 0, 0), T(fadvise64, d, 0, 0, 3), T(readahead, w, 0, 1), T(readahead, p[0], 0, 1), T(readahead, d, 0, 1), T(readahead, o, 0, 1);
    T(fsync, p[0]), T(fsync, o), T(fdatasync, d), T(syncfs, 99), T(fsync, 99), T(syncfs, o), T(syncfs, p[0]);
    T(open, "f", O_RDONLY | O_DIRECTORY), T(open, "d", O_WRONLY), T(open, "d", O_RDONLY | O_CREAT, 0644), T(open, "loop", O_RDONLY), T(open, "l", O_RDONLY | O_NOFOLLOW), T(open, "f", O_CREAT | O_EXCL, 0644), T(open, "l", O_CREAT | O_EXCL, 0644), T(open, "none", O_RDONLY), T(open, "f/", O_RDONLY), T(open, "", O_RDONLY), T(open, BAD, O_RDONLY), T(open, "x/", O_RDONLY | O_CREAT, 0644), T(open, name256, O_RDONLY | O_CREAT, 0644), T(open, "p", O_WRONLY | O_NONBLOCK), T(open, "d", O_TMPFILE | O_RDONLY, 0600), T(open, "f", O_TMPFILE | O_RDWR, 0600), T(openat, f, "x", O_RDONLY), T(openat, 99, "x", O_RDONLY), T(open, "none/x", O_RDONLY | O_CREAT, 0644);
    return 0;
}
