// covers: ioctl
#include "guest.h"
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/vfs.h>

/* Extents of files, FS_IOC_FIEMAP, where the bytes are written to the disk first. */

#define PAGE 4096
#define MOST 8

static struct {
    struct fiemap head;
    struct fiemap_extent extents[MOST];
} map;

static void ask(const char *what, long fd, unsigned long start, unsigned long len, unsigned flags, unsigned count)
{
    static unsigned long shift;

    memset(&map, 0x55, sizeof map);
    map.head = (struct fiemap){start, len, flags, 77, count, 5};
    long result = show(what, S(ioctl, fd, FS_IOC_FIEMAP, &map));
    printf("  flags %#x, %u mapped of %u, %u\n", map.head.fm_flags, map.head.fm_mapped_extents, map.head.fm_extent_count,
           map.head.fm_reserved);
    for (unsigned i = 0; result == 0 && i < map.head.fm_mapped_extents && i < count; i++) {
        const struct fiemap_extent *e = &map.extents[i];
        printf("  %#llx and %#llx bytes, flags %#x, reserved %llx %llx %x\n", e->fe_logical, e->fe_length, e->fe_flags,
               e->fe_reserved64[0], e->fe_reserved64[1], e->fe_reserved[2]);
        printf("  whole blocks somewhere: %d\n", e->fe_physical > 0 && e->fe_physical % PAGE == 0);
        if (i == 0 && start == 0)
            shift = e->fe_physical;
        else if (i == 0 && e->fe_logical == PAGE)
            printf("  a block further: %d\n", e->fe_physical == shift + PAGE);
    }
}
#define ASK(fd, ...) ask("fiemap(" #fd ", " #__VA_ARGS__ ")", fd, __VA_ARGS__)

int main(void)
{
    static char bytes[2 * PAGE];
    struct statfs fs;
    long f = S(open, "extents", O_RDWR | O_CREAT | O_TRUNC, 0600);

    fstatfs(f, &fs);
    if (fs.f_type != 0xef53)
        lacks("the file system is not ext4");

    puts("nothing is nowhere:");
    ASK(f, 0, ~0UL, FIEMAP_FLAG_SYNC, MOST);

    puts("three pieces:");
    memset(bytes, 1, sizeof bytes);
    S(pwrite64, f, bytes, 2 * PAGE, 0), S(pwrite64, f, bytes, 100, 16 * PAGE);
    S(pwrite64, f, bytes, 2 * PAGE, 32 * PAGE + 1000);
    ASK(f, 0, ~0UL, FIEMAP_FLAG_SYNC, MOST), ASK(f, 0, ~0UL, FIEMAP_FLAG_SYNC, 3);

    puts("counted, and not all:");
    ASK(f, 0, ~0UL, 0, 0), ASK(f, 0, ~0UL, 0, 1), ASK(f, 0, ~0UL, 0, 2);

    puts("parts:");
    ASK(f, PAGE + 5, ~0UL, 0, MOST), ASK(f, 0, PAGE + 1, 0, MOST), ASK(f, 0, PAGE, 0, MOST);
    ASK(f, 4 * PAGE, PAGE, 0, MOST), ASK(f, 33 * PAGE, ~0UL, 0, MOST), ASK(f, 0, 32 * PAGE + 1, 0, MOST);
    ASK(f, 1 << 20, ~0UL, 0, MOST);

    puts("a hole punched:");
    S(fallocate, f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 16 * PAGE, PAGE);
    ASK(f, 0, ~0UL, FIEMAP_FLAG_SYNC, MOST);

    puts("for one who only writes:");
    long w = S(open, "extents", O_WRONLY);
    ASK(w, 0, ~0UL, 0, MOST);

    puts("errors:");
    ASK(f, 0, 0, 0, MOST), ASK(f, 1UL << 44, PAGE, 0, MOST), ASK(f, 1UL << 44, 0, 8, MOST);
    ASK(f, 0, PAGE, 8, MOST), ASK(f, 0, PAGE, 8 | FIEMAP_FLAG_SYNC, MOST), ASK(f, 1UL << 44, PAGE, 8, MOST);
    ASK(f, 0, ~0UL, FIEMAP_FLAG_CACHE, MOST), ASK(f, 0, ~0UL, FIEMAP_FLAG_XATTR, MOST);
    ASK(f, 0, ~0UL, 0, 1 << 30), ASK(f, 0, ~0UL, 0, 0xffffffff / 56), ASK(f, 0, ~0UL, 0, 0xffffffff / 56 + 1);
    T(ioctl, f, FS_IOC_FIEMAP, BAD), T(ioctl, 77, FS_IOC_FIEMAP, &map);

    puts("extents that have no room:");
    char *two = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(two + PAGE, PAGE);
    struct fiemap *end = (void *)(two + PAGE - sizeof map.head - sizeof *map.extents);
    *end = (struct fiemap){.fm_length = ~0UL, .fm_extent_count = MOST};
    T(ioctl, f, FS_IOC_FIEMAP, end);
    printf("  %u mapped\n", end->fm_mapped_extents);

    puts("other files:");
    int ends[2];
    long d = S(open, ".", O_RDONLY), p = S(open, "extents", O_PATH), n = S(open, "/dev/null", O_RDONLY);
    long s = S(open, "/proc/self/stat", O_RDONLY), m = S(memfd_create, "m", 0), u = S(socket, 1, 1, 0);
    S(pipe, ends);
    ASK(d, 0, ~0UL, 0, MOST), ASK(p, 0, ~0UL, 0, MOST), ASK(n, 0, ~0UL, 0, MOST), ASK(s, 0, ~0UL, 0, MOST);
    ASK(m, 0, ~0UL, 0, MOST), ASK(u, 0, ~0UL, 0, MOST), ASK(ends[0], 0, ~0UL, 0, MOST);
    S(unlink, "extents");
    return 0;
}
