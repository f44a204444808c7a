// covers: sendfile copy_file_range
#include "guest.h"

int main(void)
{
    char buf[64];
    long from = S(open, "host/file", O_RDONLY), to = S(open, "copy", O_RDWR | O_CREAT, 0644);
    long append = S(open, "copy", O_WRONLY | O_APPEND), dir = S(open, "host", O_RDONLY);
    int p[2];
    S(pipe2, p, O_NONBLOCK);
    off_t at = 3, out = 30;

    T(sendfile, to, from, NULL, 5);
    T(lseek, from, 0, SEEK_CUR);
    T(sendfile, to, from, &at, 100);
    num(at);
    T(lseek, from, 0, SEEK_CUR);
    T(sendfile, to, from, &at, 100);
    T(sendfile, p[1], from, NULL, 100);
    T(read, p[0], buf, sizeof buf);
    cat("copy");
    T(sendfile, to, p[0], NULL, 1);
    T(sendfile, append, from, NULL, 1);
    T(sendfile, 99, from, NULL, 1);
    T(sendfile, to, 99, NULL, 1);
    T(sendfile, from, from, NULL, 1);
    T(sendfile, to, append, NULL, 1);
    T(sendfile, to, dir, NULL, 1);
    T(sendfile, to, from, BAD, 1);
    at = -1;
    T(sendfile, to, from, &at, 1);
    at = 0;
    T(sendfile, to, from, &at, 0);

    T(copy_file_range, from, &at, to, &out, 8, 0);
    printf("%ld %ld\n", (long)at, (long)out);
    S(lseek, from, 0, SEEK_SET);
    T(copy_file_range, from, NULL, to, NULL, 4, 0);
    T(lseek, from, 0, SEEK_CUR);
    cat("copy");
    T(copy_file_range, from, NULL, to, NULL, 4, 1);
    T(copy_file_range, from, NULL, append, NULL, 4, 0);
    T(copy_file_range, from, NULL, p[1], NULL, 4, 0);
    T(copy_file_range, dir, NULL, to, NULL, 4, 0);
    T(copy_file_range, from, NULL, from, NULL, 4, 0);
    T(copy_file_range, 99, NULL, to, NULL, 4, 0);
    at = 0, out = 2;
    T(copy_file_range, to, &at, to, &out, 10, 0);
    out = 60;
    T(copy_file_range, to, &at, to, &out, 10, 0);
    at = 1000;
    T(copy_file_range, from, &at, to, NULL, 10, 0);
    T(copy_file_range, from, BAD, to, NULL, 10, 0);
    cat("copy");
    return 0;
}
