// covers: memfd_create fcntl mmap mprotect write ftruncate fallocate open dup
#include "guest.h"
#include <sys/ioctl.h>

/* Seals of files in memory: what each forbids, in which order they can be set, and mappings that stand in the way. */
#define ADD 1033
#define GET 1034
enum { SEAL = 1, SHRINK = 2, GROW = 4, WRITE = 8, FUTURE = 16, EXEC = 32 };

static const char *ok(void *p)
{
    return p == MAP_FAILED ? strerrorname_np(errno) : "ok";
}

int main(void)
{
    long plain = S(memfd_create, "m", 0), fd;
    num(S(fcntl, plain, GET)), T(fcntl, plain, ADD, WRITE), num(S(fcntl, S(open, "f", O_RDWR | O_CREAT, 0600), GET)), T(fcntl, 1, GET, 0), T(fcntl, 99, ADD, 0);
    const struct {
        const char *name;
        int seals;
    } all[] = {{"none", 0}, {"shrink", SHRINK}, {"grow", GROW}, {"write", WRITE}, {"future write", FUTURE}, {"shrink and grow", SHRINK | GROW}, {"seal", SEAL}};
    for (int i = 0; i < 7; i++) {
        fd = S(memfd_create, "sealed", 2), printf("== %s\n", all[i].name), S(ftruncate, fd, 8192), T(fcntl, fd, ADD, all[i].seals), num(S(fcntl, fd, GET));
        T(write, fd, "x", 1), T(pwrite64, fd, "x", 1, 8191), T(pwrite64, fd, "xy", 2, 8191), T(pwrite64, fd, "x", 1, 9000),
            T(fallocate, fd, 3, 0, 4096), T(ftruncate, fd, 8192), T(ftruncate, fd, 12288), T(ftruncate, fd, 4096), T(fallocate, fd, 0, 0, 8192),
            T(fallocate, fd, 0, 0, 16384);
        printf("shared %s, private %s\n", ok(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0)),
            ok(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0)));
        T(fcntl, fd, ADD, WRITE), T(fcntl, fd, ADD, SEAL), T(fcntl, fd, ADD, SHRINK), num(S(fcntl, fd, GET)), S(close, fd);
    }
    /* Mappings and F_SEAL_WRITE. */
    fd = S(memfd_create, "m", 2), S(ftruncate, fd, 4096);
    char *w = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    T(fcntl, fd, ADD, WRITE), T(mprotect, w, 4096, PROT_READ), T(fcntl, fd, ADD, WRITE), T(fcntl, fd, ADD, FUTURE | GROW), num(S(fcntl, fd, GET)),
        T(mprotect, w, 4096, PROT_READ | PROT_WRITE), w[0] = 'w', T(write, fd, "x", 1), munmap(w, 4096), T(fcntl, fd, ADD, WRITE),
        num(S(fcntl, fd, GET));
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0), c = 0;
    p[0] = 'p', S(pread64, fd, &c, 1, 0), printf("%c %c\n", p[0], c), T(fcntl, fd, ADD, 64), T(fcntl, fd, ADD, 0);
    /* Of the file, not the descriptor; by whom it may be set. */
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%ld", fd);
    long copy = S(dup, fd), again = S(open, name, O_RDONLY);
    num(S(fcntl, copy, GET)), num(S(fcntl, again, GET)), T(fcntl, again, ADD, SEAL), T(fcntl, copy, ADD, SEAL), T(fcntl, fd, ADD, SEAL),
        show("opened to write", S(open, name, O_RDWR) < 0 ? -1 : 0),
        show("opened to cut", S(open, name, O_RDWR | O_TRUNC) < 0 ? S(open, name, O_RDWR | O_TRUNC) : 0);
    return 0;
}
