// covers: getdents64 lseek open unlink mkdir fchdir
#include "guest.h"
#include <dirent.h>
#include <ftw.h>
#include <fts.h>

/* Directories as the C library reads them: telldir, seekdir, rewinddir, scandir, nftw and fts, and entries that come
 * and go meanwhile. */
static int all(const struct dirent *e)
{
    return e->d_name[0] != '.';
}
static int depth_first(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    static const char *kinds[] = {"file", "directory", "unreadable", "no stat", "link", "directory after", "dangling"};
    printf("  %s: %s at %d base %s\n", path, kinds[kind], at->level, path + at->base);
    return strcmp(path + at->base, "stop") == 0 ? 42 : 0;
}
static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(void)
{
    char name[64];
    S(mkdir, "d", 0755);
    for (int i = 0; i < 300; i++)
        snprintf(name, sizeof name, "d/file.%03d", i), put(name, "");
    DIR *dir = opendir("d");
    is(dirfd(dir) >= 0);
    long where = 0;
    int count = 0;
    char expected[256] = "", *found = 0;
    for (struct dirent *e; (e = readdir(dir)); count++) {
        if (count == 100)
            where = telldir(dir);
        if (count == 101)
            strcpy(expected, e->d_name);
    }
    num(count), seekdir(dir, where), found = readdir(dir)->d_name, found = readdir(dir) ? found : 0;
    seekdir(dir, where), is(strcmp(readdir(dir)->d_name, expected) == 0);

    /* Each that stays is seen once, whatever is removed. */
    rewinddir(dir), count = 0;
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] == 'f')
            snprintf(name, sizeof name, "d/%.20s", e->d_name), count += unlink(name) == 0;
    num(count), rewinddir(dir), count = 0;
    while (readdir(dir))
        count++;
    num(count), put("d/late", ""), rewinddir(dir), count = 0;
    while (readdir(dir))
        count++;
    num(count), num(closedir(dir)), unlink("d/late");
    is(!opendir("none") && errno == ENOENT), is(!opendir("host/file") && errno == ENOTDIR), is(!fdopendir(99) && errno == EBADF);
    is(!fdopendir((int)S(open, "host/file", O_RDONLY)) && errno == ENOTDIR);
    int fd = open("host", O_RDONLY);
    dir = fdopendir(fd), count = 0;
    while (readdir(dir))
        count++;
    num(count), closedir(dir), T(fcntl, fd, F_GETFD);

    struct dirent **list;
    int n = scandir("host", &list, all, alphasort);
    for (int i = 0; i < n; i++)
        printf("%s type %d\n", list[i]->d_name, list[i]->d_type);
    num(scandir("none", &list, 0, 0));

    S(mkdir, "t", 0755), S(mkdir, "t/one", 0755), put("t/one/x", ""), symlink("one", "t/one/l"), symlink("none", "t/one/z"), unlink("t/one/l"),
        S(mkdir, "t/one/in", 0755);
    unlink("t/one/z"), unlink("t/one/x");
    put("t/one/in/only", "");
    printf("before\n"), num(nftw("t", depth_first, 5, FTW_PHYS)), printf("after\n"), num(nftw("t", depth_first, 5, FTW_PHYS | FTW_DEPTH)),
        printf("changing\n"), num(nftw("t", depth_first, 1, FTW_CHDIR | FTW_PHYS));
    rename("t/one/in/only", "t/one/in/stop"), num(nftw("t", depth_first, 5, FTW_PHYS)), num(nftw("none", depth_first, 5, 0));
    symlink("none", "t/dangling"), symlink("one", "t/to_one"), put("t/b", "");
    char *paths[] = {"t", "host", NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *e; (e = fts_read(fts));)
        printf("%d %s level %d\n", e->fts_info, e->fts_path, e->fts_level);
    fts_close(fts), fts = fts_open((char *[]){"t", NULL}, FTS_LOGICAL, by_name);
    for (FTSENT *e; (e = fts_read(fts));)
        printf("%d %s level %d\n", e->fts_info, e->fts_path, e->fts_level);
    return 0;
}
