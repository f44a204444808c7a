// covers: prctl mremap mprotect fork
// native: skip names of memory are an option of the kernel, CONFIG_ANON_VMA_NAME
// expect: vma_names.out
/* PR_SET_VMA_ANON_NAME: names that a program gives its memory, and where /proc/self/maps shows them. */
#include "emulated.h"
#include "cases.h"

#define P 4096L

/* The lines of maps from an address on, with distances for addresses. */
static void lines(char *base, int count)
{
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (count && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char prot[8], *name = strchr(line, '[');
        sscanf(line, "%lx-%lx %7s", &start, &end, prot);
        if (start < (unsigned long)base)
            continue;
        printf("%ld-%ld %s %s", (start - (long)base) / P, (end - (long)base) / P, prot, name ? name : "\n");
        count--;
    }
    fclose(maps);
}
static char *pages(int count, int kind)
{
    /* In a hole of its own, so that nothing is joined to it. */
    char *room = (char *)S(mmap, 0, (count + 16) * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return (char *)S(mmap, room + 8 * P, count * P, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
#define NAME(at, len, name) T(prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, len, name)

static void cut_and_join(void)
{
    char *p = pages(4, MAP_PRIVATE);
    NAME(p, 4 * P, "whole"), lines(p, 1);
    NAME(p + P, P, "one"), lines(p, 3);
    NAME(p + P, 1, "whole"), lines(p, 1);
    NAME(p + P, 2 * P, NULL), lines(p, 3);
    NAME(p, 4 * P, NULL), lines(p, 1);
    NAME(p, 4 * P, ""), lines(p, 1);
    NAME(p, 0, "nothing"), lines(p, 1);
}
static void shared_memory_and_the_heap(void)
{
    char *s = pages(2, MAP_SHARED);
    NAME(s, 2 * P, "both see it"), lines(s, 1);
    char *heap = (char *)S(brk, 0);
    S(brk, heap + 2 * P);
    char *at = (char *)(((long)heap + P - 1) & -P);
    NAME(at, P, "in the heap");
    is(strstr((lines(at, 1), "x"), "x") != NULL);
}
static void move_with_their_memory(void)
{
    char *p = pages(3, MAP_PRIVATE), *q = pages(3, MAP_PRIVATE);
    NAME(p, 3 * P, "moves");
    is((char *)S(mremap, p, 3 * P, 3 * P, MREMAP_MAYMOVE | MREMAP_FIXED, q) == q);
    lines(q, 1);
    T(mprotect, q, P, PROT_READ), lines(q, 2);
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        lines(q, 2), fflush(stdout), _exit(0);
    reap("the child", child, 0);
}
static void are_refused(void)
{
    char *p = pages(4, MAP_PRIVATE), *last = edge();
    char longest[82];
    memset(longest, 'n', 81), longest[81] = 0;
    NAME(p, P, longest), longest[80] = 0, NAME(p, P, longest), longest[79] = 0, NAME(p, P, longest);
    lines(p, 2);
    NAME(p, P, "a[b"), NAME(p, P, "a]b"), NAME(p, P, "a$b"), NAME(p, P, "a`b"), NAME(p, P, "a\\b"), NAME(p, P, "a\nb");
    NAME(p, P, "a\x7f"), NAME(p, P, "\xe9"), NAME(p, P, "blanks are good ~!"), lines(p, 1);
    NAME(p, P, BAD), NAME(p, P, last - 1 - (last[-1] = 'x', 0));
    NAME(p + 1, P, "odd"), NAME(p, -1, "long"), NAME(p, -2 * P, "round"), NAME((char *)-P, 2 * P, "end");
    T(munmap, p + P, P);
    NAME(p, 4 * P, "over a hole"), lines(p, 2);
    NAME(p + P, P, "a hole");
    put("file", "text");
    long fd = S(open, "file", O_RDWR);
    char *f = (char *)S(mmap, 0, P, PROT_READ, MAP_PRIVATE, fd, 0);
    NAME(f, P, "a file");
    T(prctl, PR_SET_VMA, 1, p, P, "other"), T(prctl, PR_SET_VMA, -1, p, P, "other");
}

int main(void)
{
    CASE(cut_and_join);
    CASE(shared_memory_and_the_heap);
    CASE(move_with_their_memory);
    CASE(are_refused);
    return 0;
}
