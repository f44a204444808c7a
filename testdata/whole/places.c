// Where things are: the initial stack, the program, the heap, and mappings that come, go, move and grow. It prints
// addresses, so its output is another one wherever something is put elsewhere.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul

static int data = 1;
static char zeros[100];

static void *map(const char *what, void *hint, size_t pages, int flags) {
    void *at = mmap(hint, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at == MAP_FAILED)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %p\n", what, at);
    return at;
}

static void *move(const char *what, void *from, size_t old, size_t new, int flags) {
    void *at = mremap(from, old * PAGE, new * PAGE, flags);
    if (at == MAP_FAILED)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %p\n", what, at);
    return at;
}

static void initial_stack(char **argv, char **envp) {
    printf("argc %p\n", (void *)(argv - 1));
    for (char **arg = argv; *arg; arg++)
        printf("%p %s\n", (void *)*arg, *arg);
    while (*envp)
        printf("%p %s\n", (void *)*envp, *envp), envp++;
    Elf64_auxv_t *aux = (Elf64_auxv_t *)(envp + 1);
    do {
        printf("type %lu", aux->a_type);
        switch (aux->a_type) {
        case AT_PHDR: case AT_PHENT: case AT_PHNUM: case AT_BASE: case AT_ENTRY: case AT_PAGESZ: case AT_RANDOM:
        case AT_CLKTCK: case AT_FLAGS: case AT_SECURE:
            printf(" %#lx", aux->a_un.a_val);
            break;
        case AT_EXECFN: case AT_PLATFORM:
            printf(" %#lx %s", aux->a_un.a_val, (char *)aux->a_un.a_val);
            break;
        }
        putchar('\n');
    } while ((aux++)->a_type != AT_NULL);
    printf("up to %p\n", (void *)aux);
}

int main(int argc, char **argv, char **envp) {
    (void)argc;
    initial_stack(argv, envp);
    printf("code %p, data %p, zeros %p, stack %p\n", (void *)main, (void *)&data, (void *)zeros, (void *)&argc);

    char *a = map("three pages", NULL, 3, 0);
    char *b = map("one page", NULL, 1, 0);
    char *c = map("200 pages", NULL, 200, 0);
    munmap(b, PAGE);
    char *d = map("into the gap", NULL, 1, 0);
    munmap(a, 3 * PAGE);
    munmap(d, PAGE);
    map("part of a gap of four", NULL, 2, 0);
    map("more than is left", NULL, 3, 0);
    map("what is left", NULL, 2, 0);
    map("a free hint", (void *)0x20000000, 1, 0);
    map("a hint that is taken", (void *)0x20000000, 1, 0);
    map("a hint in the heap's room", (char *)sbrk(0) + 300 * PAGE, 1, 0);
    map("not to replace, free", (void *)0x20010000, 1, MAP_FIXED_NOREPLACE);
    map("fixed", (void *)0x20020000, 4, MAP_FIXED);
    c = move("shrunk", c, 200, 100, 0);
    map("where it was", NULL, 100, 0);
    c = move("may not move", c, 100, 101, 0) == MAP_FAILED ? c : NULL;
    memset(c, 1, 100 * PAGE);
    c = move("moves", c, 100, 300, MREMAP_MAYMOVE);
    c = move("grows in place", c, 300, 310, MREMAP_MAYMOVE);
    c = move("grows again", c, 310, 320, MREMAP_MAYMOVE);
    map("where it was before", NULL, 90, 0);
    map("three quarters of a gigabyte", NULL, 196608, MAP_NORESERVE);
    map("again, which does not fit below Valgrind", NULL, 393216, MAP_NORESERVE);
    printf("break %p, malloc %p, a large one %p\n", sbrk(0), malloc(100), malloc(1 << 20));

    char *start = sbrk(0);
    unsigned pages = 0;
    while (sbrk(PAGE) != (void *)-1)
        pages++;
    printf("the heap ends after %u pages more, at %p\n", pages, sbrk(0));
    printf("back %p", sbrk(start - (char *)sbrk(0)));
    printf(" is %p\n", sbrk(0));
    printf("malloc now %p\n", malloc(100000));
    return 0;
}
