// covers: read write pread64 pwrite64 lseek
// stdin: twenty bytes of input
#include "guest.h"

int main(void)
{
    char buf[64] = "";
    char *end = edge();

    T(read, 0, buf, 6);
    T(lseek, 0, 0, SEEK_CUR);
    T(pread64, 0, buf, 1, 0);
    T(read, 0, buf, sizeof buf);
    T(read, 0, buf, sizeof buf);
    T(write, 0, buf, 1);
    T(read, 1, buf, 1);

    long fd = T(open, "f", O_RDWR | O_CREAT, 0644);
    T(write, fd, "0123456789", 10);
    T(read, fd, buf, 10);
    T(lseek, fd, 3, SEEK_SET);
    T(read, fd, buf, 4);
    printf("%.4s\n", buf);
    T(lseek, fd, -2, SEEK_CUR);
    T(lseek, fd, -6, SEEK_CUR);
    T(lseek, fd, -1, SEEK_SET);
    T(lseek, fd, -10, SEEK_END);
    T(lseek, fd, -11, SEEK_END);
    T(lseek, fd, 5, SEEK_END);
    T(write, fd, "end", 3);
    T(lseek, fd, 0, SEEK_CUR);
    cat("f");
    T(lseek, fd, 0, 5);
    T(lseek, fd, 0, -1);
    T(lseek, fd, INT64_MIN, SEEK_CUR);
    T(lseek, fd, 1L << 40, SEEK_SET);
    T(read, fd, buf, 1);
    T(lseek, fd, 0, SEEK_SET);
    T(lseek, 99, 0, SEEK_SET);

    T(pread64, fd, buf, 4, 8);
    T(pread64, fd, buf, 4, 100);
    T(pread64, fd, buf, 4, -1);
    T(pread64, fd, buf, 0, 0);
    T(pwrite64, fd, "AB", 2, 1);
    T(pwrite64, fd, "AB", 2, -1);
    T(pwrite64, fd, "", 0, 1000);
    T(pwrite64, fd, "Z", 1, 30);
    T(lseek, fd, 0, SEEK_CUR);
    cat("f");

    /* Bad addresses: nothing, or what fitted. */
    T(read, fd, BAD, 10);
    T(read, fd, NULL, 0);
    T(read, fd, KERNEL, 10);
    T(read, fd, end - 4, 10);
    T(lseek, fd, 0, SEEK_CUR);
    T(write, fd, BAD, 10);
    T(write, fd, BAD, 0);
    T(write, fd, KERNEL, 1);
    memcpy(end - 4, "edge", 4);
    T(write, fd, end - 4, 10);
    T(lseek, fd, 0, SEEK_CUR);
    T(read, fd, buf, -1L);
    T(read, fd, buf, INT64_MAX);
    T(write, fd, buf, -1L);
    T(read, 99, buf, 1);
    T(write, 99, buf, 1);
    T(pread64, 99, buf, 1, 0);
    T(pwrite64, 99, buf, 1, 0);
    long ro = S(open, "f", O_RDONLY), wo = S(open, "f", O_WRONLY);
    T(write, ro, "x", 1);
    T(pwrite64, ro, "x", 1, 0);
    T(read, wo, buf, 1);
    T(pread64, wo, buf, 1, 0);
    T(write, ro, BAD, 1);

    /* A read-only page as the target. */
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(pread64, fd, page, 4, 0);
    char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(pread64, fd, none, 4, 0);
    T(pwrite64, fd, none, 4, 0);
    T(pwrite64, fd, page, 4, 40);

    /* A large file in pieces: the limit of a file's size. */
    struct rlimit limit = {50, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    T(prlimit64, 0, RLIMIT_FSIZE, &limit, 0);
    T(pwrite64, fd, "0123456789", 10, 45);
    T(pwrite64, fd, "0123456789", 10, 50);
    T(ftruncate, fd, 51);
    T(ftruncate, fd, 49);

    /* Pipes and directories. */
    int p[2];
    T(pipe2, p, 0);
    T(lseek, p[0], 0, SEEK_SET);
    T(pread64, p[0], buf, 1, 0);
    T(pwrite64, p[1], buf, 1, 0);
    T(write, p[0], buf, 1);
    T(read, p[1], buf, 1);
    T(write, p[1], "through", 7);
    T(read, p[0], buf, 100);
    long dir = S(open, "host", O_RDONLY);
    T(read, dir, buf, 1);
    T(pread64, dir, buf, 1, 0);
    T(lseek, dir, 0, SEEK_SET);
    return 0;
}
