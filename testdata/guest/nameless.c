// covers: access faccessat2 chmod chown utimensat utime truncate chdir chroot execve linkat getxattr listxattr
/* /proc/self/fd/N of pipes, sockets and the like, to which no other name leads. */
#include "guest.h"
#include <sys/eventfd.h>
#include <sys/socket.h>

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
