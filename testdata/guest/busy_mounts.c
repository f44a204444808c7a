// covers: mount umount2 unshare chdir open statfs rmdir rename
// open: skip owners stay in the emulated machine
#include "namespace.h"
#include <sys/mount.h>
#include <sys/statfs.h>

/* File systems that are mounted over each other, taken away while they are used, and made read-only. */
static void mounts(void)
{
    struct statfs f;
    struct stat a, b;
    char buf[16];
    become_root(), S(mkdir, "m", 0755), S(mkdir, "n", 0755), put("m/under", "under"), put("file", "a file");
    show("private", S(mount, "none", "/", 0, MS_REC | MS_PRIVATE, 0)), T(mount, "none", "m", "tmpfs", 0, "size=1m"), T(access, "m/under", F_OK),
        S(statfs, "m", &f), num(f.f_type), put("m/f", "in the first"), S(stat, "m", &a), S(stat, ".", &b), is(a.st_dev != b.st_dev),
        T(rename, "m/f", "f"), T(link, "m/f", "f"), T(rmdir, "m"), T(rename, "m", "o"), T(mount, "none", "m", "tmpfs", 0, 0), T(access, "m/f", F_OK),
        put("m/g", "in the second"), T(umount2, "m", 0), cat("m/f"), T(access, "m/g", F_OK);
    /* In use: by a working directory, a descriptor; taken away all the same. */
    long fd = S(open, "m/f", O_RDONLY);
    T(umount2, "m", 0), S(close, fd), S(chdir, "m"), T(umount2, ".", 0), T(umount2, "../m", 0), T(chdir, ".."), fd = S(open, "m/f", O_RDONLY),
        T(umount2, "m", MNT_DETACH), T(read, fd, buf, 5), T(access, "m/f", F_OK), cat("m/under"), T(umount2, "m", 0), S(close, fd);
    T(mount, "none", "m", "tmpfs", 0, 0), T(umount2, "m", MNT_EXPIRE), T(umount2, "m", MNT_EXPIRE | MNT_DETACH), T(umount2, "m", 16),
        S(symlink, "m", "l"), T(umount2, "l", UMOUNT_NOFOLLOW), T(umount2, "l", 0), T(umount2, "m", 0), T(umount2, "none", 0), T(umount2, "file", 0),
        T(umount2, BAD, 0);
    /* Parts of the tree at another place: a directory, a file. */
    put("n/seen", "seen twice"), T(mount, "n", "m", 0, MS_BIND, 0), cat("m/seen"), put("m/made", "there"), cat("n/made"),
        T(mount, "none", "m", 0, MS_REMOUNT | MS_BIND | MS_RDONLY, 0), T(open, "m/x", O_CREAT | O_WRONLY, 0644), T(unlink, "m/seen"),
        T(mkdir, "m/d", 0755), T(chmod, "m/seen", 0600), T(access, "m/seen", W_OK), T(open, "m/seen", O_WRONLY), T(open, "n/seen", O_WRONLY),
        T(truncate, "m/seen", 0), T(rename, "m/seen", "m/y"), T(utimensat, AT_FDCWD, "m/seen", 0, 0), T(unlink, "n/made"), T(access, "m/made", F_OK),
        T(umount2, "m", 0), T(mount, "file", "n/seen", 0, MS_BIND, 0), cat("n/seen"), T(unlink, "n/seen"), T(rename, "n/seen", "n/z"),
        T(rename, "file", "file2"), cat("n/seen"), T(umount2, "n/seen", 0), cat("n/seen");
    T(mount, "m", "file2", 0, MS_BIND, 0), T(mount, "file2", "m", 0, MS_BIND, 0), T(mount, "none", "m", 0, MS_BIND, 0),
        T(mount, "none", "none", "tmpfs", 0, 0), T(mount, "none", "m", "nonesuch", 0, 0), T(mount, "none", "m", 0, 0, 0),
        T(mount, BAD, "m", "tmpfs", 0, 0), T(mount, "none", BAD, "tmpfs", 0, 0), T(mount, "none", "m", BAD, 0, 0),
        T(mount, "none", "file2", "tmpfs", 0, 0), T(mount, "none", "m", 0, MS_REMOUNT, 0), T(mount, "none", "m", 0, MS_PRIVATE, 0),
        T(mount, "/dev/null", "m", "ext4", 0, 0), T(mount, "none", "m", "tmpfs", 0, "nonesuch=1");
    /* Moved. */
    T(mount, "none", "m", "tmpfs", 0, "mode=0700"), S(stat, "m", &a), printf("%o\n", a.st_mode), put("m/t", "moves"),
        T(mount, "m", "n", 0, MS_MOVE, 0), cat("n/t"), T(access, "m/t", F_OK), T(mount, "m", "n", 0, MS_MOVE, 0), T(mount, "n", "n/t", 0, MS_MOVE, 0),
        T(umount2, "n", 0), cat("n/seen");
}

int main(void)
{
    become_a_user();
    CASE(mounts);
    return 0;
}
