// covers: madvise mmap mincore msync munmap process_madvise pidfd_open memfd_create
#include "child.h"

/* Advice that changes what memory holds: what each kind leaves in private and shared pages, and what it refuses. */
static const struct {
    const char *name;
    int advice;
} kinds[] = {{"NORMAL", 0}, {"RANDOM", 1}, {"SEQUENTIAL", 2}, {"WILLNEED", 3}, {"DONTNEED", 4}, {"REMOVE", 9}, {"DONTFORK", 10}, {"DOFORK", 11},
    {"DONTDUMP", 16}, {"DODUMP", 17}, {"WIPEONFORK", 18}, {"KEEPONFORK", 19}, {"COLD", 20}, {"PAGEOUT", 21}, {"POPULATE_READ", 22},
    {"POPULATE_WRITE", 23}, {"DONTNEED_LOCKED", 24}, {"99", 99}};

static void line(const char *what, char *p, size_t n)
{
    printf("%s:", what);
    for (size_t i = 0; i < n; i++)
        printf(" %d", p[i * 4096]);
    printf("\n");
}
static char *anon;
static void sees_its_parents(void)
{
    line("child", anon, 4);
}

int main(void)
{
    int rw = PROT_READ | PROT_WRITE;
    long fd = S(open, "f", O_RDWR | O_CREAT, 0644), mem = S(memfd_create, "m", 0);
    for (int i = 0; i < 4; i++)
        S(pwrite64, fd, "\1\1\1\1", 1, i * 4096), S(pwrite64, mem, "\1", 1, i * 4096);
    S(ftruncate, fd, 4 * 4096), S(ftruncate, mem, 4 * 4096);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int k = kinds[i].advice;
        char *a = mmap(0, 4 * 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p = mmap(0, 4 * 4096, rw, MAP_PRIVATE, (int)fd, 0),
            *s = mmap(0, 4 * 4096, rw, MAP_SHARED, (int)mem, 0), *r = mmap(0, 4096, PROT_READ, MAP_SHARED, (int)mem, 0),
            *n = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int j = 0; j < 4; j++)
            a[j * 4096] = p[j * 4096] = s[j * 4096] = (char)(5 + j);
        printf("== %s\n", kinds[i].name), show("anonymous", S(madvise, a + 4096, 8192, k)), line("  holds", a, 4),
            show("private file", S(madvise, p + 4096, 8192, k)), line("  holds", p, 4), show("shared memfd", S(madvise, s + 4096, 8192, k)),
            line("  holds", s, 4), show("read-only", S(madvise, r, 4096, k)), show("no rights", S(madvise, n, 4096, k)),
            show("nothing", S(madvise, a, 0, k)), show("not of a page", S(madvise, a + 1, 4096, k)), show("no memory", S(madvise, KERNEL, 4096, k));
        munmap(a + 4096, 4096), show("with a hole", S(madvise, a, 4 * 4096, k)), line("  before it", a, 1), line("  behind it", a + 8192, 2),
            munmap(a, 4 * 4096), munmap(p, 4 * 4096), munmap(s, 4 * 4096), munmap(r, 4096), munmap(n, 4096);
    }
    /* For children. */
    anon = mmap(0, 4 * 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++)
        anon[i * 4096] = (char)(i + 1);
    T(madvise, anon + 4096, 4096, MADV_WIPEONFORK), reap(child(sees_its_parents)), T(madvise, anon + 4096, 4096, MADV_KEEPONFORK),
        reap(child(sees_its_parents)), T(madvise, anon + 8192, 4096, MADV_DONTFORK), num(reap(child(sees_its_parents))),
        T(madvise, anon + 8192, 4096, MADV_DOFORK), reap(child(sees_its_parents));
    return 0;
}
