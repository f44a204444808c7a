// covers: lseek fallocate truncate ftruncate
#include "guest.h"
#include <linux/falloc.h>

static void size(long fd)
{
    struct stat st;
    fstat((int)fd, &st);
    printf("size %ld\n", (long)st.st_size);
}

int main(void)
{
    char buf[8];
    long fd = T(open, "f", O_RDWR | O_CREAT, 0644);

    T(ftruncate, fd, 1 << 20);
    size(fd);
    T(lseek, fd, 0, SEEK_DATA);
    T(lseek, fd, 0, SEEK_HOLE);
    T(lseek, fd, 1 << 20, SEEK_HOLE);
    T(lseek, fd, 1 << 20, SEEK_DATA);
    T(lseek, fd, -1, SEEK_DATA);
    T(lseek, fd, -1, SEEK_HOLE);
    T(lseek, fd, 2 << 20, SEEK_HOLE);
    long full = T(open, "host/file", O_RDONLY);
    T(lseek, full, 3, SEEK_DATA);
    T(lseek, full, 3, SEEK_HOLE);
    T(lseek, full, 12, SEEK_DATA);
    T(lseek, full, 12, SEEK_HOLE);
    T(ftruncate, full, 3);

    T(pwrite64, fd, "data", 4, 4096 * 4);
    T(ftruncate, fd, 4096 * 4 + 2);
    size(fd);
    T(ftruncate, fd, 4096 * 5);
    T(pread64, fd, buf, 4, 4096 * 4);
    printf("%c%c%d%d\n", buf[0], buf[1], buf[2], buf[3]);
    T(ftruncate, fd, -1);
    T(ftruncate, fd, 0);
    size(fd);
    T(ftruncate, 99, 0);
    T(ftruncate, 0, 0);

    T(truncate, "f", 10);
    size(fd);
    T(truncate, "f", -1);
    T(truncate, "nothing", 0);
    T(truncate, "host", 0);
    T(truncate, "host/file/x", 0);
    T(truncate, "host/link", 2);
    cat("host/file");
    T(truncate, "", 0);
    T(truncate, BAD, 0);
    T(truncate, "host/dangling", 0);

    T(fallocate, fd, 0, 0, 100);
    size(fd);
    T(fallocate, fd, 0, 50, 10);
    size(fd);
    T(fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, 1000);
    size(fd);
    T(pwrite64, fd, "abcdefghij", 10, 0);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 3);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE, 2, 3);
    /* Where the file system cannot, zeros are written. */
    static const char zeros[10];
    long r = S(fallocate, fd, FALLOC_FL_ZERO_RANGE, 6, 2);
    is((r == -EOPNOTSUPP ? S(pwrite64, fd, zeros, 2, 6) - 2 : r) == 0);
    r = S(fallocate, fd, FALLOC_FL_ZERO_RANGE, 150, 10);
    is((r == -EOPNOTSUPP ? S(pwrite64, fd, zeros, 10, 150) - 10 : r) == 0);
    size(fd);
    cat("f");
    T(fallocate, fd, 0, -1, 10);
    T(fallocate, fd, 0, 0, 0);
    T(fallocate, fd, 0, 0, -1);
    T(fallocate, fd, 0, INT64_MAX, 1);
    T(fallocate, fd, 0x1000, 0, 1);
    T(fallocate, full, 0, 0, 1);
    T(fallocate, 99, 0, 0, 1);
    int p[2];
    S(pipe2, p, 0);
    T(fallocate, p[1], 0, 0, 1);
    T(ftruncate, p[1], 0);
    return 0;
}
