// covers: renameat2
// open: skip no device is made where changes go to the host
#include "guest.h"
#include <sys/sysmacros.h>

#define WHITEOUT 4

static void look(const char *path)
{
    struct stat st;
    if (show(path, S(lstat, path, &st)) == 0)
        printf("  %o %u:%u links %lu\n", st.st_mode, major(st.st_rdev), minor(st.st_rdev), (unsigned long)st.st_nlink);
}

int main(void)
{
    put("a", "1"), put("b", "2"), S(mkdir, "d", 0755);
    T(renameat2, AT_FDCWD, "a", AT_FDCWD, "x", WHITEOUT | 2), T(renameat2, AT_FDCWD, "a", AT_FDCWD, "b", WHITEOUT | 1), T(renameat2, AT_FDCWD, "none", AT_FDCWD, "x", WHITEOUT);
    T(renameat2, AT_FDCWD, "a", AT_FDCWD, "b", WHITEOUT), look("a"), cat("b"), T(open, "a", O_RDONLY), T(unlink, "a");
    T(renameat2, AT_FDCWD, "d", AT_FDCWD, "e", WHITEOUT), look("d"), look("e"), T(renameat2, AT_FDCWD, "b", AT_FDCWD, "e/b", WHITEOUT | 1), look("b"), T(rmdir, "e"), T(rename, "b", "w"), look("w");
    T(renameat2, AT_FDCWD, "host/file", AT_FDCWD, "host/away", WHITEOUT), look("host/file"), look("host/away");
    return 0;
}
