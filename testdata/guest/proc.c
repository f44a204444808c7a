// covers: readlink openat read getdents64
// args: one two
#include "guest.h"
#include <dirent.h>

static char text[1 << 16];

static char *slurp(const char *path)
{
    long fd = S(open, path, O_RDONLY), n, at = 0;
    if (fd < 0)
        show(path, fd);
    while (fd >= 0 && (n = S(read, fd, text + at, 1000)) > 0)
        at += n;
    text[at] = 0;
    S(close, fd);
    return text;
}

static long field(const char *name)
{
    char *p = strstr(slurp("/proc/self/status"), name);
    return p ? strtol(p + strlen(name), NULL, 10) : -1;
}

int main(void)
{
    char buf[4096];
    long n = S(readlink, "/proc/self/exe", buf, sizeof buf);
    buf[n] = 0;
    printf("exe ends in %s\n", strrchr(buf, '/'));
    is(access("/proc/self/exe", X_OK) == 0);
    long fd = S(open, "/proc/self/exe", O_RDONLY);
    S(read, fd, buf, 4);
    printf("%.3s\n", buf + 1);
    S(close, fd);

    slurp("/proc/self/cmdline");
    printf("%s %s\n", text + strlen(text) + 1, text + strlen(text) + 5);
    is(strcmp(slurp("/proc/self/comm"), "proc\n") == 0);
    is(field("\nPid:\t") == S(getpid));
    is(field("\nPPid:\t") == S(getppid));
    is(field("\nUid:\t") == S(getuid));
    num(field("\nThreads:\t"));
    is(strncmp(slurp("/proc/self/status"), "Name:\tproc\n", 11) == 0);
    is(strtol(slurp("/proc/self/stat"), NULL, 10) == S(getpid));
    is(strstr(slurp("/proc/self/environ"), "PATH=") == text || memmem(text, 4096, "PATH=", 5) != NULL);

    /* Mappings: what we know to be there is found with its rights. */
    char *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char line[64];
    slurp("/proc/self/maps");
    is(strstr(text, "[heap]") != NULL || sbrk(0) == sbrk(0));
    is(strstr(text, "[stack]") != NULL);
    is(strstr(text, "libc.so.6") != NULL);
    is(strstr(text, "/proc\n") != NULL);
    mprotect(p, 4096, PROT_NONE);
    sprintf(line, "%lx-%lx ---p", (long)p, (long)p + 4096);
    is(strstr(slurp("/proc/self/maps"), line) != NULL);
    sprintf(line, "%lx-", (long)p + 4096);
    is(strstr(text, line) != NULL);
    int ordered = 1;
    unsigned long last = 0;
    for (char *l = slurp("/proc/self/maps"); *l; l = strchr(l, '\n') + 1) {
        unsigned long from = strtoul(l, NULL, 16), to = strtoul(strchr(l, '-') + 1, NULL, 16);
        ordered &= from >= last && to > from;
        last = to;
    }
    num(ordered);

    /* Descriptors by name. */
    fd = S(open, "host/file", O_RDONLY);
    S(lseek, fd, 3, SEEK_SET);
    sprintf(line, "/proc/self/fd/%ld", fd);
    n = S(readlink, line, buf, sizeof buf);
    printf("%s\n", n > 9 && memcmp(buf + n - 10, "/host/file", 10) == 0 ? "names the file" : "WRONG");
    long again = S(open, line, O_RDONLY);
    T(lseek, again, 0, SEEK_CUR);
    S(unlink, "host/file");
    n = S(readlink, line, buf, sizeof buf);
    printf("%.10s\n", buf + n - 10);
    struct stat st;
    T(stat, line, &st);
    int pipe[2];
    S(pipe2, pipe, 0);
    sprintf(line, "/proc/self/fd/%d", pipe[0]);
    S(readlink, line, buf, sizeof buf);
    printf("%.6s\n", buf);
    T(readlink, "/proc/self/fd/99", buf, sizeof buf);
    T(open, "/proc/self/fd/99", O_RDONLY);
    long dir;
    for (int i = 0; i < 8; i++)
        S(dup, 0);
    dir = S(open, "/proc/self/fd", O_RDONLY | O_DIRECTORY);
    int count = 0, rising = 1, before = -1;
    n = S(getdents64, dir, buf, sizeof buf);
    for (long at = 0; at < n; at += ((struct dirent64 *)(buf + at))->d_reclen)
        if (((struct dirent64 *)(buf + at))->d_name[0] != '.') {
            int number = atoi(((struct dirent64 *)(buf + at))->d_name);
            count++, rising &= number > before, before = number;
        }
    num(count);
    is(rising);
    n = S(readlink, "/proc/self", buf, sizeof buf);
    is(strtol(buf, NULL, 10) == S(getpid));
    n = S(readlink, "/proc/self/cwd", buf, sizeof buf);
    S(getcwd, text, sizeof text);
    is(n == (long)strlen(text) && memcmp(buf, text, n) == 0);
    T(open, "/proc/0", O_RDONLY);
    T(open, "/proc/self/nothing", O_RDONLY);
    is(strstr(slurp("/proc/meminfo"), "MemTotal:") == text);
    is(strstr(slurp("/proc/cpuinfo"), "processor") == text);
    is(strtol(slurp("/proc/sys/kernel/pid_max"), NULL, 10) > 0);
    return 0;
}
