// covers: mkdir rmdir rename link symlink unlink open stat access chmod truncate chdir readlink utimensat mknod
#include "guest.h"

/* Names and paths of the greatest lengths, and dots and slashes at their ends, for each call that takes a path. */
static char name[8192];
static struct stat st;

static void all(const char *what, const char *path)
{
    printf("== %s\n", what);
    show("mkdir", S(mkdir, path, 0755)), show("stat", S(stat, path, &st)), show("rename to itself", S(rename, path, path)),
        show("rmdir", S(rmdir, path)), show("open", S(open, path, O_RDONLY) < 0 ? S(open, path, O_RDONLY) : 0),
        show("create", S(close, S(open, path, O_CREAT | O_WRONLY, 0644)) == 0 ? 0 : S(open, path, O_CREAT | O_WRONLY, 0644)),
        show("access", S(access, path, F_OK)), show("chmod", S(chmod, path, 0755)), show("truncate", S(truncate, path, 0)),
        show("unlink", S(unlink, path)), show("symlink", S(symlink, "x", path)), show("readlink", S(readlink, path, name + 7000, 10)),
        show("lstat", S(lstat, path, &st)), show("unlink", S(unlink, path)), show("link", S(link, "file", path)), show("chdir", S(chdir, path)),
        show("unlink", S(unlink, path)), show("mknod", S(mknod, path, S_IFIFO | 0600, 0)), show("utimensat", S(utimensat, AT_FDCWD, path, 0, 0)),
        show("rename", S(rename, path, "renamed")), show("rename to", S(rename, "renamed", path)), show("unlink", S(unlink, path)),
        S(unlink, "renamed");
}

int main(void)
{
    put("file", ""), S(mkdir, "dir", 0755), S(symlink, "dir", "to_dir"), S(symlink, "none", "to_none"), S(mkdir, "work", 0755);
    memset(name, 'n', 255), name[255] = 0, all("255 letters", name), memset(name, 'n', 256), name[256] = 0, all("256 letters", name),
        memcpy(name, "dir/", 4), memset(name + 4, 'n', 255), name[259] = 0, all("a directory and 255", name), memset(name, 'd', 256),
        strcpy(name + 256, "/x"), all("256 in the middle", name), memcpy(name, "none/", 5), all("none, and 256", name);
    memset(name, '/', 4200), memcpy(name, "dir", 3), strcpy(name + 4094, "x"), all("a path of 4095", name), memset(name, '/', 4200),
        memcpy(name, "dir", 3), strcpy(name + 4095, "x"), all("a path of 4096", name);
    all("empty", ""), all("none/x", "none/x"), all("file/x", "file/x"), all("to_none/x", "to_none/x"), all("new/", "new/"), all("new//", "new//"),
        all("new/.", "new/.");
    const char *there[] = {".", "..", "./", "dir/.", "dir/..", "dir/", "to_dir", "to_dir/", "to_none", "to_none/", "file/", "file/.", "/", "//"};
    for (int i = 0; i < 14; i++) {
        const char *p = there[i];
        printf("== %s\n", p), show("mkdir", S(mkdir, p, 0755)), show("mknod", S(mknod, p, S_IFREG | 0644, 0)), show("symlink", S(symlink, "x", p)),
            show("link to", S(link, "file", p)), show("link from", S(link, p, "new")), show("rename to", S(rename, "file", p)),
            show("stat", S(stat, p, &st)), show("lstat", S(lstat, p, &st)), printf("type %o\n", st.st_mode >> 12),
            show("readlink", S(readlink, p, name, 10)), show("truncate", S(truncate, p, 0)),
            show("creat", S(creat, p, 0644) < 0 ? S(creat, p, 0644) : 0), show("exclusive", S(open, p, O_CREAT | O_EXCL, 0644)), S(unlink, "none"),
            S(unlink, "new");
        if (i < 3 || i == 4 || i > 11)
            show("rmdir", S(rmdir, p)), show("unlink", S(unlink, p)), show("rename from", S(rename, p, "new"));
        if (S(access, "file", F_OK))
            put("file", "");
    }
    return 0;
}
