// covers: remap_file_pages mmap munmap
#include "guest.h"

#define PAGE 4096L
#define RW (PROT_READ | PROT_WRITE)

static void shown(const char *what, const char *p, int pages)
{
    printf("%s: ", what);
    for (int i = 0; i < pages; i++)
        putchar(p[i * PAGE] ? p[i * PAGE] : '.');
    putchar('\n');
}

/* The only mapping of a file is replaced by another of the same file. */
static void mapped_over_itself(long fd)
{
    char *p = mmap(0, 4 * PAGE, RW, MAP_SHARED, fd, 0), byte;
    is(mmap(p, 4 * PAGE, RW, MAP_SHARED | MAP_FIXED, fd, 0) == p), shown("over itself", p, 4);
    p[0] = 'A', munmap(p, 4 * PAGE);
    T(pread64, fd, &byte, 1, 0), num(byte);
    p = mmap(0, 4 * PAGE, RW, MAP_SHARED, fd, 0), shown("again", p, 4), munmap(p, 4 * PAGE);
}

int main(void)
{
    long fd = S(open, "file", O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, 6 * PAGE);
    for (int i = 0; i < 6; i++)
        S(pwrite64, fd, &"abcdef"[i], 1, i * PAGE);
    mapped_over_itself(fd);

    char *p = mmap(0, 6 * PAGE, RW, MAP_SHARED, fd, 0);
    T(remap_file_pages, p, PAGE, 0, 5, 0), T(remap_file_pages, p + 5 * PAGE, PAGE, 0, 0, 0), shown("exchanged", p, 6);
    p[0] = 'F', p[5 * PAGE] = 'B';
    T(remap_file_pages, p, 6 * PAGE, 0, 0, 0), shown("in order again", p, 6);
    T(remap_file_pages, p + PAGE + 5, 2 * PAGE + 7, 0, 3, MAP_NONBLOCK), shown("whole pages", p, 6);
    T(remap_file_pages, p, 6 * PAGE, 0, 0, 0), shown("all of several mappings", p, 6);
    mprotect(p + 2 * PAGE, PAGE, PROT_READ);
    T(remap_file_pages, p, 6 * PAGE, 0, 0, 0), T(remap_file_pages, p + 2 * PAGE, PAGE, 0, 0, 0), shown("read only", p, 6);
    mprotect(p + 2 * PAGE, PAGE, RW);
    T(remap_file_pages, p, PAGE, PROT_READ, 0, 0), T(remap_file_pages, p, 0, 0, 0, 0), T(remap_file_pages, p, PAGE - 1, 0, 0, 0);
    T(remap_file_pages, p, -PAGE, 0, 0, 0), T(remap_file_pages, p, PAGE, 0, -1L, 0), T(remap_file_pages, p, PAGE, 0, 1L << 52, 0);
    munmap(p + 3 * PAGE, PAGE);
    T(remap_file_pages, p, 6 * PAGE, 0, 0, 0), T(remap_file_pages, p + 3 * PAGE, PAGE, 0, 0, 0), T(remap_file_pages, 0, PAGE, 0, 0, 0);
    munmap(p, 6 * PAGE);

    /* Only shared mappings; what has no name is a file too. */
    p = mmap(0, 2 * PAGE, RW, MAP_PRIVATE, fd, 0);
    T(remap_file_pages, p, PAGE, 0, 1, 0), munmap(p, 2 * PAGE);
    p = mmap(0, 2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T(remap_file_pages, p, PAGE, 0, 1, 0), munmap(p, 2 * PAGE);
    p = mmap(0, 3 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++)
        p[i * PAGE] = (char)('x' + i);
    T(remap_file_pages, p, PAGE, 0, 2, 0), T(remap_file_pages, p + 2 * PAGE, PAGE, 0, 0, 0), shown("anonymous", p, 3);
    munmap(p, 3 * PAGE);
    long only = S(open, "file", O_RDONLY);
    p = mmap(0, 2 * PAGE, PROT_READ, MAP_SHARED, only, 0);
    T(remap_file_pages, p, PAGE, 0, 3, 0), shown("of a file that is only read", p, 2);
    T(mprotect, p, PAGE, RW), munmap(p, 2 * PAGE);
    return 0;
}
