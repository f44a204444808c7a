// covers: fsync fdatasync sync syncfs sync_file_range fadvise64 readahead
#include "guest.h"

int main(void)
{
    long fd = S(open, "f", O_RDWR | O_CREAT, 0644), wo = S(open, "f", O_WRONLY);
    long dir = S(open, "host", O_RDONLY), path = S(open, "f", O_PATH);
    int p[2];
    S(pipe2, p, 0);
    S(write, fd, "text", 4);
    T(fsync, fd);
    T(fdatasync, fd);
    T(fsync, dir);
    T(fsync, p[0]);
    T(fdatasync, p[1]);
    T(fsync, 99);
    T(fdatasync, 99);
    T(fsync, path);
    T(syncfs, fd);
    T(syncfs, 99);
    T(sync);
    T(sync_file_range, fd, 0, 0, 2);
    T(sync_file_range, fd, 0, 0, 8);
    T(sync_file_range, fd, -1, 1, 2);
    T(sync_file_range, 99, 0, 0, 2);
    T(sync_file_range, p[0], 0, 0, 2);
    for (int advice = 0; advice < 7; advice++)
        show("fadvise64", S(fadvise64, fd, 0, 0, advice));
    T(fadvise64, fd, 0, -1, 0);
    T(fadvise64, p[0], 0, 0, 0);
    T(fadvise64, 99, 0, 0, 0);
    T(fadvise64, path, 0, 0, 0);
    T(readahead, fd, 0, 100);
    T(readahead, wo, 0, 100);
    T(readahead, p[0], 0, 100);
    T(readahead, 99, 0, 100);
    T(readahead, dir, 0, 100);
    return 0;
}
