/* What the guest tests share: calls without the C library in between, and their results in words that are the
 * same on every machine. */
#ifndef GUEST_H
#define GUEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The names that a C library older than the kernel lacks. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* An address that is never mapped, and one that is not even of the user's half. */
#define BAD ((void *)16)
#define KERNEL ((void *)0xffff800000000000)

/* The call itself: the result register as it is, so -1 .. -4095 are errors. */
static inline long sys_(long n, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define SYS6(n, a, b, c, d, e, f, ...) \
    sys_((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* A call without a line of output. */
#define S(name, ...) SYS6(SYS_##name __VA_OPT__(, ) __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline long show(const char *what, long result)
{
    if (result < 0 && result > -4096) {
        const char *name = strerrorname_np((int)-result);
        printf("%s: %s\n", what, name ? name : "unnamed error");
    } else {
        printf("%s = %ld\n", what, result);
    }
    return result;
}

/* A call and a line with its result. */
#define T(name, ...) show(#name "(" #__VA_ARGS__ ")", S(name __VA_OPT__(, ) __VA_ARGS__))
/* The same for a result that differs between machines: only whether it is an error. */
static inline long show_ok(const char *what, long result)
{
    if (result < 0 && result > -4096)
        return show(what, result);
    printf("%s: ok\n", what);
    return result;
}
#define OK(name, ...) show_ok(#name "(" #__VA_ARGS__ ")", S(name __VA_OPT__(, ) __VA_ARGS__))

/* An expression of the C library's kind, -1 and errno. */
#define check(expr)                                                   \
    do {                                                              \
        errno = 0;                                                    \
        long r_ = (long)(expr);                                       \
        show(#expr, r_ == -1 && errno ? -errno : r_);                 \
    } while (0)
/* A relation that must hold. */
#define is(expr) printf("%s: %s\n", #expr, (expr) ? "yes" : "NO")
/* A number. */
#define num(expr) printf("%s: %ld\n", #expr, (long)(expr))

/* Ends a program with which this machine's Linux cannot be compared; the test says why, and fails in CI. */
static inline void lacks(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
    S(exit_group, 77);
}

/* Tests whether this is the emulated machine. */
static inline int is_emulated(void)
{
    char text[256] = "";
    int fd = open("/proc/version", O_RDONLY);
    int found = read(fd, text, sizeof text - 1) > 0 && strstr(text, " (cgemu) ");
    close(fd);
    return found;
}

/* The field of /proc/self/stat with a number. */
static inline unsigned long own_stat_field(int number)
{
    char buf[2048];
    long fd = S(open, "/proc/self/stat", O_RDONLY), n = S(read, fd, buf, sizeof buf - 1);
    S(close, fd);
    buf[n > 0 ? n : 0] = 0;
    char *at = strrchr(buf, ')');
    for (int i = 2; i < number; i++)
        at = strchr(at + 1, ' ');
    return strtoul(at + 1, 0, 10);
}

/* For what containers answer in place of the kernel. */
static inline void unfiltered(void)
{
    char buf[8192];
    long fd = S(open, "/proc/self/status", O_RDONLY), n = S(read, fd, buf, sizeof buf - 1);
    S(close, fd);
    buf[n > 0 ? n : 0] = 0;
    if (strstr(buf, "\nSeccomp:\t2"))
        lacks("a seccomp filter answers system calls here (docker run --security-opt seccomp=unconfined)");
}

/* The kernel's release: 510 for 5.10. The emulated machine's is beyond all, as it must answer as the newest does. */
static inline int release(void)
{
    static int known;
    char text[256] = "";
    int major = 0, minor = 0;
    if (known)
        return known;
    long fd = S(open, "/proc/version", O_RDONLY);
    S(read, fd, text, sizeof text - 1), S(close, fd);
    sscanf(text, "Linux version %d.%d", &major, &minor);
    return known = strstr(text, " (cgemu) ") ? 9900 : major * 100 + minor;
}

/* A call that Linux has since a release, and its result there; older ones are not asked. */
#define SINCE(since, expected, name, ...) \
    late(#name "(" #__VA_ARGS__ ")", since, expected, S(name, __VA_ARGS__))
static inline void late(const char *what, int since, long expected, long result)
{
    if (release() < since || result == expected)
        printf("%s: as Linux has it since %d.%d\n", what, since / 100, since % 100);
    else
        show(what, result);
}

/* A whole file from a string. */
static inline void put(const char *path, const char *text)
{
    int fd = (int)S(open, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (S(write, fd, text, strlen(text)) != (long)strlen(text))
        printf("put %s failed\n", path);
    S(close, fd);
}

/* A file's bytes in a line; NUL as a dot. */
static inline void cat(const char *path)
{
    char buf[4096];
    int fd = (int)S(open, path, O_RDONLY);
    if (fd < 0) {
        show(path, fd);
        return;
    }
    long n = S(read, fd, buf, sizeof buf);
    S(close, fd);
    printf("%s holds %ld: ", path, n);
    for (long i = 0; i < n; i++)
        putchar(buf[i] == 0 ? '.' : buf[i]);
    putchar('\n');
}

/* Two pages of which the second is not there: the address of the last byte of the first, plus one. */
static inline char *edge(void)
{
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + 4096, 4096);
    return p + 4096;
}

/* No inherited descriptors, signal actions or mask. CI ignores SIGINT, nohup ignores SIGHUP. */
static inline void drop_inherited(void)
{
    close_range(3, ~0u, 0);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigset_t nothing;
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
}

/* The same start everywhere: nothing inherited, one mask of modes, no core files, output only at the end. A case that
   executes itself defines KEEP_INHERITED and drops what is inherited once. */
__attribute__((constructor)) static void guest_start(void)
{
    static char buffer[1 << 20];
#ifndef KEEP_INHERITED
    drop_inherited();
#endif
    umask(022);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

#endif
