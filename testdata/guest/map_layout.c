// covers: mmap mprotect munmap mremap madvise open read
#include "guest.h"

/* Areas of memory as /proc/self/maps shows them: which become one, which are split, and what each line says. */
static char *base;

static void areas(const char *what)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    printf("%s:\n", what);
    while (fgets(line, sizeof line, f)) {
        unsigned long from, to, offset, inode;
        char rights[8], name[300] = "";
        unsigned major, minor;
        if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %299[^\n]", &from, &to, rights, &offset, &major, &minor, &inode, name) < 7)
            continue;
        if (from >= (unsigned long)base && to <= (unsigned long)base + 64 * 4096) {
            char *last = strrchr(name, '/');
            printf("  %2lu+%lu %s offset %lu%s %s\n", (from - (unsigned long)base) / 4096, (to - from) / 4096, rights, offset / 4096,
                inode ? " file" : "", last ? last + 1 : name);
        }
    }
    fclose(f);
}
static void at(int page, int count, int prot, int flags, int fd, int offset)
{
    void *p = mmap(base + page * 4096, (size_t)count * 4096, prot, flags | MAP_FIXED, fd, offset * 4096);
    if (p != base + page * 4096)
        printf("mmap failed\n");
}

int main(void)
{
    int anon = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE;
    /* Room with nothing on either side that could join. */
    char *room = mmap(0, 66 * 4096, PROT_NONE, anon, -1, 0);
    base = room + 4096, munmap(base, 64 * 4096);
    mprotect(room, 4096, PROT_READ | PROT_EXEC), mprotect(base + 64 * 4096, 4096, PROT_READ | PROT_EXEC);
    int self = open("/proc/self/exe", O_RDONLY), fd = open("f", O_RDWR | O_CREAT, 0644);
    S(ftruncate, fd, 8 * 4096);
    areas("nothing");
    at(0, 4, rw, anon, -1, 0), at(4, 4, rw, anon, -1, 0), areas("two that join"), mprotect(base + 2 * 4096, 8192, PROT_READ), areas("three"),
        mprotect(base + 2 * 4096, 8192, rw), areas("one again"), munmap(base + 3 * 4096, 4096), areas("a hole"),
        at(3, 1, PROT_READ | PROT_EXEC, anon, -1, 0), areas("filled with another"), at(3, 1, rw, anon, -1, 0), areas("filled with the same");
    at(10, 4, PROT_READ, MAP_PRIVATE, self, 0), at(14, 2, PROT_READ, MAP_PRIVATE, self, 3), areas("offsets that do not go on"),
        at(16, 2, PROT_READ, MAP_SHARED, fd, 5), areas("shared"), mprotect(base + 16 * 4096, 4096, rw), areas("writable"),
        at(20, 1, PROT_NONE, anon, -1, 0), at(21, 1, PROT_WRITE, anon, -1, 0), at(22, 1, PROT_EXEC, anon, -1, 0), areas("single rights");
    T(mprotect, base + 20 * 4096, 3 * 4096, PROT_READ), areas("made equal"), T(mprotect, base + 20 * 4096, 5 * 4096, PROT_NONE),
        areas("up to the hole"), T(mprotect, base + 25 * 4096, 4096, PROT_READ), T(mprotect, base + 1, 4096, PROT_READ),
        T(mprotect, base, 0, PROT_READ), T(mprotect, base, 4096, 0x100), T(mprotect, base, -4096l, PROT_READ);
    T(munmap, base + 1, 4096), T(munmap, base, 0), T(munmap, base + 30 * 4096, 8 * 4096), T(munmap, base + 1 * 4096, 20 * 4096), areas("across several");
    at(40, 2, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0), at(42, 2, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0), areas("shared without a file");
    is(mremap(base + 40 * 4096, 8192, 3 * 4096, 0) == MAP_FAILED && errno == ENOMEM),
        is(mremap(base + 42 * 4096, 8192, 3 * 4096, 0) == base + 42 * 4096), areas("grown"),
        is(mremap(base + 42 * 4096, 3 * 4096, 4096, 0) == base + 42 * 4096), areas("shrunk"),
        is(mremap(base + 40 * 4096, 8192, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, base + 50 * 4096) == base + 50 * 4096), areas("moved");
    long mem = S(memfd_create, "name of it", 0);
    S(ftruncate, mem, 8192), at(55, 2, rw, MAP_SHARED, (int)mem, 0), areas("memfd"), S(close, mem), S(unlink, "f"),
        at(57, 1, PROT_READ, MAP_PRIVATE, fd, 7), areas("removed"), madvise(base + 55 * 4096, 4096, MADV_DONTFORK), areas("advice divides"),
        madvise(base + 55 * 4096, 4096, MADV_DOFORK), areas("and joins");
    return 0;
}
