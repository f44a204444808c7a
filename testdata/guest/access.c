// covers: access faccessat faccessat2
#include "guest.h"

int main(void)
{
    T(access, "host/file", F_OK);
    T(access, "host/file", R_OK);
    T(access, "host/file", R_OK | W_OK);
    T(access, "host/file", X_OK);
    T(access, "host/tool", X_OK);
    T(access, "host", R_OK | W_OK | X_OK);
    T(access, "host/link", R_OK);
    T(access, "host/dangling", F_OK);
    T(access, "nothing", F_OK);
    T(access, "host/file/x", F_OK);
    T(access, "", F_OK);
    T(access, "host/file", 8);
    T(access, "host/file", -1);
    T(access, BAD, F_OK);
    S(symlink, "loop", "loop");
    T(access, "loop", F_OK);
    char name[257];
    memset(name, 'n', 256), name[256] = 0;
    T(access, name, F_OK);

    put("closed", "x");
    S(chmod, "closed", 0);
    T(access, "closed", F_OK);
    int root = getuid() == 0;
    is((S(access, "closed", R_OK) == 0) == root);
    is((S(access, "closed", W_OK) == 0) == root);
    T(access, "closed", X_OK);
    S(chmod, "closed", 0100);
    T(access, "closed", X_OK);
    S(mkdir, "d", 0);
    is((S(access, "d", X_OK) == 0) == root);
    is((S(access, "d/x", F_OK) == -ENOENT) == root);
    is((S(open, "closed", O_RDONLY) >= 0) == root);
    S(chmod, "d", 0700), S(chmod, "closed", 0600);

    long dir = S(open, "host", O_RDONLY), fd = S(open, "host/file", O_RDONLY);
    T(faccessat, dir, "file", R_OK);
    T(faccessat, AT_FDCWD, "host/file", R_OK);
    T(faccessat, fd, "file", R_OK);
    T(faccessat, 99, "file", R_OK);
    T(faccessat, 99, "/dev/null", R_OK);
    T(faccessat, dir, "", R_OK);
    T(faccessat2, dir, "link", F_OK, 0);
    T(faccessat2, dir, "dangling", F_OK, 0);
    T(faccessat2, dir, "dangling", F_OK, AT_SYMLINK_NOFOLLOW);
    T(faccessat2, dir, "file", R_OK, AT_EACCESS);
    T(faccessat2, fd, "", R_OK, AT_EMPTY_PATH);
    T(faccessat2, fd, "", X_OK, AT_EMPTY_PATH);
    T(faccessat2, fd, "", R_OK, 0);
    T(faccessat2, 99, "", R_OK, AT_EMPTY_PATH);
    T(faccessat2, dir, "file", R_OK, 1);
    T(faccessat2, dir, "file", 8, 0);
    return 0;
}
