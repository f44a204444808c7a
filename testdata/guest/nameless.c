// covers: access faccessat2 chmod chown utimensat utime truncate chdir chroot execve linkat getxattr listxattr
/* /proc/self/fd/N of pipes, sockets and the like, to which no other name leads. */
#include "guest.h"
#include <sys/eventfd.h>
#include <sys/socket.h>

/* What O_PATH opens only stands for it, and its link of /proc has an owner and times that nobody keeps. */
static void stands_for(int fd, const char *path)
{
    struct stat it = {0}, same = {0};
    struct timespec times[2] = {{1, 2}, {3, 4}};
    char byte;
    int o = (int)S(open, path, O_PATH | O_CLOEXEC);
    is(S(fstat, fd, &it) == 0 && S(fstat, o, &same) == 0 && it.st_ino == same.st_ino && it.st_mode == same.st_mode);
    T(read, o, &byte, 1), T(write, o, "x", 1), T(fchmod, o, 0600), num(S(fcntl, o, F_GETFL)), num(S(fcntl, o, F_GETFD)), T(fchdir, o);
    T(open, path, O_PATH | O_DIRECTORY), T(lseek, o, 0, SEEK_CUR), T(close, o);
    T(utimensat, AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), T(utimensat, AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    T(lchown, path, -1, -1), T(utimensat, AT_FDCWD, "/proc/self/exe", times, AT_SYMLINK_NOFOLLOW);
}
static void look(const char *what, int fd)
{
    char path[64], behind[80], buf[8];
    sprintf(path, "/proc/self/fd/%d", fd), sprintf(behind, "%s/x", path);
    printf("%s\n", what);
    T(access, path, F_OK), T(access, path, R_OK), T(access, path, W_OK), T(access, path, X_OK);
    T(access, behind, F_OK), T(access, path, 8);
    T(faccessat2, AT_FDCWD, path, R_OK, AT_EACCESS), T(faccessat2, AT_FDCWD, path, R_OK, AT_SYMLINK_NOFOLLOW);
    T(faccessat2, fd, "", R_OK | W_OK, AT_EMPTY_PATH);
    T(truncate, path, 0), T(truncate, behind, 0);
    T(chdir, path), T(chdir, behind), T(execve, path, NULL, NULL);
    T(mkdir, path, 0), T(rmdir, path), T(unlink, path), T(rename, path, "x"), T(symlink, "x", path);
    T(linkat, AT_FDCWD, path, AT_FDCWD, "y", AT_SYMLINK_FOLLOW);
    T(getxattr, path, "user.a", buf, sizeof buf);
    T(setxattr, path, "user.a", "b", 1, 0), T(removexattr, path, "user.a");
    T(open, path, O_RDONLY | O_DIRECTORY), T(readlink, path, buf, 0);
    stands_for(fd, path);
}

int main(void)
{
    int pipes[2], sockets[2];
    if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    int all[] = {pipes[0], pipes[1], sockets[0]};
    for (int i = 0; i < 3; i++) {
        char path[64];
        sprintf(path, "/proc/self/fd/%d", all[i]);
        look(i == 2 ? "socket" : "pipe", all[i]);
        T(chmod, path, 0600), T(chown, path, -1, -1), T(utimensat, AT_FDCWD, path, NULL, 0), T(utime, path, NULL);
    }
    look("eventfd", eventfd(0, 0));
    T(listxattr, "/proc/self/fd/3", NULL, 0);
    return 0;
}
