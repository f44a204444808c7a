// covers: mmap pwrite64 ftruncate truncate open mprotect mremap madvise
#include "guest.h"

static char *views[3];

static void show_views(const char *when)
{
    printf("%s: %.12s %.12s %.12s\n", when, views[0], views[1], views[2]);
}

static char *map(const char *path, long len, int prot)
{
    long fd = S(open, path, O_RDONLY);
    char *at = mmap(0, len, prot, MAP_SHARED, fd, 0);
    S(close, fd);
    return at;
}

/* A shared mapping through a descriptor that only reads shows every later change of the file, whoever makes it. */
int main(void)
{
    views[0] = map("host/file", 8192, PROT_READ);
    views[1] = map("host/file", 4096, PROT_READ);
    views[2] = map("host/link", 4096, PROT_READ);
    show_views("as it was");
    long fd = S(open, "host/file", O_RDWR);
    T(pwrite64, fd, "BY", 2, 0);
    show_views("written");
    char *late = map("host/file", 4096, PROT_READ);
    char *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(own + 3, "THE", 3);
    show_views("stored");
    printf("%.12s\n", late);
    T(mprotect, views[0], 4096, PROT_READ | PROT_WRITE);
    T(ftruncate, fd, 4);
    printf("cut: %.12s %d\n", views[0], views[0][5]);
    T(ftruncate, fd, 0);
    T(access, views[0], F_OK);
    T(pwrite64, fd, "far", 3, 4096);
    printf("grown: %d %s\n", views[0][0], views[0] + 4096);

    /* Emptied before anything else, and written anew. */
    char *other = map("host/other", 4096, PROT_READ);
    printf("%.7s\n", other);
    fd = S(open, "host/other", O_WRONLY | O_TRUNC);
    T(access, other, F_OK);
    T(write, fd, "new", 3);
    printf("%s\n", other);
    T(unlink, "host/other");
    T(pwrite64, fd, "NEW", 3, 0);
    printf("%s\n", other);

    /* Cut by its name, after the mapping was moved and split. */
    char *tool = map("host/tool", 8192, PROT_READ);
    printf("%.9s\n", tool);
    char *moved = mremap(tool, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, tool + (1 << 20));
    is(moved == tool + (1 << 20));
    T(truncate, "host/tool", 2);
    printf("%s\n", moved);
    T(madvise, moved, 4096, MADV_DONTNEED);
    printf("%s\n", moved);
    T(munmap, moved, 4096);
    fd = S(open, "host/tool", O_RDWR);
    T(pwrite64, fd, "#?", 2, 0);
    tool = map("host/tool", 4096, PROT_READ);
    printf("%s\n", tool);
    return 0;
}
