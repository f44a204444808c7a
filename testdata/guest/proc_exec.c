// covers: execve read pread64
// flags: -no-pie
/* Files of /proc/self that were opened before execve(2) show the memory that is gone, new ones the new one. */
#define KEEP_INHERITED
#include "guest.h"
#include <sys/wait.h>

static char mark[] = "marked";

static void reads(const char *what, int fd, long at)
{
    static char buf[4096];
    long n = S(pread64, fd, buf, sizeof mark, at);
    printf("%s: %s\n", what, n < 0 ? "an error" : n ? "something" : "nothing");
}

int main(int argc, char **argv)
{
    const char *names[] = {"/proc/self/mem", "/proc/self/maps", "/proc/self/smaps", "/proc/self/environ"};
    if (argc == 1) {
        for (int i = 0; i < 4; i++)
            dup2(open(names[i], O_RDONLY), 20 + i);
        reads("mem", 20, (long)mark);
        reads("maps", 21, 0);
        fflush(stdout);
        char *args[] = {argv[0], "again", NULL};
        execv("/proc/self/exe", args);
    }
    for (int i = 0; i < 4; i++) {
        reads(names[i], 20 + i, i ? 0 : (long)mark);
        int fd = open(names[i], O_RDONLY);
        reads("  now", fd, i ? 0 : (long)mark);
        close(fd);
    }
    /* The file of another process that executes. */
    int ends[2], more[2];
    char path[64], c;
    pipe(ends), pipe(more);
    fflush(stdout);
    int child = fork();
    if (child == 0) {
        char *args[] = {"sh", "-c", "echo; read x", NULL};
        dup2(ends[1], 1), dup2(more[0], 0), close(more[1]);
        execv("/bin/sh", args);
        _exit(1);
    }
    snprintf(path, sizeof path, "/proc/%d/maps", child);
    read(ends[0], &c, 1);
    int maps = open(path, O_RDONLY);
    reads("a child's", maps, 0);
    write(more[1], "\n", 1);
    waitpid(child, NULL, 0);
    reads("a child's that is gone", maps, 0);
    return 0;
}
