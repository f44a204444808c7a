// covers: mount umount2 open execve execveat mmap mprotect access chmod chown utimensat setxattr truncate statfs mknod
// open: skip the host's files have no owners of the emulated machine
#include "namespace.h"
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

/* What the flags of a mount forbid, in namespaces of its own. */

/* Flags of a mount as statfs(2) and mountinfo have them. */
static void flags_of(const char *path)
{
    struct statfs fs;
    char line[4096], real[4096];
    S(statfs, path, &fs);
    printf("%s: flags %#lx", path, (long)fs.f_flags & ~0x20L);
    FILE *f = fopen("/proc/self/mountinfo", "r");
    realpath(path, real);
    char shown[600] = "";
    while (fgets(line, sizeof line, f)) {
        char place[4096], flags[256], whole[256], *tail = strstr(line, " - ");
        sscanf(line, "%*s %*s %*s %*s %4095s %255s", place, flags);
        if (!strcmp(place, real) && sscanf(tail, " - %*s %*s %2[row]", whole) == 1)
            snprintf(shown, sizeof shown, " %s / %s", flags, whole);
    }
    fclose(f);
    printf("%s\n", shown);
}

static void run(const char *path)
{
    fflush(stdout);
    int status;
    pid_t pid = fork();
    if (!pid) {
        char *argv[] = {(char *)path, NULL}, *envp[] = {NULL};
        _exit(S(execve, path, argv, envp) == -EACCES ? 13 : 99);
    }
    waitpid(pid, &status, 0);
    told(path, status);
}

