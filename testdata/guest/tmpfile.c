// covers: open linkat
#include "guest.h"

int main(void)
{
    struct stat st;
    long fd;

    /* O_TMPFILE: without a name, until it gets one. */
    fd = S(open, ".", O_TMPFILE | O_RDWR, 0640);
    if (fd == -EOPNOTSUPP)
        lacks("the file system of the directory for temporary files has no O_TMPFILE; set TMPDIR");
    S(close, fd);
    fd = T(open, ".", O_TMPFILE | O_RDWR, 0640);
    T(write, fd, "unnamed", 7);
    T(fstat, fd, &st);
    num(st.st_nlink);
    num(st.st_mode);
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    show("linkat of it", S(linkat, AT_FDCWD, self, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    S(close, fd);
    cat("named");
    T(open, ".", O_TMPFILE | O_RDONLY, 0640);
    T(open, "host/file", O_TMPFILE | O_RDWR, 0640);
    T(open, "nothing", O_TMPFILE | O_RDWR, 0640);
    fd = T(open, ".", O_TMPFILE | O_WRONLY | O_EXCL, 0640);
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    show("linkat of one that is exclusive", S(linkat, AT_FDCWD, self, AT_FDCWD, "named2", AT_SYMLINK_FOLLOW));
    S(close, fd);
    return 0;
}
