// covers: chmod fchmod fchmodat fchmodat2 umask mknod mknodat
#include "guest.h"

static void mode(const char *path)
{
    struct stat st;
    long r = S(lstat, path, &st);
    if (r < 0)
        show(path, r);
    else
        printf("%s %o\n", path, st.st_mode);
}

int main(void)
{
    put("f", "x");
    S(mkdir, "d", 0755);
    T(chmod, "f", 0600);
    mode("f");
    T(chmod, "f", 07777);
    mode("f");
    T(chmod, "f", 0xffff0000 | 0644);
    mode("f");
    T(chmod, "d", 01777);
    mode("d");
    T(chmod, "host/link", 0640);
    mode("host/file");
    mode("host/link");
    T(chmod, "host/empty", 0700);
    mode("host/empty");
    T(chmod, "nothing", 0600);
    T(chmod, "host/dangling", 0600);
    T(chmod, "f/x", 0600);
    T(chmod, "", 0600);
    T(chmod, BAD, 0600);
    long fd = S(open, "f", O_RDONLY), dir = S(open, "host", O_RDONLY);
    T(fchmod, fd, 0611);
    mode("f");
    T(fchmod, dir, 0711);
    mode("host");
    T(fchmod, 99, 0600);
    int p[2];
    S(pipe2, p, 0);
    T(fchmod, p[0], 0600);
    T(fchmodat, dir, "other", 0444);
    mode("host/other");
    T(fchmodat, 99, "other", 0444);
    T(fchmodat, fd, "other", 0444);
    T(fchmodat, AT_FDCWD, "f", 0);
    mode("f");
    SINCE(606, 0, fchmodat2, dir, "other", 0555, 0);
    SINCE(606, -EINVAL, fchmodat2, dir, "other", 0555, 1);
    SINCE(606, 0, fchmodat2, fd, "", 0666, AT_EMPTY_PATH);
    SINCE(606, -EOPNOTSUPP, fchmodat2, dir, "link", 0666, AT_SYMLINK_NOFOLLOW);
    SINCE(606, 0, fchmodat2, dir, "other", 0606, AT_SYMLINK_NOFOLLOW);
    if (release() < 606)
        S(chmod, "host/other", 0606), S(chmod, "f", 0666);
    mode("host/other");
    mode("host/link");
    mode("f");

    /* Set-group-id falls when somebody writes. */
    put("set", "x");
    T(chmod, "set", 06755);
    mode("set");

    T(umask, 027);
    S(close, S(open, "masked", O_CREAT | O_WRONLY, 0666));
    mode("masked");
    S(mkdir, "maskeddir", 0777);
    mode("maskeddir");
    T(umask, 07777);
    T(umask, -1);
    S(close, S(open, "none", O_CREAT | O_WRONLY, 0666));
    mode("none");
    T(umask, 022);

    T(mknod, "plain", S_IFREG | 0666, 0);
    mode("plain");
    T(mknod, "plain2", 0600, 0);
    mode("plain2");
    T(mknod, "fifo", S_IFIFO | 0666, 0);
    mode("fifo");
    T(mknod, "fifo", S_IFIFO | 0666, 0);
    T(mknod, "x/fifo", S_IFIFO | 0666, 0);
    T(mknod, "x", S_IFDIR | 0666, 0);
    T(mknod, "x", S_IFLNK | 0666, 0);
    T(mknod, "x", 0170000, 0);
    T(mknod, BAD, S_IFREG | 0666, 0);
    T(mknodat, dir, "fifo", S_IFIFO | 0640, 0);
    mode("host/fifo");
    T(mknodat, 99, "fifo", S_IFIFO | 0640, 0);
    T(mknodat, fd, "fifo", S_IFIFO | 0640, 0);

    /* A named pipe with both ends here. */
    char buf[8];
    T(open, "fifo", O_WRONLY | O_NONBLOCK);
    long r = T(open, "fifo", O_RDONLY | O_NONBLOCK);
    T(read, r, buf, 8);
    long w = T(open, "fifo", O_WRONLY);
    T(read, r, buf, 8);
    T(write, w, "hello", 5);
    T(read, r, buf, 8);
    S(close, w);
    T(read, r, buf, 8);
    long rw = T(open, "fifo", O_RDWR);
    T(write, rw, "again", 5);
    T(read, rw, buf, 8);
    return 0;
}