static void copy(const char *from, const char *to)
{
    static char all[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    long n = read(in, all, sizeof all);
    if (write(out, all, n) != n)
        printf("copy failed\n");
    close(in);
    close(out);
}

static void noexec(void)
{
    printf("-- noexec\n");
    T(mount, "none", "m", "tmpfs", MS_NOEXEC, "mode=755");
    flags_of("m");
    copy("/bin/true", "m/true");
    put("m/script", "#!/bin/true\n");
    S(chmod, "m/script", 0755);
    run("m/true");
    run("m/script");
    T(access, "m/true", X_OK);
    T(access, "m/true", R_OK | W_OK);
    T(access, "m", X_OK);
    int fd = open("m/true", O_RDONLY);
    check(mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
    check(mmap(0, 4096, PROT_EXEC, MAP_SHARED, fd, 0));
    char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0), *q = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    is(p != MAP_FAILED);
    check(mprotect(p, 4096, PROT_READ | PROT_EXEC));
    check(mprotect(p, 4096, PROT_READ | PROT_WRITE));
    char *argv[] = {"true", NULL}, *envp[] = {NULL};
    T(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
    close(fd);
    /* Only a script lies there, the interpreter elsewhere. */
    run("/bin/true");
    T(mount, "none", "m", "none", MS_REMOUNT | MS_BIND, 0);
    flags_of("m");
    run("m/true");
    run("m/script");
    /* What was mapped stays as it was. */
    check(mprotect(q, 4096, PROT_READ | PROT_EXEC));
    T(umount2, "m", MNT_DETACH);
}

static void nodev(void)
{
    printf("-- nodev\n");
    T(mount, "none", "m", "tmpfs", 0, 0);
    put("m/null", "");
    put("m/zero", "");
    T(mount, "/dev/null", "m/null", 0, MS_BIND, 0);
    int fd = open("m/null", O_RDWR);
    is(fd >= 0);
    close(fd);
    T(mount, 0, "m/null", 0, MS_REMOUNT | MS_BIND | MS_NODEV, 0);
    T(open, "m/null", O_RDWR);
    T(open, "m/null", O_RDONLY);
    fd = (int)S(open, "m/null", O_PATH);
    is(fd >= 0);
    close(fd);
    T(access, "m/null", R_OK | W_OK);
    T(mknod, "m/dev", S_IFCHR | 0666, 0x103);
    T(mount, "/dev/zero", "m/zero", 0, MS_BIND, 0);
    T(mount, 0, "m/zero", 0, MS_REMOUNT | MS_BIND | MS_RDONLY, 0);
    /* A device is no part of the file system that it is in. */
    fd = (int)S(open, "m/zero", O_RDWR);
    is(fd >= 0);
    close(fd);
    T(access, "m/zero", W_OK);
    T(chmod, "m/zero", 0600);
    T(umount2, "m", MNT_DETACH);
}

static void nosymfollow(void)
{
    printf("-- nosymfollow\n");
    T(mount, "none", "m", "tmpfs", 256, 0);
    flags_of("m");
    S(mkdir, "m/dir", 0755);
    put("m/dir/file", "text");
    S(symlink, "dir", "m/link");
    S(symlink, "dir/file", "m/last");
    char buf[64];
    T(readlink, "m/link", buf, sizeof buf);
    T(open, "m/link/file", O_RDONLY);
    T(open, "m/last", O_RDONLY);
    T(open, "m/last", O_RDONLY | O_NOFOLLOW);
    T(open, "m/new/file", O_RDONLY);
    struct stat st;
    T(stat, "m/last", &st);
    T(lstat, "m/last", &st);
    T(chdir, "m/link");
    T(unlink, "m/last");
    S(symlink, "m/dir", "outside");
    T(access, "outside/file", R_OK);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND, 0);
    T(access, "m/link/file", R_OK);
    S(unlink, "outside");
    T(umount2, "m", 0);
}

static void all_changes(const char *dir)
{
    char file[64], other[64];
    struct timespec times[2] = {{1, 0}, {1, 0}};
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    T(open, file, O_RDWR);
    T(open, file, O_RDONLY | O_TRUNC);
    T(open, file, O_RDONLY | O_CREAT, 0644);
    T(open, other, O_RDONLY | O_CREAT, 0644);
    T(open, dir, O_RDWR | O_TMPFILE, 0644);
    T(access, file, W_OK);
    T(access, dir, W_OK);
    T(access, file, R_OK);
    T(chmod, file, 0600);
    T(chown, file, 0, 0);
    T(utimensat, AT_FDCWD, file, times, 0);
    T(setxattr, file, "user.name", "1", 1, 0);
    T(removexattr, file, "user.name");
    T(truncate, file, 0);
    T(mkdir, other, 0755);
    T(mknod, other, S_IFIFO | 0644, 0);
    T(symlink, "x", other);
    T(link, file, other);
    T(rename, file, other);
    T(unlink, file);
    T(rmdir, dir);
    int fd = (int)S(open, file, O_RDONLY);
    T(fchmod, fd, 0600);
    T(fchown, fd, 0, 0);
    T(utimensat, fd, 0, times, 0);
    T(fsetxattr, fd, "user.name", "1", 1, 0);
    T(ftruncate, fd, 0);
    cat(file);
    close_range(3, ~0u, 0);
}

static void readonly(void)
{
    printf("-- read-only by a bind mount\n");
    S(mkdir, "b", 0755);
    T(mount, "none", "m", "tmpfs", 0, "mode=755");
    put("m/file", "text");
    T(mount, "m", "b", 0, MS_BIND | MS_RDONLY, 0);
    flags_of("b");
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, 0);
    flags_of("b");
    flags_of("m");
    all_changes("b");
    put("m/file", "other text");
    cat("b/file");
    int fd = (int)S(open, "m/file", O_RDWR);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_RDONLY, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_RDONLY, 0);
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND, 0);
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND | MS_RDONLY, 0);
    T(write, fd, "more", 4);
    close(fd);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_RDONLY, 0);
    flags_of("m");
    T(open, "m/file", O_WRONLY);
    T(mount, 0, "m/file", 0, MS_REMOUNT | MS_BIND, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NOATIME, 0);
    flags_of("m");
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NODEV, 0);
    flags_of("m");
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_STRICTATIME, 0);
    flags_of("m");
    printf("-- read-only as a whole\n");
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_RDONLY, 0);
    flags_of("m");
    flags_of("b");
    T(open, "b/file", O_WRONLY);
    T(chmod, "b/file", 0600);
    T(access, "b/file", W_OK);
    T(mount, 0, "b", 0, MS_REMOUNT, 0);
    flags_of("m");
    flags_of("b");
    T(chmod, "b/file", 0600);
    T(chmod, "m/file", 0600);
    T(umount2, "b", 0);
    T(umount2, "m", 0);
    S(rmdir, "b");
}

/* A namespace with less privilege does not take flags away that it came with. */
static void locked(void)
{
    printf("-- locked\n");
    T(mount, "none", "m", "tmpfs", MS_NOEXEC | MS_NODEV, "mode=755");
    T(unshare, CLONE_NEWUSER | CLONE_NEWNS);
    map_root(0, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NOEXEC, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NODEV | MS_NOATIME, 0);
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NODEV | MS_RDONLY, 0);
    flags_of("m");
    T(mount, 0, "m", 0, MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NODEV, 0);
    flags_of("m");
    T(mount, 0, "m", 0, MS_REMOUNT | MS_RDONLY | MS_NOEXEC | MS_NODEV, 0);
    S(mkdir, "b", 0755);
    T(mount, "m", "b", 0, MS_BIND, 0);
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND, 0);
    T(mount, 0, "b", 0, MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NODEV | MS_NOSUID, 0);
    flags_of("b");
    T(umount2, "m", 0);
    T(umount2, "b", 0);
    S(rmdir, "b");
}

int main(void)
{
    become_root();
    S(mkdir, "m", 0755);
    noexec();
    nodev();
    nosymfollow();
    readonly();
    locked();
    S(rmdir, "m");
    return 0;
}
