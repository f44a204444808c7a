// covers: userfaultfd ioctl read poll mmap munmap mremap madvise fork
// flags: -pthread
// native: skip userfaultfd(2) is an option of the kernel, CONFIG_USERFAULTFD, and containers forbid it
// expect: userfault.out
#include "emulated.h"
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* Pages that the program gives itself: threads touch them, and the main one answers. */
#define P 4096L
#define UFFD_USER_MODE_ONLY 1
#define FEATURE_EXACT_ADDRESS (1 << 11)
#define RANGE_IOCTLS (1 << 2 | 1 << 3 | 1 << 4)

static long fd;
static char source[4 * 4096] __attribute__((aligned(4096)));

static long api(long fd, uint64_t features)
{
    struct uffdio_api a = {UFFD_API, features, 0};
    return show("UFFDIO_API", S(ioctl, fd, UFFDIO_API, &a));
}
static void registers(const char *what, void *at, long len, uint64_t mode)
{
    struct uffdio_register r = {{(uint64_t)at, len}, mode, 0};
    show(what, S(ioctl, fd, UFFDIO_REGISTER, &r)), num(r.ioctls & RANGE_IOCTLS);
}
static void unregister(const char *what, void *at, long len)
{
    struct uffdio_range r = {(uint64_t)at, len};
    show(what, S(ioctl, fd, UFFDIO_UNREGISTER, &r));
}
static void copies(const char *what, void *to, void *from, long len, uint64_t mode)
{
    struct uffdio_copy c = {(uint64_t)to, (uint64_t)from, len, mode, 77};
    show(what, S(ioctl, fd, UFFDIO_COPY, &c)), num(c.copy);
}
static void zeros(const char *what, void *to, long len, uint64_t mode)
{
    struct uffdio_zeropage z = {{(uint64_t)to, len}, mode, 77};
    show(what, S(ioctl, fd, UFFDIO_ZEROPAGE, &z)), num(z.zeropage);
}
static void wakes(void *at, long len)
{
    struct uffdio_range r = {(uint64_t)at, len};
    show("UFFDIO_WAKE", S(ioctl, fd, UFFDIO_WAKE, &r));
}
static char *anonymous(long pages) { return mmap(0, pages * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

/* The next event; where the page is from the start of the memory. */
static struct uffd_msg event(char *start)
{
    struct uffd_msg m = {0};
    struct pollfd p = {fd, POLLIN, 0};
    S(poll, &p, 1, 10000);
    long n = S(read, fd, &m, sizeof m);
    printf("event: %ld bytes, %#x, flags %d, at %ld\n", n, m.event, (int)m.arg.pagefault.flags, (long)(m.arg.pagefault.address - (uint64_t)start));
    return m;
}
static volatile int done, tid;
static void *loads(void *at)
{
    tid = S(gettid);
    char value = *(volatile char *)at;
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    return (void *)(long)value;
}
static void *stores(void *at)
{
    tid = S(gettid);
    *(volatile char *)at += 1;
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    return (void *)(long)*(volatile char *)at;
}
/* A word over two pages. */
static void *straddles(void *at)
{
    long value = *(volatile long *)at;
    return (void *)value;
}
static volatile int handled;
static void handler(int signo) { handled += signo == SIGUSR1; }
static void flag(char *at, const char *word)
{
    char line[4096], range[64];
    FILE *in = fopen("/proc/self/smaps", "r");
    int here = 0, found = 0;
    snprintf(range, sizeof range, "%lx-", (long)at);
    while (fgets(line, sizeof line, in)) {
        if (strchr(line, '-') && strtoul(line, 0, 16) > 0 && !strchr(strtok(strdup(line), " "), ':'))
            here = !strncmp(line, range, strlen(range));
        if (here && !strncmp(line, "VmFlags:", 8))
            found = strstr(line, word) != 0;
    }
    fclose(in);
    printf("%s: %s\n", word, found ? "yes" : "no");
}
static void info(void)
{
    char path[64], buf[1024];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%ld", fd);
    long in = S(open, path, O_RDONLY), n = S(read, in, buf, sizeof buf - 1);
    S(close, in), buf[n > 0 ? n : 0] = 0;
    char *at = strstr(buf, "pending");
    printf("%.*s\n", at ? (int)strcspn(strchr(at, '\n') + 1, "\n") + (int)strcspn(at, "\n") + 1 : 4, at ? at : "none");
}

static void errors(void)
{
    char *a = anonymous(4), *only = mmap(0, P, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long file = S(open, "own", O_RDWR | O_CREAT, 0644), memory = S(memfd_create, "m", 0);
    struct uffdio_api wrong = {0xab, 1, 2};
    struct pollfd p = {0, POLLIN, 0};
    T(userfaultfd, UFFD_USER_MODE_ONLY | 4), T(userfaultfd, UFFD_USER_MODE_ONLY | 1 << 30);
    fd = S(userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC | O_NONBLOCK);
    is(S(fcntl, fd, F_GETFD) == FD_CLOEXEC), is(S(fcntl, fd, F_GETFL) == O_NONBLOCK);
    char link[64] = "";
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%ld", fd);
    S(readlink, name, link, sizeof link), puts(link);
    /* Before they agree. */
    registers("too early", a, P, UFFDIO_REGISTER_MODE_MISSING), T(read, fd, source, 32);
    p.fd = fd, num(S(poll, &p, 1, 0)), num(p.revents == POLLERR), info();
    show("wrong api", S(ioctl, fd, UFFDIO_API, &wrong)), num(wrong.api + wrong.features + wrong.ioctls);
    api(fd, 1ul << 60), show("UFFDIO_API", S(ioctl, fd, UFFDIO_API, BAD));
    api(fd, 0), api(fd, 0), info();
    T(read, fd, source, 31), T(read, fd, source, 32), T(write, fd, source, 32), T(lseek, fd, 0, 0), T(pread64, fd, source, 32, 0), T(ftruncate, fd, 0), T(ioctl, fd, 0xaa77, 0);
    num(S(poll, &p, 1, 0));
    registers("no mode", a, P, 0), registers("bad mode", a, P, 64), registers("unaligned", a + 1, P, 1), registers("no length", a, 0, 1), registers("odd length", a, P + 1, 1);
    registers("low", (void *)P, P, 1), registers("high", (void *)0x7ffffffff000, P, 1), registers("wraps", (void *)-P, P, 1), registers("hole", (void *)0x100000, P, 1);
    show("bad pointer", S(ioctl, fd, UFFDIO_REGISTER, BAD)), show("bad pointer", S(ioctl, fd, UFFDIO_UNREGISTER, BAD)), show("bad pointer", S(ioctl, fd, UFFDIO_COPY, BAD));
    S(ftruncate, file, P), S(ftruncate, memory, P);
    char *of_file = mmap(0, P, PROT_READ | PROT_WRITE, MAP_PRIVATE, S(open, "/proc/self/exe", O_RDONLY), 0);
    char *of_memory = mmap(0, P, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    registers("file", of_file, P, 1), registers("memory", of_memory, P, 1), registers("read only", only, P, 1);
    unregister("hole", (void *)0x100000, P), unregister("unaligned", a + 1, P), unregister("file", of_file, P), unregister("not registered", a, P);
    registers("two of four", a + P, 2 * P, 1), flag(a + P, " um");
    long other = S(userfaultfd, UFFD_USER_MODE_ONLY), first = fd;
    api(other, 0), fd = other, registers("of another", a, 2 * P, 1), copies("by another", a + P, source, P, 0), fd = first;
    S(close, other);
    copies("there", a + P, source, P, 0), copies("there", a + P, source, 2 * P, 0), copies("not there", a, source, P, 0), copies("too long", a + P, source, 3 * P, 0), copies("bad mode", a + P, source, P, 8);
    copies("unaligned", a + P + 1, source, P, 0), copies("no length", a + P, source, 0, 0), copies("bad source", a + 2 * P, (void *)0x100000, P, 0), copies("high source", a + 2 * P, KERNEL, P, 0);
    copies("unaligned source", a + 2 * P, source + 8, P, 0), zeros("there", a + 2 * P, P, 0), zeros("bad mode", a + P, P, 2);
    wakes(a, P), wakes(a, 0), wakes(a + 1, P);
    S(madvise, a + P, 2 * P, MADV_DONTNEED), zeros("again", a + P, 2 * P, 1), num(a[P]);
    /* The kernel does not wait for what only the program may. */
    S(madvise, a + P, P, MADV_DONTNEED), T(read, file, a + P, 1), T(write, memory, a + P, 1), num(S(getcwd, a + P, P) == -EFAULT);
    unregister("whole", a, 4 * P), num(a[P]), flag(a, " um");
    munmap(a, 4 * P), S(close, fd);
}

static void faults(void)
{
    pthread_t t[3];
    void *value;
    char *a = anonymous(4);
    memset(source, 'x', P), memset(source + P, 'y', P);
    fd = S(userfaultfd, UFFD_USER_MODE_ONLY | O_NONBLOCK);
    api(fd, UFFD_FEATURE_THREAD_ID), registers("all", a, 4 * P, UFFDIO_REGISTER_MODE_MISSING);
    /* A load and a store. */
    pthread_create(t, 0, loads, a + 100);
    struct uffd_msg m = event(a);
    is((int)m.arg.pagefault.feat.ptid == tid), is(!done), info();
    copies("one", a, source, P, 0), pthread_join(t[0], &value), num(value);
    pthread_create(t, 0, stores, a + P), event(a), zeros("one", a + P, P, 0), pthread_join(t[0], &value), num(value);
    /* Two for one page, and a wake that gives nothing. */
    done = 0;
    pthread_create(t, 0, loads, a + 2 * P), event(a), pthread_create(t + 1, 0, loads, a + 2 * P), event(a);
    wakes(a + 3 * P, P), usleep(2000), num(done), wakes(a + 2 * P, P), event(a), event(a);
    copies("silent", a + 2 * P, source + P, P, UFFDIO_COPY_MODE_DONTWAKE), usleep(2000), num(done), wakes(a + 2 * P, P);
    pthread_join(t[0], &value), num(value), pthread_join(t[1], &value), num(value), info();
    /* Over two pages. */
    S(madvise, a, 2 * P, MADV_DONTNEED), pthread_create(t, 0, straddles, a + P - 4);
    m = event(a), copies("first", (void *)m.arg.pagefault.address, source, P, 0);
    m = event(a), copies("second", (void *)m.arg.pagefault.address, source, P, 0), pthread_join(t[0], &value), printf("%lx\n", (long)value);
    /* A signal comes between. */
    struct sigaction act = {.sa_handler = handler};
    sigaction(SIGUSR1, &act, 0);
    pthread_create(t, 0, loads, a + 3 * P), event(a), pthread_kill(t[0], SIGUSR1), event(a);
    while (!handled)
        usleep(100);
    zeros("after", a + 3 * P, P, 0), pthread_join(t[0], &value), num(value), num(handled);
    /* Its end lets all go on. */
    S(madvise, a, 4 * P, MADV_DONTNEED), pthread_create(t, 0, loads, a), event(a), unregister("all", a, 4 * P), pthread_join(t[0], &value), num(value);
    registers("again", a, 4 * P, 1), pthread_create(t, 0, loads, a + P), event(a), S(close, fd), pthread_join(t[0], &value), num(value), flag(a, " um");
    munmap(a, 4 * P);
}

static void others(void)
{
    pthread_t t;
    void *value;
    int status;
    char *a = anonymous(4);
    fd = S(userfaultfd, UFFD_USER_MODE_ONLY | O_NONBLOCK), api(fd, FEATURE_EXACT_ADDRESS), registers("all", a, 4 * P, 1);
    pthread_create(&t, 0, loads, a + 123), event(a), zeros("one", a, P, 0), pthread_join(t, &value);
    /* A child does not have it, but its descriptor fills the parent's memory. */
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        printf("child: %d\n", a[P]), copies("for the parent", a + 2 * P, source, P, 0), printf("child: %d\n", a[2 * P]), fflush(stdout);
        _exit(0);
    }
    waitpid(pid, &status, 0), num(a[2 * P]);
    /* What is moved is let go; what grows in place is not. */
    char *moved = mremap(a, 2 * P, 2 * P, MREMAP_MAYMOVE | MREMAP_FIXED, anonymous(2));
    num(moved[P]), flag(moved, " um"), flag(a + 2 * P, " um");
    munmap(a + 2 * P, 2 * P);
    /* A killed thread's process leaves nothing behind. */
    fflush(stdout), pid = fork();
    if (!pid) {
        long own = S(userfaultfd, UFFD_USER_MODE_ONLY | O_NONBLOCK);
        fd = own, api(fd, 0), a = anonymous(1), registers("child's", a, P, 1), pthread_create(&t, 0, loads, a), event(a), fflush(stdout);
        _exit(3);
    }
    waitpid(pid, &status, 0), num(WEXITSTATUS(status));
    S(close, fd);
    /* SIGBUS in place of an event. */
    a = anonymous(1), fd = S(userfaultfd, UFFD_USER_MODE_ONLY | O_NONBLOCK), api(fd, UFFD_FEATURE_SIGBUS), registers("sigbus", a, P, 1);
    fflush(stdout), pid = fork();
    if (!pid) {
        a = anonymous(1), fd = S(userfaultfd, UFFD_USER_MODE_ONLY), api(fd, UFFD_FEATURE_SIGBUS), registers("sigbus", a, P, 1), fflush(stdout);
        *(volatile char *)a = 1;
        _exit(4);
    }
    waitpid(pid, &status, 0), num(WTERMSIG(status)), S(close, fd);
    /* Shared memory: a hole of the file is missing, what another view has stored is not. */
    long memory = S(memfd_create, "m", 0);
    S(ftruncate, memory, 2 * P);
    a = mmap(0, 3 * P, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    char *view = mmap(0, 2 * P, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    fd = S(userfaultfd, UFFD_USER_MODE_ONLY), api(fd, UFFD_FEATURE_MISSING_SHMEM), registers("shared", a, 3 * P, 1);
    view[0] = 'v', num(a[0]), pthread_create(&t, 0, stores, a + P), event(a), copies("shared", a + P, source, P, 0), pthread_join(t, &value), num(value), num(view[P]);
    copies("past the end", a + 2 * P, source, P, 0), copies("there", a, source, P, 0);
    struct pollfd p = {fd, POLLIN, 0};
    num(S(poll, &p, 1, 0)), num(p.revents == POLLERR), S(close, fd);
    /* An address space that is gone. */
    int ends[2];
    pipe(ends), a = anonymous(1), fd = S(userfaultfd, UFFD_USER_MODE_ONLY), api(fd, 0), fflush(stdout);
    if (!fork()) {
        char byte;
        close(ends[1]), read(ends[0], &byte, 1); /* until the parent has ended */
        copies("gone", a, source, P, 0), registers("gone", a, P, 1), zeros("gone", a, P, 0), unregister("gone", a, P), wakes(a, P), fflush(stdout);
        _exit(0);
    }
}

int main(void)
{
    setvbuf(stdout, 0, _IOFBF, 1 << 16);
    errors(), faults(), others();
    fflush(stdout);
    return 0;
}
