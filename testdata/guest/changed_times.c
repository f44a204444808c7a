// covers: stat fstat write ftruncate chmod rename link unlink mkdir utimensat mmap
#include "guest.h"

/* Which operation sets which times, of a file and of the directory it is in: modification and change. */
static struct stat file[2], dir[2];
static long fd;

static int newer(struct timespec a, struct timespec b)
{
    return b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec > a.tv_nsec);
}
/* Times are as fine as a tick, so each begins long after the last. */
static void begin(void)
{
    usleep(12000);
    S(fstat, fd, &file[0]), S(stat, "d", &dir[0]);
}
static void end(const char *what)
{
    S(fstat, fd, &file[1]), S(stat, "d", &dir[1]);
    printf("%s: file%s%s dir%s%s\n", what, newer(file[0].st_mtim, file[1].st_mtim) ? " modified" : "",
        newer(file[0].st_ctim, file[1].st_ctim) ? " changed" : "",
           newer(dir[0].st_mtim, dir[1].st_mtim) ? " modified" : "", newer(dir[0].st_ctim, dir[1].st_ctim) ? " changed" : "");
}
#define AFTER(...) (begin(), __VA_ARGS__, end(#__VA_ARGS__))

int main(void)
{
    char buf[16];
    S(mkdir, "d", 0755), S(mkdir, "e", 0755);
    fd = S(open, "d/f", O_RDWR | O_CREAT, 0644);
    AFTER(S(write, fd, "x", 1)), AFTER(S(write, fd, "x", 0)), AFTER(S(pread64, fd, buf, 1, 0)), AFTER(S(ftruncate, fd, 10)),
        AFTER(S(truncate, "d/f", 20)), AFTER(S(truncate, "d/f", 0));
    AFTER(S(close, S(open, "d/f", O_WRONLY | O_TRUNC))), AFTER(S(close, S(open, "d/f", O_RDONLY | O_CREAT, 0644))),
        AFTER(S(close, S(open, "d/new", O_RDONLY | O_CREAT, 0644))), AFTER(S(unlink, "d/new"));
    AFTER(S(fchmod, fd, 0600)), AFTER(S(fchmod, fd, 0600)), AFTER(S(fchown, fd, -1, -1)), AFTER(S(fchown, fd, getuid(), -1)), AFTER(S(utimensat, fd, 0, 0, 0));
    struct timespec omit[] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}}, access[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}}, same[] = {{5, 5}, {5, 5}};
    AFTER(S(utimensat, fd, 0, omit, 0)), AFTER(S(utimensat, fd, 0, access, 0)), AFTER(S(utimensat, fd, 0, same, 0)), AFTER(S(utimensat, fd, 0, same, 0));
    AFTER(S(link, "d/f", "d/g")), AFTER(S(link, "d/f", "e/g")), AFTER(S(unlink, "d/g")), AFTER(S(unlink, "e/g")), AFTER(S(rename, "d/f", "d/h")),
        AFTER(S(rename, "d/h", "e/h")), AFTER(S(rename, "e/h", "d/f")), AFTER(S(rename, "d/f", "d/f"));
    AFTER(S(mkdir, "d/sub", 0755)), AFTER(S(open, "d/sub/x", O_CREAT, 0644)), AFTER(S(unlink, "d/sub/x")), AFTER(S(rmdir, "d/sub")),
        AFTER(S(chmod, "d", 0700)), AFTER(S(rename, "d", "c"), S(rename, "c", "d")), AFTER(S(symlink, "x", "d/l")),
        AFTER(S(mknod, "d/p", S_IFIFO | 0644, 0));
    AFTER(S(fsync, fd)), AFTER(S(lseek, fd, 5, SEEK_SET)), AFTER(S(open, "d/none", O_RDONLY)), AFTER(S(unlink, "d/none")),
        AFTER(S(mkdir, "d/f", 0755)), AFTER(S(chmod, "d/l", 0)), AFTER(S(readlink, "d/l", buf, 9));
    begin();
    S(ftruncate, fd, 100);
    volatile char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    begin(), (void)p[0], end("read in a mapping");
    return 0;
}
