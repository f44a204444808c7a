// covers: getdents getdents64
#include "guest.h"
#include <dirent.h>

struct old {
    unsigned long ino;
    long off;
    unsigned short len;
    char name[];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static char names[200][64];

/* Every name with its kind, sorted: the order is the file system's own. */
static void list(long fd, size_t size)
{
    char buf[4096];
    long n;
    int count = 0, bad = 0;
    while ((n = S(getdents64, fd, buf, size)) > 0)
        for (long at = 0; at < n;) {
            struct dirent64 *e = (void *)(buf + at);
            snprintf(names[count++], 64, "%.50s %d", e->d_name, e->d_type);
            bad += e->d_reclen % 8 != 0 || e->d_ino == 0;
            at += e->d_reclen;
        }
    qsort(names, count, 64, by_name);
    for (int i = 0; i < count; i++)
        printf("  %s\n", names[i]);
    printf("%d names, last answer %ld, bad entries %d\n", count, n, bad);
}

int main(void)
{
    char buf[4096];
    long fd = T(open, "host", O_RDONLY | O_DIRECTORY);
    list(fd, sizeof buf);
    T(getdents64, fd, buf, sizeof buf);
    T(lseek, fd, 0, SEEK_SET);
    list(fd, 40);
    T(lseek, fd, 0, SEEK_SET);
    T(getdents64, fd, buf, 10);
    T(getdents64, fd, buf, 0);
    T(getdents, fd, buf, 10);
    T(getdents64, fd, BAD, sizeof buf);

    /* New, renamed and removed entries. */
    put("host/added", "x");
    S(unlink, "host/other");
    S(mkdir, "host/sub", 0755);
    S(symlink, "x", "host/sym");
    S(mknod, "host/fifo", S_IFIFO | 0600, 0);
    S(rename, "host/tool", "host/utility");
    S(lseek, fd, 0, SEEK_SET);
    list(fd, sizeof buf);
    S(close, fd);

    fd = S(open, "host/empty", O_RDONLY);
    list(fd, sizeof buf);
    S(rmdir, "host/empty");
    S(lseek, fd, 0, SEEK_SET);
    T(getdents64, fd, buf, sizeof buf);
    S(close, fd);

    fd = S(open, "host", O_RDONLY);
    long n = S(getdents, fd, buf, sizeof buf);
    int count = 0, kinds = 0;
    for (long at = 0; at < n; count++) {
        struct old *e = (void *)(buf + at);
        kinds += buf[at + e->len - 1] == DT_DIR;
        at += e->len;
    }
    printf("getdents: %d names, %d directories\n", count, kinds);
    T(getdents, fd, buf, sizeof buf);

    T(getdents64, 99, buf, sizeof buf);
    T(getdents64, S(open, "host/file", O_RDONLY), buf, sizeof buf);
    T(getdents64, 0, buf, sizeof buf);
    T(getdents, 99, buf, sizeof buf);

    /* Many names, and removal while reading. */
    S(mkdir, "many", 0755);
    for (int i = 0; i < 150; i++) {
        char name[32];
        sprintf(name, "many/file-%03d", i);
        put(name, "");
    }
    fd = S(open, "many", O_RDONLY);
    list(fd, 256);
    S(lseek, fd, 0, SEEK_SET);
    int removed = 0;
    while ((n = S(getdents64, fd, buf, 512)) > 0)
        for (long at = 0; at < n;) {
            struct dirent64 *e = (void *)(buf + at);
            if (e->d_name[0] != '.')
                removed += S(unlinkat, fd, e->d_name, 0) == 0;
            at += e->d_reclen;
        }
    num(removed);
    T(rmdir, "many");
    return 0;
}
