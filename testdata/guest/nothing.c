// covers: readv writev preadv2 pwritev2 write read pwrite64 fallocate
/* Calls that move no bytes, writes at places of /proc, and ranges taken out of files and put in. */
#include "cases.h"
#include <linux/falloc.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void vectors_of_nothing(void)
{
    struct iovec none = {NULL, 0}, two[2] = {{NULL, 0}, {NULL, 0}};
    int ends[2], pair[2];
    S(pipe2, ends, O_NONBLOCK), S(socketpair, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair);
    long full = S(open, "/dev/full", O_RDWR), dir = S(open, ".", O_RDONLY), event = S(eventfd2, 0, O_NONBLOCK);
    long only = S(open, "host/file", O_RDONLY);
    T(writev, full, &none, 1), T(writev, full, NULL, 0), T(writev, full, two, 2), T(write, full, "", 0);
    T(pwrite64, full, "", 0, 0), T(pwritev2, full, &none, 1, -1, 0), T(pwritev2, full, &none, 1, 0, 0x40000000);
    T(readv, dir, &none, 1), T(read, dir, NULL, 0), T(preadv, dir, &none, 1, 0);
    T(writev, event, &none, 1), T(readv, event, &none, 1), T(write, event, "", 0), T(read, event, NULL, 0);
    T(writev, pair[0], two, 2), T(writev, pair[0], &none, 1);
    char byte;
    T(read, pair[1], &byte, 1);
    T(write, pair[0], "", 0), T(read, pair[1], &byte, 1), T(read, pair[1], &byte, 1);
    T(writev, ends[0], &none, 1), T(writev, ends[1], &none, 1), T(readv, ends[1], &none, 1), T(readv, ends[0], &none, 1);
    T(writev, only, &none, 1), T(pwritev, only, &none, 1, -1), T(pwritev, ends[1], &none, 1, 0), T(writev, 99, &none, 1);
    T(writev, full, BAD, 1), T(writev, full, BAD, 0), T(writev, full, two, 1025), T(writev, full, two, -1);
    two[1].iov_len = -1;
    T(writev, full, two, 2);
}
static void places_of_proc(void)
{
    const char *files[] = {"status", "comm", "maps", "timerslack_ns", "environ", "cmdline", "oom_score_adj", "coredump_filter"};
    char text[4];
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        sprintf(path, "/proc/self/%s", files[i]);
        long both = S(open, path, O_RDWR), fd = both < 0 ? S(open, path, O_RDONLY) : both;
        printf("%s\n", files[i]);
        T(pwrite64, fd, "x", 1, 0), T(pwrite64, fd, "x", 1, 3), T(pwrite64, fd, "x", 0, 0), T(pwrite64, fd, "x", 1, -1);
        OK(pread64, fd, text, 1, 0), T(write, fd, BAD, 1);
    }
}
static long file_of(int blocks)
{
    static char block[4096];
    long fd = S(open, "ranges", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < blocks; i++)
        memset(block, 'a' + i, 4096), S(pwrite64, fd, block, 4096, i * 4096L);
    return fd;
}
static void blocks(long fd)
{
    char text[16] = "";
    long size = S(lseek, fd, 0, SEEK_END);
    for (long at = 0; at < size && at < 15 * 4096; at += 4096) {
        char byte;
        S(pread64, fd, &byte, 1, at);
        text[at / 4096] = byte ? byte : '.';
    }
    printf("%ld: %s\n", size, text);
}
static void ranges_of_files(void)
{
    long fd = file_of(6), only = S(open, "ranges", O_RDONLY), append = S(open, "ranges", O_WRONLY | O_APPEND);
    if (S(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096) == -EOPNOTSUPP)
        lacks("the file system of the temporary directory takes no ranges out of files");
    blocks(fd);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 8192), blocks(fd);
    T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 4096, 8192), blocks(fd);
    T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 0, 4096), blocks(fd);
    T(fallocate, append, FALLOC_FL_INSERT_RANGE, 4096, 4096);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 0, 100), T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 100, 4096);
    T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 0, 100), T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 100, 4096);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096 * 100), T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 4096 * 100, 4096);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_KEEP_SIZE, 0, 4096);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE, 0, 4096);
    T(fallocate, fd, FALLOC_FL_PUNCH_HOLE, 0, 4096), T(fallocate, fd, 0x4000, 0, 4096);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 0, 0), T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, -4096, 4096);
    T(fallocate, only, FALLOC_FL_COLLAPSE_RANGE, 0, 4096), T(fallocate, 99, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
    T(fallocate, S(open, "/dev/null", O_RDWR), 0, 0, 4096), T(fallocate, S(open, ".", O_RDONLY), 0, 0, 4096);
    int ends[2];
    S(pipe, ends);
    T(fallocate, ends[1], 0, 0, 4096), T(fallocate, ends[1], FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
    long memory = S(memfd_create, "m", 0);
    S(ftruncate, memory, 16384);
    T(fallocate, memory, FALLOC_FL_COLLAPSE_RANGE, 0, 4096), T(fallocate, memory, FALLOC_FL_INSERT_RANGE, 0, 4096);
    T(fallocate, memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
    blocks(fd), T(unlink, "ranges");
}
static void a_mapping_sees_the_ranges(void)
{
    long fd = file_of(4);
    char *map = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    map[4096] = 'B';
    printf("%c%c%c%c\n", map[0], map[4096], map[8192], map[12288]);
    T(fallocate, fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
    printf("%c%c%c\n", map[0], map[4096], map[8192]);
    T(fallocate, fd, FALLOC_FL_INSERT_RANGE, 4096, 4096);
    printf("%c%d%c%c\n", map[0], map[4096], map[8192], map[12288]);
    T(unlink, "ranges");
}

int main(void)
{
    CASE(vectors_of_nothing);
    CASE(places_of_proc);
    CASE(ranges_of_files);
    CASE(a_mapping_sees_the_ranges);
    return 0;
}
