// covers: chroot mknod mknodat getcwd chdir
// open: skip owners and devices stay in the emulated machine
/* What root may do to names: another root directory, devices. Where the caller is not root, each call says so. */
#include "guest.h"
#include <linux/capability.h>
#include <sys/statvfs.h>

static void where(const char *path)
{
    struct stat st, root;
    long result = S(stat, path, &st);
    S(stat, "/", &root);
    printf("%s: %s\n", path,
           result < 0 ? strerrorname_np(-result) : st.st_ino == root.st_ino ? "the root" : "another directory");
}

static void device(const char *name, mode_t mode, dev_t number)
{
    struct stat st;
    char byte = 1;
    long made = S(mknodat, AT_FDCWD, name, mode, number);
    printf("%s: %s\n", name, made < 0 ? strerrorname_np(-made) : "made");
    if (made < 0)
        return;
    stat(name, &st);
    printf("  mode %o number %lx\n", st.st_mode, st.st_rdev);
    long fd = S(open, name, O_RDWR | O_NONBLOCK);
    printf("  open: %s\n", fd < 0 ? strerrorname_np(-fd) : "yes");
    if (fd >= 0) {
        long got = S(read, fd, &byte, 1);
        printf("  read %ld: %d, write %ld\n", got, byte, S(write, fd, "x", 1));
        S(close, fd);
    }
    S(unlink, name);
}

/* The two devices of every machine. Who may make some is a matter of capabilities and of the user namespace, and
 * file systems may be mounted so that none opens. */
static void character(const char *name, mode_t mode, dev_t number)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct caps[2] = {{0}};
    struct statvfs fs;
    char map[64] = "";
    unsigned inner = 1, outer = 1, count = 0;
    long fd = S(open, "/proc/self/uid_map", O_RDONLY);

    S(read, fd, map, sizeof map - 1);
    S(close, fd);
    sscanf(map, "%u %u %u", &inner, &outer, &count);
    S(capget, &header, caps);
    statvfs(".", &fs);
    int may = caps[0].effective >> CAP_MKNOD & 1 && count == 0xffffffff, right;
    long made = S(mknod, name, mode, number);
    if (made < 0) {
        right = made == -EPERM && !may;
    } else {
        struct stat st;
        char byte = 1;
        right = may && stat(name, &st) == 0 && st.st_mode == mode && st.st_rdev == number;
        fd = S(open, name, O_RDWR | O_NONBLOCK);
        if (!(fs.f_flag & ST_NODEV))
            right = right && S(read, fd, &byte, 1) == (number == 0x105) && byte == (number != 0x105) && S(write, fd, "x", 1) == 1;
        S(close, fd);
        S(unlink, name);
    }
    printf("%s: %s\n", name, right ? "as it may be made" : "NO");
}

int main(void)
{
    char path[4096];

    S(umask, 0);
    device("socket", S_IFSOCK | 0666, 0);
    device("pipe", S_IFIFO | 0666, 7);
    character("null", S_IFCHR | 0640, 0x103);
    character("zero", S_IFCHR | 0666, 0x105);
    T(mknod, "dir", S_IFDIR | 0777, 0);
    T(mknod, "strange", 0150000, 0);
    T(mknod, "host/file", S_IFCHR, 0x103);

    S(mkdir, "jail", 0755);
    S(mkdir, "jail/in", 0755);
    put("jail/in/file", "inside");
    S(symlink, "/in/file", "jail/absolute");
    S(symlink, "../../../in", "jail/upwards");
    T(chroot, "jail/in/file");
    T(chroot, "nowhere");
    T(chroot, BAD);
    long outside = S(open, ".", O_RDONLY | O_DIRECTORY);
    long jailed = S(chroot, "jail");
    printf("chroot: %s\n", jailed < 0 ? strerrorname_np(-jailed) : "done");
    if (jailed < 0)
        return 0;
    T(access, "/in/file", R_OK);
    T(access, "/absolute", R_OK);
    T(access, "/upwards/file", R_OK);
    T(access, "/etc/passwd", F_OK);
    long count = S(getcwd, path, sizeof path);
    is(count > 13 && memcmp(path, "(unreachable)", 13) == 0);
    T(chdir, "/in");
    T(getcwd, path, sizeof path);
    printf("%s\n", path);
    T(chdir, "../../..");
    T(getcwd, path, sizeof path);
    printf("%s\n", path);
    where("..");
    where("in/..");
    where("in");
    long fd = S(open, "/in/file", O_RDONLY);
    is(fd >= 0);
    /* Whoever has a directory outside gets there. */
    T(fchdir, outside);
    T(access, "host/file", R_OK);
    T(chroot, ".");
    T(chdir, "/");
    T(getcwd, path, sizeof path);
    printf("%s\n", path);
    return 0;
}
