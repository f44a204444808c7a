// covers: open truncate execve execveat
/* ETXTBSY: a program that runs is not written, and what is written is not run. */
#include "guest.h"
#include <sys/wait.h>

static void copy(const char *from, const char *to)
{
    static char buf[1 << 16];
    long in = S(open, from, O_RDONLY), out = S(open, to, O_CREAT | O_WRONLY | O_TRUNC, 0755), n;
    while ((n = S(read, in, buf, sizeof buf)) > 0)
        S(write, out, buf, n);
    S(close, in), S(close, out);
}

static void run(const char *what, const char *path, int fd)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {"program", NULL};
        S(exit_group, -(fd < 0 ? S(execve, path, argv, NULL) : S(execveat, fd, "", argv, NULL, AT_EMPTY_PATH)));
    }
    int status;
    waitpid(pid, &status, 0);
    printf("%s: %s\n", what, WEXITSTATUS(status) ? strerrorname_np(WEXITSTATUS(status)) : "ran");
}

static void try(const char *path)
{
    T(open, path, O_WRONLY), T(open, path, O_RDWR | O_CREAT, 0), T(open, path, O_RDONLY | O_TRUNC);
    T(open, path, O_WRONLY | O_APPEND), T(truncate, path, 10);
    OK(open, path, O_PATH), OK(open, path, O_RDONLY | O_APPEND), T(access, path, W_OK), T(chmod, path, 0755);
    T(utimensat, AT_FDCWD, path, NULL, 0);
}

int main(void)
{
    if (release() == 611 || release() == 612)
        lacks("Linux 6.11 and 6.12 let programs that run be written");
    char self[4096] = "";
    S(readlink, "/proc/self/exe", self, sizeof self - 1);
    T(open, "/proc/self/exe", O_WRONLY), T(open, self, O_RDWR), T(truncate, self, 1 << 30);
    copy("/bin/true", "program"), copy("/bin/sleep", "sleeper");

    long fd = S(open, "program", O_WRONLY);
    run("open for writing", "./program", -1);
    long other = S(dup, fd);
    S(close, fd);
    run("duplicated", "./program", -1);
    S(close, other);
    run("closed", "./program", -1);
    fd = S(open, "program", O_RDWR | O_PATH), other = S(open, "program", O_RDONLY);
    run("open otherwise", "./program", -1);
    run("by its descriptor", NULL, other);
    put("script", "#!./program\n"), S(chmod, "script", 0755);
    run("script", "./script", -1);
    fd = S(open, "script", O_WRONLY);
    run("script open for writing", "./script", -1);
    S(close, fd), fd = S(open, "program", O_WRONLY);
    run("interpreter open for writing", "./script", -1);
    S(close, fd);
    /* A mapping holds the file that it was made by. */
    for (int kind = MAP_SHARED; kind <= MAP_PRIVATE; kind++) {
        fd = S(open, "program", O_RDWR);
        long m = S(mmap, 0, 8192, PROT_READ, kind, fd, 0);
        S(close, fd), run("mapped by a writer", "./program", -1);
        S(munmap, m + 4096, 4096), run("less of it", "./program", -1);
        S(munmap, m, 4096), run("no more", "./program", -1);
    }

    int ready[2];
    if (pipe2(ready, O_CLOEXEC))
        return 1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {"sleeper", "100", NULL};
        S(exit_group, S(execve, "./sleeper", argv, NULL));
    }
    S(close, ready[1]), S(read, ready[0], self, 1);
    try("sleeper");
    T(rename, "sleeper", "renamed"), T(truncate, "renamed", 10), T(link, "renamed", "linked");
    T(open, "linked", O_WRONLY), T(unlink, "renamed"), OK(open, "renamed", O_WRONLY | O_CREAT, 0644);
    S(kill, pid, SIGKILL), waitpid(pid, NULL, 0);
    OK(open, "linked", O_WRONLY);
    return 0;
}
