// covers: openat2
#include "guest.h"
#include <linux/openat2.h>

int main(void)
{
    struct {
        struct open_how how;
        uint64_t more;
    } h = {{.flags = O_RDONLY}, 0};
    char buf[8];
    long fd = T(openat2, AT_FDCWD, "host/file", &h, sizeof h.how);
    T(read, fd, buf, 2);
    T(openat2, AT_FDCWD, "host/file", &h, sizeof h);
    h.more = 1;
    T(openat2, AT_FDCWD, "host/file", &h, sizeof h);
    T(openat2, AT_FDCWD, "host/file", &h, 16);
    T(openat2, AT_FDCWD, "host/file", BAD, sizeof h.how);
    h.how.mode = 0600;
    T(openat2, AT_FDCWD, "host/file", &h, sizeof h.how);
    h.how.flags = O_WRONLY | O_CREAT | O_EXCL;
    T(openat2, AT_FDCWD, "new", &h, sizeof h.how);
    h.how.mode = 010000;
    T(openat2, AT_FDCWD, "new2", &h, sizeof h.how);
    h.how.mode = 0, h.how.flags = 1UL << 40;
    T(openat2, AT_FDCWD, "host/file", &h, sizeof h.how);
    h.how.flags = 0, h.how.resolve = 1 << 20;
    T(openat2, AT_FDCWD, "host/file", &h, sizeof h.how);
    h.how.resolve = 0;
    T(openat2, 99, "host/file", &h, sizeof h.how);
    T(openat2, AT_FDCWD, "nothing", &h, sizeof h.how);
    /* What a link leads to without a path is not looked up in the cache. */
    h.how.resolve = RESOLVE_CACHED;
    T(openat2, AT_FDCWD, "/proc/self/exe", &h, sizeof h.how);
    T(openat2, AT_FDCWD, "/proc/self/fd/1", &h, sizeof h.how);
    h.how.resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS;
    T(openat2, AT_FDCWD, "/proc/self/exe", &h, sizeof h.how);
    return 0;
}
