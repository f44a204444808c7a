// covers: personality mmap mprotect brk uname execve
#include "guest.h"
#include <sys/personality.h>
#include <sys/utsname.h>

#define P 4096L
#define RW (PROT_READ | PROT_WRITE)

static const char *perms(void *at)
{
    static char buf[65536];
    char want[32];
    long file = S(open, "/proc/self/maps", O_RDONLY), n = 0, got;
    while ((got = S(read, file, buf + n, sizeof buf - 1 - n)) > 0)
        n += got;
    S(close, file);
    buf[n] = 0;
    sprintf(want, "%08lx-", (long)at);
    char *line = strstr(buf, want);
    if (!line)
        return "none";
    line = strchr(line, ' ') + 1;
    line[4] = 0;
    return line;
}

static void map(const char *what, long prot, long flags, long fd)
{
    /* Apart from all others, so that it is a line of its own. */
    static char *next = (char *)0x300000000;
    char *p = (char *)S(mmap, next, P, prot, flags | MAP_FIXED, fd, 0);
    next += 1 << 20;
    printf("%s: %s\n", what, perms(p));
    S(mprotect, p, P, PROT_NONE);
    S(mprotect, p, P, PROT_READ);
    printf("%s, protected: %s\n", what, perms(p));
}

static void maps(void)
{
    long fd = S(open, "host/file", O_RDONLY);
    map("none", PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map("read", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map("write", PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map("both", RW, MAP_SHARED | MAP_ANONYMOUS, -1);
    map("file", PROT_READ, MAP_PRIVATE, fd);
    S(close, fd);
}

int main(int argc, char **argv)
{
    unfiltered();
    if (argc > 1) {
        printf("after execve: %lx\n", S(personality, 0xffffffff));
        return 0;
    }
    long first = S(personality, 0xffffffff) & ~ADDR_NO_RANDOMIZE;
    num(first);
    static const unsigned flags[] = {UNAME26,           ADDR_NO_RANDOMIZE, FDPIC_FUNCPTRS, ADDR_COMPAT_LAYOUT,
                                     READ_IMPLIES_EXEC, ADDR_LIMIT_32BIT,  SHORT_INODE,    WHOLE_SECONDS,
                                     STICKY_TIMEOUTS,   ADDR_LIMIT_3GB,    MMAP_PAGE_ZERO, PER_BSD,
                                     0x12345678};
    S(personality, 0);
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        printf("%x: was %lx\n", flags[i], S(personality, flags[i]));
        printf("is %lx\n", S(personality, 0xffffffff));
    }
    cat("/proc/self/personality");
    S(personality, 0);
    maps();
    S(personality, READ_IMPLIES_EXEC);
    maps();
    long end = S(brk, 0);
    is(S(brk, end + (1 << 20)) == end + (1 << 20));
    unsigned char *code = (unsigned char *)((end + P) & -P);
    memcpy(code, "\xb8\x07\0\0\0\xc3", 6);
    num(((int (*)(void))code)());
    struct utsname name;
    S(personality, UNAME26);
    num(S(uname, &name));
    printf("%.4s\n", name.release);
    S(personality, 0);
    S(uname, &name);
    is(strncmp(name.release, "2.6.", 4) != 0);
    S(personality, SHORT_INODE);
    fflush(stdout);
    execl(argv[0], argv[0], "again", NULL);
}
