// covers: statfs fstatfs
#include "guest.h"
#include <sys/vfs.h>

int main(void)
{
    struct statfs a, b;
    T(statfs, ".", &a);
    is(a.f_bsize >= 512 && a.f_namelen == 255 && a.f_blocks > 0);
    long fd = S(open, "host/file", O_RDONLY);
    T(fstatfs, fd, &b);
    is(a.f_type == b.f_type && a.f_bsize == b.f_bsize);
    T(statfs, "host/link", &a);
    T(statfs, "/proc", &a);
    printf("%lx\n", (long)a.f_type);
    T(statfs, "nothing", &a);
    T(statfs, "host/file/x", &a);
    T(statfs, "", &a);
    T(statfs, BAD, &a);
    T(statfs, ".", BAD);
    T(fstatfs, 99, &a);
    T(fstatfs, fd, BAD);
    int p[2];
    S(pipe2, p, 0);
    T(fstatfs, p[0], &a);
    printf("%lx\n", (long)a.f_type);
    T(fstatfs, S(socket, 1, 1, 0), &a);
    printf("%lx\n", (long)a.f_type);
    T(fstatfs, S(eventfd2, 0, 0), &a);
    printf("%lx\n", (long)a.f_type);
    T(fstatfs, S(open, "/proc/self/ns/uts", O_RDONLY), &a);
    printf("%lx\n", (long)a.f_type);
    T(statfs, "/sys/fs/selinux", &a);
    return 0;
}
