// covers: open openat creat close
#include "guest.h"

int main(void)
{
    char buf[64];
    long fd;

    fd = T(open, "host/file", O_RDONLY);
    T(read, fd, buf, sizeof buf);
    T(write, fd, "x", 1);
    T(close, fd);
    T(close, fd);
    T(close, -1);
    T(close, 1 << 30);

    /* The lowest free number. */
    long a = T(open, "host/file", O_RDONLY), b = T(open, "host/other", O_RDONLY);
    S(close, a);
    long c = T(open, "host/file", O_RDONLY | O_CLOEXEC);
    num(S(fcntl, c, F_GETFD));
    num(S(fcntl, b, F_GETFD));
    S(close, b), S(close, c);

    /* Creation, and what the mode means. */
    fd = T(open, "new", O_RDWR | O_CREAT | O_EXCL, 0666);
    T(write, fd, "hello", 5);
    S(close, fd);
    T(open, "new", O_RDWR | O_CREAT | O_EXCL, 0666);
    fd = T(open, "readonly", O_RDWR | O_CREAT, 0400);
    T(write, fd, "allowed", 7);
    S(close, fd);
    fd = T(creat, "created", 0777);
    T(read, fd, buf, 1);
    S(close, fd);
    fd = T(open, "sticky", O_WRONLY | O_CREAT, 07777);
    S(close, fd);

    /* Truncation and appending. */
    fd = T(open, "new", O_WRONLY | O_TRUNC);
    S(close, fd);
    cat("new");
    fd = T(open, "host/file", O_WRONLY | O_APPEND);
    T(lseek, fd, 0, SEEK_CUR);
    T(write, fd, "more\n", 5);
    T(lseek, fd, 0, SEEK_CUR);
    T(lseek, fd, 0, SEEK_SET);
    T(write, fd, "end\n", 4);
    T(lseek, fd, 0, SEEK_CUR);
    T(pwrite64, fd, "pos", 3, 0);
    S(close, fd);
    cat("host/file");
    fd = T(creat, "host/other", 0600);
    S(close, fd);
    cat("host/other");

    /* Directories. */
    fd = T(open, "host", O_RDONLY | O_DIRECTORY);
    T(read, fd, buf, 1);
    T(openat, fd, "file", O_RDONLY);
    T(openat, fd, "new2", O_WRONLY | O_CREAT, 0640);
    T(openat, fd, "../new", O_RDONLY);
    T(openat, fd, "", O_RDONLY);
    T(openat, fd, "/dev/null", O_RDONLY);
    T(openat, 99, "/dev/null", O_RDONLY);
    T(openat, 99, "file", O_RDONLY);
    T(openat, 4, "file", O_RDONLY);
    T(openat, AT_FDCWD, "host/file", O_RDONLY);
    for (int i = 3; i < 20; i++)
        S(close, i);
    T(open, "host", O_WRONLY);
    T(open, "host", O_RDWR);
    T(open, "host", O_RDONLY | O_CREAT, 0644);
    T(open, "host/new/", O_RDONLY | O_CREAT, 0644);
    T(open, "host/file", O_RDONLY | O_DIRECTORY);
    T(open, "host/file/", O_RDONLY);
    T(open, "host/file/x", O_RDONLY);
    T(open, "host/file/..", O_RDONLY);

    /* Links. */
    fd = T(open, "host/link", O_RDONLY);
    T(read, fd, buf, 4);
    S(close, fd);
    T(open, "host/link", O_RDONLY | O_NOFOLLOW);
    T(open, "host/dangling", O_RDONLY);
    T(open, "host/dangling", O_WRONLY | O_CREAT | O_EXCL, 0644);
    fd = T(open, "host/dangling", O_WRONLY | O_CREAT, 0644);
    S(close, fd);
    cat("host/nowhere");
    S(symlink, "loop", "loop");
    T(open, "loop", O_RDONLY);
    S(symlink, "host", "hostlink");
    fd = T(open, "hostlink/file", O_RDONLY | O_NOFOLLOW);
    S(close, fd);
    T(open, "hostlink", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    fd = T(open, "hostlink/", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    S(close, fd);

    /* Errors of the name. */
    T(open, "nothing", O_RDONLY);
    T(open, "nothing/here", O_RDONLY);
    T(open, "", O_RDONLY);
    T(open, NULL, O_RDONLY);
    T(open, BAD, O_RDONLY);
    T(open, KERNEL, O_RDONLY);
    char name[300];
    memset(name, 'a', sizeof name);
    name[255] = 0;
    fd = show("open of 255 bytes", S(open, name, O_WRONLY | O_CREAT, 0600));
    S(close, fd);
    name[255] = 'a', name[256] = 0;
    show("open of 256 bytes", S(open, name, O_WRONLY | O_CREAT, 0600));
    static char path[5000];
    for (int i = 0; i < 4094; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 4094, "x");
    show("path of 4095", S(open, path, O_RDONLY));
    strcpy(path + 4094, "xx");
    show("path of 4096", S(open, path, O_RDONLY));
    char *end = edge();
    memcpy(end - 4, "host", 4);
    show("path into a hole", S(open, end - 4, O_RDONLY));
    end[-1] = 0;
    show("path up to a hole", S(open, end - 4, O_RDONLY));

    /* O_PATH: a name held, nothing to read. */
    fd = T(open, "host/file", O_PATH);
    T(read, fd, buf, 1);
    T(write, fd, buf, 1);
    T(fchmod, fd, 0600);
    T(lseek, fd, 0, SEEK_SET);
    T(ioctl, fd, 0x541b, buf);
    struct stat st;
    T(fstat, fd, &st);
    num(st.st_size);
    num(S(fcntl, fd, F_GETFL));
    S(close, fd);
    fd = T(open, "host/link", O_PATH | O_NOFOLLOW);
    T(fstat, fd, &st);
    num(S_ISLNK(st.st_mode));
    T(readlinkat, fd, "", buf, sizeof buf);
    S(close, fd);
    fd = T(open, "host", O_PATH | O_DIRECTORY);
    T(openat, fd, "file", O_RDONLY);
    T(getdents64, fd, buf, sizeof buf);
    S(close, fd), S(close, fd + 1);
    T(open, "nothing", O_PATH | O_CREAT, 0600);

    /* Status flags. */
    fd = T(open, "new", O_RDWR | O_APPEND | O_NONBLOCK | O_SYNC);
    printf("flags %lo\n", S(fcntl, fd, F_GETFL));
    S(close, fd);
    fd = T(open, "new", O_RDONLY | O_NOATIME);
    printf("flags %lo\n", S(fcntl, fd, F_GETFL));
    S(close, fd);
    fd = T(open, "new", O_RDONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_DSYNC, 0644);
    printf("flags %lo\n", S(fcntl, fd, F_GETFL));
    S(close, fd);
    fd = T(open, "new", 3);
    T(read, fd, buf, 1);
    T(write, fd, buf, 1);
    S(close, fd);

    /* No more descriptors. */
    struct rlimit few = {4, 200};
    T(prlimit64, 0, RLIMIT_NOFILE, &few, 0);
    T(open, "new", O_RDONLY);
    T(open, "new", O_RDONLY);
    T(open, "new3", O_WRONLY | O_CREAT, 0600);
    return 0;
}
