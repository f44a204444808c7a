// covers: read write pread64 pwrite64 readv ftruncate fallocate mmap sendfile splice copy_file_range fsync getdents64 lseek
#include "guest.h"
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

/* Each call on descriptors by each mode of opening, of each kind of file: which of them the mode forbids. */
static long in, out;

static void all(const char *what, long fd)
{
    char buf[16];
    struct iovec v = {buf, 4};
    struct flock r = {.l_type = F_RDLCK}, w = {.l_type = F_WRLCK};
    int pipe_[2];
    S(pipe2, pipe_, O_NONBLOCK), S(write, pipe_[1], "piped", 5), S(lseek, in, 0, SEEK_SET);
    printf("== %s\n", what), T(read, fd, buf, 4), T(write, fd, "data", 4), T(read, fd, buf, 0), T(write, fd, "", 0), T(pread64, fd, buf, 4, 0),
        T(pwrite64, fd, "data", 4, 0), T(readv, fd, &v, 1), T(writev, fd, &v, 1), T(preadv, fd, &v, 1, 0), T(pwritev, fd, &v, 1, 0),
        T(readv, fd, &v, 0), T(writev, fd, &v, 0), T(lseek, fd, 0, SEEK_SET), T(ftruncate, fd, 8), T(fallocate, fd, 0, 0, 8), T(fsync, fd),
        T(fdatasync, fd), T(sync_file_range, fd, 0, 4, 0), T(readahead, fd, 0, 4), T(fadvise64, fd, 0, 4, 0), T(flock, fd, LOCK_SH),
        T(flock, fd, LOCK_UN), T(fcntl, fd, F_SETLK, &r), T(fcntl, fd, F_SETLK, &w), T(getdents64, fd, buf, 16), T(fchdir, fd);
    show("mmap, read", S(mmap, 0, 4096, PROT_READ, MAP_SHARED, fd, 0) < 0 ? S(mmap, 0, 4096, PROT_READ, MAP_SHARED, fd, 0) : 0),
        show("mmap, write", S(mmap, 0, 4096, PROT_WRITE, MAP_SHARED, fd, 0) < 0 ? S(mmap, 0, 4096, PROT_WRITE, MAP_SHARED, fd, 0) : 0),
        show("mmap, private", S(mmap, 0, 4096, PROT_WRITE, MAP_PRIVATE, fd, 0) < 0 ? S(mmap, 0, 4096, PROT_WRITE, MAP_PRIVATE, fd, 0) : 0),
        S(lseek, fd, 0, SEEK_SET), T(sendfile, out, fd, 0, 4), T(sendfile, fd, in, 0, 4), T(splice, fd, 0, pipe_[1], 0, 2, 0),
        T(splice, pipe_[0], 0, fd, 0, 2, 0), T(copy_file_range, fd, 0, out, 0, 2, 0), T(copy_file_range, in, 0, fd, 0, 2, 0),
        printf("flags %#lo\n", S(fcntl, fd, F_GETFL)), S(close, pipe_[0]), S(close, pipe_[1]);
}

int main(void)
{
    put("in", "contents of in"), put("f", "contents"), put("out", "");
    in = S(open, "in", O_RDONLY), out = S(open, "out", O_RDWR);
    char top[4096];
    S(getcwd, top, sizeof top);
    const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, 3, O_WRONLY | O_APPEND, O_PATH};
    for (int i = 0; i < 6; i++) {
        char what[32];
        snprintf(what, sizeof what, "file, %#o", modes[i]), all(what, S(open, "f", modes[i])), S(chdir, top);
    }
    all("directory", S(open, "host", O_RDONLY)), S(chdir, top), all("/dev/null", S(open, "/dev/null", O_RDWR)),
        all("/dev/null, read-only", S(open, "/dev/null", O_RDONLY)), all("/dev/zero, write-only", S(open, "/dev/zero", O_WRONLY)), all("closed", 99);
    int q[2];
    S(pipe2, q, O_NONBLOCK), S(write, q[1], "0123456789abcdefghij", 20), all("reading end", q[0]), all("writing end", q[1]);
    return 0;
}
