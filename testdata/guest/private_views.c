// covers: mmap write pwrite64 ftruncate fallocate mprotect fork
/* Private mappings show what is written to their files, but for pages that were stored to. */
#include "guest.h"
#include <linux/falloc.h>
#include <sys/wait.h>

#define P 4096L

static char *map(long fd, long pages)
{
    return (char *)S(mmap, 0, pages * P, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
}

static void show_pages(const char *what, const char *m)
{
    printf("%s: %d %d %d %d\n", what, m[0], m[P], m[2 * P], m[3 * P]);
}

static void both(const char *path)
{
    char page[P];
    int status;
    long fd = S(open, path, O_RDWR);
    memset(page, '0', P);
    printf("%s\n", path);
    char *m = map(fd, 4), *untouched = map(fd, 4);
    volatile char first = m[0];
    /* Before the first change: one page is looked at, another is stored to. */
    printf("%c%c\n", first, untouched[1]);
    if (S(lseek, fd, 0, SEEK_END) > P)
        m[P] = 'm';
    else
        m[1] = 'm';
    for (int i = 0; i < 3; i++)
        memset(page, '1' + i, P), S(pwrite64, fd, page, P, i * P);
    show_pages("written", (S(ftruncate, fd, 4 * P), m)), show_pages("not touched before", untouched);
    m[2 * P] = 'M';
    S(pwrite64, fd, "wxyz", 4, 0), S(pwrite64, fd, "wxyz", 4, P), S(pwrite64, fd, "wxyz", 4, 2 * P), S(pwrite64, fd, "wxyz", 4, 3 * P);
    show_pages("written again", m), show_pages("the other", untouched);
    printf("%.4s %.4s %.4s\n", m, m + P, untouched + P), m[P] = 'm';
    /* A child has the same pages; its own stores and the parent's are nobody else's. */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        untouched[0] = 'c';
        S(pwrite64, fd, "from the child", 14, 3 * P);
        show_pages("the child", untouched), fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    show_pages("after the child", untouched), show_pages("after the child", m);
    /* A shared mapping's stores show too. */
    char *s = (char *)S(mmap, 0, 4 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    s[0] = 'S', s[P] = 'S', s[3 * P] = 'S';
    show_pages("stored", m), show_pages("stored", untouched);
    /* The kernel's stores into it are stores too. */
    long zero = S(open, "/dev/zero", O_RDONLY);
    S(read, zero, m + 3 * P, 1), S(pwrite64, fd, "!", 1, 3 * P);
    show_pages("read into it", m), show_pages("and the other", untouched);
    S(mprotect, untouched, P, PROT_READ), S(pwrite64, fd, "?", 1, 0);
    show_pages("only read", untouched);
    S(madvise, m, 4 * P, MADV_DONTNEED);
    show_pages("forgotten", m);
    S(ftruncate, fd, P), S(ftruncate, fd, 4 * P);
    show_pages("cut", untouched), show_pages("cut", m);
    S(munmap, m, 4 * P), S(munmap, untouched, 4 * P), S(munmap, s, 4 * P), S(close, fd), S(close, zero);
}

int main(void)
{
    char page[P];
    memset(page, 'a', P);
    long fd = S(open, "made", O_RDWR | O_CREAT, 0644);
    for (int i = 0; i < 3; i++)
        S(write, fd, page, P);
    both("made");
    both("host/file");
    /* Appended to while it is mapped. */
    long log = S(open, "log", O_RDWR | O_CREAT | O_APPEND, 0644);
    S(write, log, "one ", 4);
    char *m = map(log, 1);
    printf("%s\n", m);
    S(write, log, "two ", 4);
    printf("%s\n", m);
    m[0] = 'O';
    S(write, log, "three", 5);
    printf("%s\n", m);
    cat("log");
    return 0;
}
