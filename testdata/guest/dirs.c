// covers: mkdir mkdirat rmdir unlink unlinkat
#include "guest.h"

int main(void)
{
    struct stat st;
    char name[300];

    T(mkdir, "d", 0777);
    T(mkdir, "d", 0777);
    T(mkdir, "d/e", 0700);
    T(mkdir, "d/e/", 0700);
    T(mkdir, "d/f/", 07777);
    T(mkdir, "x/y", 0777);
    T(mkdir, "host/file", 0777);
    T(mkdir, "host/file/x", 0777);
    T(mkdir, "host/dangling", 0777);
    T(mkdir, "host/link", 0777);
    T(mkdir, "", 0777);
    T(mkdir, ".", 0777);
    T(mkdir, "..", 0777);
    T(mkdir, "/", 0777);
    T(mkdir, BAD, 0777);
    memset(name, 'd', 256), name[256] = 0;
    T(mkdir, name, 0777);
    name[255] = 0;
    T(mkdir, name, 0777);
    long host = S(open, "host", O_RDONLY), file = S(open, "host/file", O_RDONLY);
    T(mkdirat, host, "new", 0750);
    T(mkdirat, AT_FDCWD, "host/new2", 0750);
    T(mkdirat, 99, "x", 0750);
    T(mkdirat, file, "x", 0750);

    T(rmdir, "d");
    T(rmdir, "d/e/");
    T(rmdir, "d/f");
    T(rmdir, "d/.");
    T(rmdir, "d/..");
    T(rmdir, "d");
    T(rmdir, "d");
    T(rmdir, "host/file");
    T(rmdir, "host/file/x");
    T(rmdir, "host");
    T(rmdir, "/");
    T(rmdir, ".");
    T(rmdir, "");
    T(rmdir, BAD);
    T(rmdir, "host/empty");
    T(access, "host/empty", F_OK);
    T(mkdir, "host/empty", 0711);
    S(symlink, "host/empty", "to-empty");
    T(rmdir, "to-empty");
    T(rmdir, "to-empty/");

    put("f", "text");
    long fd = S(open, "f", O_RDWR);
    T(unlink, "f");
    T(unlink, "f");
    T(pwrite64, fd, "T", 1, 0);
    T(fstat, fd, &st);
    num(st.st_nlink);
    T(unlink, "host");
    T(unlink, "host/file/");
    T(unlink, "host/file/x");
    T(unlink, "");
    T(unlink, ".");
    T(unlink, "/");
    T(unlink, BAD);
    T(unlink, "host/dangling");
    T(unlink, "host/link");
    T(access, "host/file", F_OK);
    T(unlinkat, host, "file", 0);
    T(unlinkat, host, "file", 0);
    T(unlinkat, host, "empty", 0);
    T(unlinkat, host, "empty", AT_REMOVEDIR);
    T(unlinkat, host, "other", AT_REMOVEDIR);
    T(unlinkat, host, "other", 1);
    T(unlinkat, 99, "x", 0);
    T(unlinkat, file, "x", 0);
    T(unlinkat, host, "", AT_REMOVEDIR);

    /* A directory that is gone but held. */
    S(mkdir, "gone", 0755);
    long gone = S(open, "gone", O_RDONLY);
    T(rmdir, "gone");
    T(openat, gone, "x", O_WRONLY | O_CREAT, 0600);
    T(mkdirat, gone, "x", 0700);
    T(newfstatat, gone, ".", &st, 0);
    num(st.st_nlink);
    T(newfstatat, gone, "..", &st, 0);
    return 0;
}
