// covers: open openat mknod creat bind
#include "guest.h"
#include <sys/socket.h>
#include <sys/un.h>

/* Each flag of open(2) with each type of file. */
static const struct {
    const char *name;
    int flags;
} flags[] = {
    {"RDONLY|NONBLOCK", O_RDONLY | O_NONBLOCK},
    {"WRONLY|NONBLOCK", O_WRONLY | O_NONBLOCK},
    {"RDWR|NONBLOCK", O_RDWR | O_NONBLOCK},
    {"NOFOLLOW", O_NOFOLLOW | O_NONBLOCK},
    {"DIRECTORY", O_DIRECTORY | O_NONBLOCK},
    {"DIRECTORY|NOFOLLOW", O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK},
    {"DIRECTORY|RDWR", O_DIRECTORY | O_RDWR | O_NONBLOCK},
    {"CREAT", O_CREAT | O_NONBLOCK},
    {"CREAT|RDWR", O_CREAT | O_RDWR | O_NONBLOCK},
    {"CREAT|EXCL", O_CREAT | O_EXCL | O_NONBLOCK},
    {"CREAT|NOFOLLOW", O_CREAT | O_NOFOLLOW | O_NONBLOCK},
    {"CREAT|DIRECTORY", O_CREAT | O_DIRECTORY | O_NONBLOCK},
    {"TRUNC", O_TRUNC | O_NONBLOCK},
    {"TRUNC|WRONLY", O_TRUNC | O_WRONLY | O_NONBLOCK},
    {"EXCL", O_EXCL | O_NONBLOCK},
    {"PATH", O_PATH},
    {"PATH|NOFOLLOW", O_PATH | O_NOFOLLOW},
    {"PATH|DIRECTORY", O_PATH | O_DIRECTORY},
    {"ACCMODE", O_ACCMODE | O_NONBLOCK},
    {"TMPFILE alone", __O_TMPFILE | O_RDWR},
    {"TMPFILE|RDONLY", O_TMPFILE | O_RDONLY},
    {"TMPFILE|CREAT", O_TMPFILE | O_CREAT | O_RDWR},
};

int main(void)
{
    struct sockaddr_un a = {AF_UNIX, "socket"};
    long s = S(socket, AF_UNIX, SOCK_STREAM, 0);
    S(mkdir, "dir", 0755), put("file", "text"), S(mknod, "fifo", S_IFIFO | 0644, 0), S(bind, s, &a, sizeof a);
    S(symlink, "file", "to_file"), S(symlink, "dir", "to_dir"), S(symlink, "none", "to_none"), S(symlink, "itself", "itself");
    const char *names[] = {"file",    "dir",     "fifo",    "socket", "to_file", "to_dir", "to_none", "itself", "/dev/null", "file/",
                           "dir/",    "to_dir/", "to_file/", "dir/.",  "dir/..",  "none",   "none/",   "file/x", "none/x",    "/",
                           "dir/new/"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned j = 0; j < sizeof flags / sizeof *flags; j++) {
            struct stat st;
            printf("%s %s", names[i], flags[j].name);
            long fd = S(open, names[i], flags[j].flags, 0644);
            if (fd >= 0 && S(fstat, fd, &st) == 0)
                printf(" type %o size %ld", st.st_mode >> 12, S_ISREG(st.st_mode) ? st.st_size : 0);
            show("", fd < 0 ? fd : 0);
            S(close, fd);
            if (S(access, "none", F_OK) == 0)
                S(unlink, "none"), printf("  made\n");
            S(stat, "file", &st);
            if (st.st_size == 0)
                put("file", "text");
        }
    return 0;
}
