// covers: rename renameat renameat2
#include "guest.h"
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

int main(void)
{
    put("a", "file a");
    put("b", "file b");
    long held = S(open, "b", O_RDONLY);
    char buf[16];

    T(rename, "a", "b");
    cat("a");
    cat("b");
    T(read, held, buf, sizeof buf);
    printf("%.6s\n", buf);
    T(rename, "b", "b");
    T(rename, "b", "host/b");
    T(rename, "host/b", "b");
    T(rename, "nothing", "c");
    T(rename, "nothing", "nothing/c");
    T(rename, "", "c");
    T(rename, "b", "");
    T(rename, BAD, "c");
    T(rename, "b", BAD);
    T(rename, "b", "host/file/x");
    T(rename, "host/file/x", "b");

    /* Directories. */
    S(mkdir, "d", 0755), S(mkdir, "e", 0755), S(mkdir, "d/sub", 0755);
    T(rename, "b", "d");
    T(rename, "d", "b");
    T(rename, "d", "e");
    T(rename, "e", "host");
    S(mkdir, "f", 0755);
    T(rename, "f", "e");
    T(rename, "f", "e/sub");
    T(rename, "e", "e/sub/inside");
    T(rename, "e", "e");
    T(rename, "e/.", "f");
    T(rename, "e/..", "f");
    T(rename, ".", "f");
    T(rename, "e/", "g/");
    T(rename, "b", "newfile/");
    T(rename, "b/", "newfile");
    T(rename, "g", "e");

    /* The links themselves. */
    T(rename, "host/link", "moved");
    T(readlink, "moved", buf, sizeof buf);
    T(rename, "host/dangling", "moved");
    T(readlink, "moved", buf, sizeof buf);

    /* Two names of one file: nothing happens. */
    S(link, "b", "b2");
    T(rename, "b", "b2");
    T(access, "b", F_OK);
    T(access, "b2", F_OK);

    /* Files and a directory of the host. */
    T(rename, "host/file", "host/file2");
    cat("host/file2");
    T(access, "host/file", F_OK);
    T(rename, "host", "house");
    cat("house/file2");
    T(access, "host", F_OK);
    T(rename, "house", "host");
    cat("host/other");

    T(rename, "b", "/dev/null/x");

    long d = S(open, "host", O_RDONLY), e = S(open, "e", O_RDONLY), file = S(open, "b", O_RDONLY);
    T(renameat, d, "file2", e, "file");
    cat("e/file");
    T(renameat, e, "file", AT_FDCWD, "f2");
    T(renameat, 99, "x", AT_FDCWD, "y");
    T(renameat, file, "x", AT_FDCWD, "y");
    T(renameat, AT_FDCWD, "f2", file, "y");
    T(renameat, AT_FDCWD, "f2", 99, "y");

    put("p", "file p"), put("q", "file q");
    T(renameat2, AT_FDCWD, "p", AT_FDCWD, "q", RENAME_NOREPLACE);
    T(renameat2, AT_FDCWD, "p", AT_FDCWD, "r", RENAME_NOREPLACE);
    T(renameat2, AT_FDCWD, "r", AT_FDCWD, "q", RENAME_EXCHANGE);
    cat("r");
    cat("q");
    T(renameat2, AT_FDCWD, "r", AT_FDCWD, "e", RENAME_EXCHANGE);
    cat("e");
    T(renameat2, AT_FDCWD, "r", AT_FDCWD, "nothing", RENAME_EXCHANGE);
    T(renameat2, AT_FDCWD, "r", AT_FDCWD, "r/sub/x", RENAME_EXCHANGE);
    T(renameat2, AT_FDCWD, "q", AT_FDCWD, "r", RENAME_EXCHANGE | RENAME_NOREPLACE);
    T(renameat2, AT_FDCWD, "q", AT_FDCWD, "r", 0x100);
    T(renameat2, AT_FDCWD, "q", AT_FDCWD, "q", RENAME_NOREPLACE);
    T(renameat2, AT_FDCWD, "q", AT_FDCWD, "q", RENAME_EXCHANGE);
    return 0;
}
