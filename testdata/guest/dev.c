// covers: getrandom openat read write lseek mmap
#include "guest.h"
#include <sys/random.h>

int main(void)
{
    char buf[64], other[64];
    struct stat st;
    memset(buf, 'x', sizeof buf);

    long fd = T(open, "/dev/null", O_RDWR);
    T(read, fd, buf, 10);
    T(write, fd, buf, 10);
    T(write, fd, BAD, 10);
    T(lseek, fd, 100, SEEK_SET);
    T(lseek, fd, 0, SEEK_CUR);
    T(ftruncate, fd, 0);
    T(open, "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);

    fd = T(open, "/dev/zero", O_RDWR);
    T(read, fd, buf, 10);
    printf("%d%c\n", buf[9], buf[10]);
    T(write, fd, buf, 10);
    T(read, fd, BAD, 10);
    char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    is(p != MAP_FAILED && p[100] == 0);
    T(lseek, fd, 5, SEEK_SET);

    fd = T(open, "/dev/full", O_RDWR);
    T(read, fd, buf, 10);
    T(write, fd, buf, 10);

    fd = T(open, "/dev/urandom", O_RDONLY);
    T(read, fd, buf, 64);
    T(read, fd, other, 64);
    is(memcmp(buf, other, 64) != 0);
    T(lseek, fd, 0, SEEK_SET);
    T(fstat, fd, &st);
    printf("%o\n", st.st_mode & S_IFMT);
    T(open, "/dev/nothing", O_RDONLY);

    T(getrandom, buf, 64, 0);
    T(getrandom, other, 64, GRND_NONBLOCK);
    is(memcmp(buf, other, 64) != 0);
    T(getrandom, buf, 0, 0);
    T(getrandom, buf, 16, GRND_RANDOM);
    T(getrandom, buf, 16, 4);
    T(getrandom, buf, 16, 8);
    T(getrandom, buf, 16, GRND_RANDOM | 4);
    T(getrandom, BAD, 16, 0);
    T(getrandom, BAD, 0, 0);
    T(readlink, "/dev/stdin", buf, sizeof buf);
    return 0;
}
