// covers: getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
#include "guest.h"

/* Only what holds with and without extended attributes in the file system: a file that has none. */
int main(void)
{
    char buf[64];
    put("f", "x");
    long fd = S(open, "f", O_RDWR);
    char name[300];
    memset(name, 'n', 299), name[299] = 0;
    memcpy(name, "user.", 5);

    T(getxattr, "nothing", "user.none", buf, sizeof buf);
    T(lgetxattr, "nothing", "user.none", buf, sizeof buf);
    T(fgetxattr, 99, "user.none", buf, sizeof buf);
    T(getxattr, BAD, "user.none", buf, sizeof buf);
    T(getxattr, "f", BAD, buf, sizeof buf);
    T(getxattr, "f", "", buf, sizeof buf);
    T(getxattr, "f", name, buf, sizeof buf);
    T(listxattr, "nothing", buf, sizeof buf);
    T(llistxattr, "nothing", buf, sizeof buf);
    T(flistxattr, 99, buf, sizeof buf);
    T(listxattr, BAD, buf, sizeof buf);
    T(listxattr, "f", buf, sizeof buf);
    T(llistxattr, "host/dangling", buf, sizeof buf);
    T(flistxattr, fd, NULL, 0);
    T(listxattr, "host/dangling", buf, sizeof buf);

    T(setxattr, "nothing", "user.x", "v", 1, 0);
    T(lsetxattr, "nothing", "user.x", "v", 1, 0);
    T(fsetxattr, 99, "user.x", "v", 1, 0);
    T(setxattr, "f", "user.x", "v", 1, 99);
    T(setxattr, "f", "", "v", 1, 0);
    T(setxattr, "f", name, "v", 1, 0);
    T(setxattr, "f", "user.x", "v", 1 << 20, 0);
    T(setxattr, "f", "user.x", BAD, 1, 0);
    T(setxattr, "f", "unheard-of", "v", 1, 0);
    T(setxattr, BAD, "user.x", "v", 1, 0);
    T(removexattr, "nothing", "user.x");
    T(lremovexattr, "nothing", "user.x");
    T(fremovexattr, 99, "user.x");
    T(removexattr, "f", "unheard-of");
    T(removexattr, "f", "");
    return 0;
}
