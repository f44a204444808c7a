// covers: mount umount2 pivot_root unshare setns chroot getcwd
// native: skip not every machine lets users make namespaces; the output is that of Linux where they may
// expect: mounts.out
// open: skip the host's files have no owners of the emulated machine
#include "emulated.h"
#include "namespace.h"
#include <sys/mount.h>

/* Mounts of a mount namespace of its own. */

static void here(void)
{
    char buf[256] = "";
    long n = S(getcwd, buf, sizeof buf);
    char *tail = strrchr(buf, '/');
    printf("at %s\n", n < 0 ? "error" : tail);
}

/* The line of a mount, without what differs from machine to machine. */
static void mounted(const char *end)
{
    static char text[1 << 16];
    int fd = open("/proc/self/mountinfo", O_RDONLY);
    long n = 0, got;
    while ((got = read(fd, text + n, sizeof text - 1 - n)) > 0)
        n += got;
    text[n] = 0;
    close(fd);
    char *save;
    int found = 0;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(0, "\n", &save)) {
        char place[512], flags[256], *kind = strstr(l, " - ");
        sscanf(l, "%*s %*s %*s %*s %511s %255s", place, flags);
        size_t p = strlen(place), e = strlen(end);
        if (p < e || strcmp(place + p - e, end) != 0 || !kind)
            continue;
        char type[64] = "", source[256] = "";
        sscanf(kind, " - %63s %255s", type, source);
        printf("%s: %s %s %s%s\n", end, flags, type, strstr(source, "/") ? "disk" : source,
               strstr(l, "shared:") ? " shared" : "");
        found = 1;
    }
    if (!found)
        printf("%s: not mounted\n", end);
}

int main(void)
{
    become_a_user();
    unsigned uid = getuid(), gid = getgid();
    T(mount, "none", "host", "tmpfs", 0, 0);
    T(unshare, CLONE_NEWUSER | CLONE_NEWNS);
    map_root(uid, gid);

    printf("== errors\n");
    T(mount, "none", "nowhere", "tmpfs", 0, 0);
    T(mount, "none", "host", 0, 0, 0);
    T(mount, "none", "host", "nonsense", 0, 0);
    T(mount, "none", "host/file", "tmpfs", 0, 0);
    T(mount, "none", "host", "tmpfs", 0, "nonsense=1");
    T(mount, BAD, "host", "tmpfs", 0, 0);
    T(mount, "nowhere", "host", 0, MS_BIND, 0);
    T(mount, "host/file", "host", 0, MS_BIND, 0);
    T(mount, 0, "host", 0, MS_BIND, 0);
    T(mount, 0, "host", 0, MS_PRIVATE, 0);
    T(mount, 0, "host", 0, MS_REMOUNT, 0);
    T(mount, "host", "/", 0, MS_MOVE, 0);
    T(umount2, "host", 0);
    T(umount2, "nowhere", 0);
    T(umount2, "host", 0x100);
    T(umount2, "host", MNT_EXPIRE | MNT_DETACH);
    T(umount2, "/proc", MNT_DETACH);
    T(mount, 0, "/", 0, MS_PRIVATE | MS_SHARED, 0);
    T(mount, 0, "/", 0, MS_REC | MS_PRIVATE, 0);

    printf("== tmpfs\n");
    struct stat out, in, dots;
    stat("host", &out);
    T(mount, "mine", "host", "tmpfs", MS_NOSUID | MS_NODEV, "mode=700,size=1m");
    mounted("/host");
    stat("host", &in);
    stat("host/..", &dots);
    is(out.st_dev != in.st_dev && dots.st_dev == out.st_dev);
    printf("mode %o owner %d\n", in.st_mode, in.st_uid);
    T(access, "host/file", F_OK);
    put("host/new", "in tmpfs");
    T(mkdir, "host/dir", 0755);
    T(chdir, "host/dir");
    here();
    T(chdir, "..");
    here();
    T(chdir, "..");
    T(access, "host/new", F_OK);
    T(link, "host/new", "linked");
    T(rename, "host/new", "moved");
    T(rename, "host", "other");
    T(rmdir, "host");
    T(umount2, "host/dir", 0);
    int held = open("host/new", O_RDONLY);
    T(umount2, "host", 0);
    close(held);
    T(mount, 0, "host", 0, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, 0);
    mounted("/host");
    T(open, "host/new", O_RDWR);
    T(open, "host/more", O_CREAT | O_WRONLY, 0644);
    T(mkdir, "host/more", 0755);
    T(unlink, "host/new");
    cat("host/new");

    printf("== bind\n");
    T(mkdir, "bound", 0755);
    T(mount, "host", "bound", 0, MS_BIND, 0);
    cat("bound/new");
    T(unlink, "bound/new");
    T(umount2, "host", MNT_DETACH);
    T(access, "host/file", F_OK);
    cat("bound/new");
    T(umount2, "bound", 0);
    T(umount2, "bound", 0);
    T(mount, "host/file", "host/other", 0, MS_BIND, 0);
    cat("host/other");
    T(unlink, "host/other");
    T(unlink, "host/file");
    T(umount2, "host/other", 0);
    T(access, "host/file", F_OK);

    printf("== move and stack\n");
    T(mount, "one", "bound", "tmpfs", 0, 0);
    put("bound/first", "1");
    T(mount, "two", "bound", "tmpfs", 0, 0);
    T(access, "bound/first", F_OK);
    T(umount2, "bound", 0);
    T(access, "bound/first", F_OK);
    T(mkdir, "place", 0755);
    T(mount, "bound", "place", 0, MS_MOVE, 0);
    T(access, "bound/first", F_OK);
    T(access, "place/first", F_OK);
    T(mount, "place", "place/first", 0, MS_MOVE, 0);
    mounted("/place");
    mounted("/bound");
    T(mount, 0, "place", 0, MS_SHARED, 0);
    mounted("/place");
    T(mount, 0, "place", 0, MS_PRIVATE, 0);

    printf("== another namespace\n");
    int mine = open("/proc/self/ns/mnt", O_RDONLY);
    T(unshare, CLONE_NEWNS);
    T(umount2, "place", 0);
    T(access, "place/first", F_OK);
    char cwd[256];
    S(getcwd, cwd, sizeof cwd);
    T(setns, mine, CLONE_NEWNS);
    char root[256];
    S(getcwd, root, sizeof root);
    is(strcmp(root, "/") == 0);
    T(chdir, cwd);
    T(access, "place/first", F_OK);

    printf("== pivot_root\n");
    T(mount, "root", "bound", "tmpfs", 0, 0);
    T(mkdir, "bound/old", 0755);
    T(mkdir, "bound/proc", 0755);
    T(mount, "/proc", "bound/proc", 0, MS_BIND | MS_REC, 0);
    T(pivot_root, "bound", "host");
    T(pivot_root, "bound/old", "bound/old");
    T(pivot_root, "host/file", "bound");
    T(pivot_root, "bound", "bound/old");
    T(chdir, "/");
    T(access, "/old/proc", F_OK);
    T(umount2, "/old", 0);
    T(umount2, "/old", MNT_DETACH);
    T(access, "/old/proc", F_OK);
    T(access, "/proc/self/status", F_OK);
    T(mkdir, "/jail", 0755);
    T(chroot, "/jail");
    T(unshare, CLONE_NEWUSER);
    T(chdir, "..");
    long n = S(getcwd, root, sizeof root);
    num(n);
    printf("%s\n", root);
    return 0;
}
