// covers: getrandom open read write ioctl poll
#include "guest.h"
#include <sys/ioctl.h>
#include <poll.h>
#include <sys/random.h>
#include <stdlib.h>

/* Random bytes of the kernel and of the C library: flags, lengths, faults, and that they differ. */
#ifndef GRND_INSECURE
#define GRND_INSECURE 4
#endif
static int differs(const unsigned char *a, const unsigned char *b, size_t n)
{
    return memcmp(a, b, n) != 0;
}

int main(void)
{
    static unsigned char a[1 << 20], b[1 << 20];
    char *end = edge();
    T(getrandom, a, 16, 0), T(getrandom, b, 16, 0), is(differs(a, b, 16)), T(getrandom, a, 0, 0), T(getrandom, BAD, 0, 0), T(getrandom, BAD, 8, 0),
        T(getrandom, a, 16, GRND_NONBLOCK), T(getrandom, a, 16, GRND_RANDOM), T(getrandom, a, 16, GRND_RANDOM | GRND_NONBLOCK),
        T(getrandom, a, 16, GRND_INSECURE), T(getrandom, a, 16, GRND_INSECURE | GRND_RANDOM), T(getrandom, a, 16, 8),
        show("1 MiB", S(getrandom, a, sizeof a, 0)), T(getrandom, end - 100, 200, 0), T(getrandom, end, 1, 0), T(getrandom, KERNEL, 1, 0);
    /* Each byte value comes, and none too often. */
    long counts[256] = {0}, least = 1 << 20, most = 0;
    for (size_t i = 0; i < sizeof a; i++)
        counts[a[i]]++;
    for (int i = 0; i < 256; i++)
        least = counts[i] < least ? counts[i] : least, most = counts[i] > most ? counts[i] : most;
    is(least > 3500 && most < 4700), num(getentropy(a, 256)), is(getentropy(a, 257) == -1 && errno == EIO), is(getentropy(a + 1, 0) == 0);

    long u = S(open, "/dev/urandom", O_RDWR), r = S(open, "/dev/random", O_RDWR);
    int n = -1;
    T(read, u, a, 100), T(read, r, a, 100), T(pread64, u, a, 10, 1000), T(lseek, u, 0, SEEK_SET), T(lseek, u, 100, SEEK_CUR),
        T(lseek, u, 0, SEEK_END), T(write, u, "seed", 4), T(write, r, BAD, 4), T(read, u, BAD, 4), T(read, u, end - 10, 20),
        T(ioctl, u, 0x80045200 /* RNDGETENTCNT */, &n), is(n > 0), T(ioctl, u, 0x80045200, BAD), T(ioctl, u, 0x5299, &n),
        T(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, u, 0), T(ftruncate, u, 0), T(fsync, u);
    struct pollfd p = {(int)r, POLLIN | POLLOUT, 0};
    T(poll, &p, 1, 0), num(p.revents), show("1 MiB", S(read, u, b, sizeof b)), is(differs(a, b, 100));
    /* A child does not say what its parent says. */
    int pipes[2];
    S(pipe2, pipes, 0), fflush(stdout);
    if (fork() == 0)
        S(getrandom, a, 32, 0), S(write, pipes[1], a, 32), _exit(0);
    S(getrandom, b, 32, 0), S(read, pipes[0], a, 32), is(differs(a, b, 32));
    /* The C library's own sequence is the same for a seed. */
    srand(7);
    int x = rand(), y = rand();
    srand(7), is(rand() == x && rand() == y), srandom(1), num(random()), num(random()), srand48(3), num(lrand48()), num(mrand48()),
        num((long)(drand48() * 1000000));
    char state[64];
    initstate(5, state, sizeof state), num(random()), setstate(state), num(random());
    return 0;
}
