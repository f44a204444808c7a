// covers: futex fsync fdatasync pwritev2 preadv2 fcntl sched_setscheduler mprotect msync flock
#include "guest.h"
#include <sys/file.h>
#include <sys/uio.h>

#define P 4096L

int main(void)
{
    int word = 5;
    T(futex, BAD, 1, 1, 0, 0, 0);
    T(futex, BAD, 129, 1, 0, 0, 0);
    T(futex, KERNEL, 1, 1, 0, 0, 0);
    T(futex, KERNEL, 129, 1, 0, 0, 0);
    T(futex, &word, 1, 1, 0, 0, 0);
    long null = S(open, "/dev/null", O_RDWR), zero = S(open, "/dev/zero", O_RDWR), file = S(open, "host/file", O_RDWR);
    long dir = S(open, "host", O_RDONLY), proc = S(open, "/proc/self/stat", O_RDONLY);
    int pipe[2];
    S(pipe2, pipe, 0);
    long fds[] = {null, zero, file, dir, proc, pipe[0], pipe[1], -1, 99, S(open, "host", O_PATH)};
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++) {
        printf("descriptor %u\n", i);
        T(fsync, fds[i]);
        T(fdatasync, fds[i]);
        T(syncfs, fds[i]);
        T(sync_file_range, fds[i], 0, 0, 0);
        T(fallocate, fds[i], 1, 0, 1);
        T(fadvise64, fds[i], 0, 0, 0);
        T(readahead, fds[i], 0, 0);
        if (i != 8)
            OK(lseek, fds[i], 0, SEEK_CUR);
    }
    T(sync_file_range, file, -1, 0, 0);
    T(sync_file_range, file, 0, -1, 0);
    T(sync_file_range, file, 0, 0, 8);
    T(fadvise64, file, 0, -1, 0);
    T(fadvise64, file, 0, 0, 6);
    struct iovec iov = {"x", 1};
    T(pwritev2, pipe[1], &iov, 1, 0, 0, 0);
    T(pwritev2, pipe[1], &iov, 1, -1, 0, 0);
    T(pwritev2, pipe[1], &iov, 1, -1, -1, 0);
    T(pwritev2, pipe[1], &iov, 1, 5, 0, 0);
    T(pwritev2, pipe[1], &iov, 1, -2, -1, 0);
    T(pwritev2, pipe[1], &iov, 1, -1, -1, 1 << 30);
    T(pwritev2, 99, &iov, 1, -1, -1, 1 << 30);
    T(pwritev2, file, &iov, 1, -1, -1, 1 << 30);
    T(pwritev2, pipe[0], &iov, 1, -1, -1, 0);
    T(pwritev2, pipe[0], &iov, 1, 0, 0, 0);
    T(pwritev2, file, &iov, 1, -2, -1, 0);
    T(pwritev2, file, BAD, 1, 0, 0, 0);
    T(pwritev2, file, &iov, -1, 0, 0, 0);
    T(pwritev2, file, &iov, 0, 0, 0, 0);
    T(pwritev2, file, &iov, 1025, 0, 0, 0);
    char c;
    struct iovec to = {&c, 1};
    T(preadv2, pipe[0], &to, 1, 0, 0, 0);
    T(preadv2, pipe[0], &to, 1, -1, -1, 0);
    T(preadv2, file, &to, 1, -1, -1, 0);
    T(preadv2, file, &to, 1, -2, -1, 0);
    T(preadv, file, &to, 1, -1, -1);
    T(preadv, pipe[0], &to, 1, 0, 0);
    T(pwritev, pipe[1], &iov, 1, -1, -1);
    T(pread64, pipe[0], &c, 1, -1);
    T(pread64, file, &c, 1, -1);
    T(pread64, 99, &c, 1, -1);
    static const int commands[] = {F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK};
    static const struct flock locks[] = {
        {F_RDLCK, 99, 0, 0, 0}, {99, SEEK_SET, 0, 0, 0},        {F_RDLCK, SEEK_SET, -1, 0, 0}, {F_RDLCK, SEEK_SET, 5, -6, 0},
        {99, 99, 0, 0, 0},      {F_RDLCK, SEEK_SET, 5, -5, 0},  {F_UNLCK, SEEK_SET, 0, 0, 0},  {F_WRLCK, SEEK_END, 0, 0, 0},
        {F_RDLCK, 0, 0, 0, 7},  {F_RDLCK, SEEK_CUR, -10, 0, 0},
    };
    for (unsigned k = 0; k < sizeof commands / sizeof *commands; k++)
        for (unsigned i = 0; i < sizeof locks / sizeof *locks; i++) {
            /* Since 6.3 it finds the locks of its own, too. */
            if (commands[k] == F_OFD_GETLK && locks[i].l_type == F_UNLCK)
                continue;
            struct flock lock = locks[i];
            char what[64];
            sprintf(what, "fcntl %d, lock %u", commands[k], i);
            show(what, S(fcntl, file, commands[k], &lock));
            sprintf(what, "on a pipe");
            lock = locks[i];
            if (commands[k] != F_SETLKW)
                show(what, S(fcntl, pipe[0], commands[k], &lock));
        }
    for (int op = 0; op < 16; op++) {
        char what[32];
        sprintf(what, "flock %d", op);
        show(what, S(flock, file, op | LOCK_NB));
        sprintf(what, "flock %d of a closed one", op);
        show(what, S(flock, 99, op | LOCK_NB));
    }
}
