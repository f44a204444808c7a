// covers: execveat execve memfd_create prctl
/* Programs and scripts that are named by a descriptor or by a link of /proc: memfds, files that have lost their names,
   and a program that removes itself. */
#include "guest.h"
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CHECK 0x10000 /* AT_EXECVE_CHECK */

extern char **environ;
static char here[4096];

/* Paths below the working directory begin with a dot, and numbers of nameless files are not said. */
static const char *plain(const char *path)
{
    static char text[4200];
    size_t len = strlen(here);
    snprintf(text, sizeof text, "%s%s", strncmp(path, here, len) ? "" : ".", strncmp(path, here, len) ? path : path + len);
    char *number = strchr(text, '#');
    if (number)
        memmove(number + 1, number + strspn(number + 1, "0123456789") + 1, strlen(number));
    return text;
}
static void who(int argc, char **argv)
{
    char link[4096] = "", comm[17] = "", line[5000], magic[4] = "";
    struct stat st = {0};
    S(readlink, "/proc/self/exe", link, sizeof link - 1), prctl(PR_GET_NAME, comm);
    printf("  exe %s", plain(link));
    /* Who is named by a descriptor alone has the file's name since 6.14. */
    char *called = (char *)getauxval(AT_EXECFN), *last = strrchr(called, '/');
    if (release() >= 614 || strncmp(called, "/dev/fd/", 8) || last != called + 7)
        printf(", comm %s", plain(comm));
    printf(", called %s", plain(called));
    for (int i = 0; i < argc; i++) printf(" [%s]", argv[i]);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        sscanf(line, "%lx-%lx", &start, &end);
        char *name = strchr(line, '/');
        if (start <= (unsigned long)who && (unsigned long)who < end && strcmp(argv[1], "removes"))
            line[strlen(line) - 1] = 0, printf(", maps %s", name ? plain(name) : "nothing");
    }
    fclose(maps);
    long fd = S(open, "/proc/self/exe", O_RDONLY);
    S(read, fd, magic, 4), S(stat, "/proc/self/exe", &st);
    printf(", %s, %ld links, mode %o\n", memcmp(magic, "\177ELF", 4) ? "unread" : "read", (long)st.st_nlink, st.st_mode);
    fflush(stdout);
}
static void run(const char *what, long fd, const char *path, const char *word, long flags)
{
    char *argv[] = {"zero", (char *)word, NULL};
    printf("%s\n", what), fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        S(dup2, 1, 2);
        show("  exec", S(execveat, (int)fd, path, argv, environ, flags)), fflush(stdout), _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    if (status)
        printf("  status %#x\n", status);
}
static void by_link(const char *what, const char *form, long fd, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, form, fd);
    run(what, AT_FDCWD, name, word, 0);
}
static void copy(long from, long to)
{
    static char buf[1 << 16];
    long n;
    S(lseek, from, 0, SEEK_SET);
    while ((n = S(read, from, buf, sizeof buf)) > 0) S(write, to, buf, n);
}
static long made(const char *path, long from, long mode)
{
    long fd = S(open, path, O_CREAT | O_WRONLY, mode);
    copy(from, fd), S(close, fd);
    return S(open, path, O_RDONLY);
}

int main(int argc, char **argv)
{
    getcwd(here, sizeof here);
    if (release() == 611 || release() == 612)
        lacks("Linux 6.11 and 6.12 let programs that run be written");
    if (argc > 1) {
        if (!strcmp(argv[1], "removes"))
            S(unlink, "removes");
        who(argc, argv);
        if (strcmp(argv[1], "once"))
            run(" again", AT_FDCWD, "/proc/self/exe", "once", 0);
        return 0;
    }
    long self = S(open, "/proc/self/exe", O_RDONLY), m = S(memfd_create, "name", 0), c = S(memfd_create, "closes", MFD_CLOEXEC);
    copy(self, m), copy(self, c);
    run("a memfd", m, "", "twice", AT_EMPTY_PATH), run("not followed", m, "", "once", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    run("one that closes", c, "", "twice", AT_EMPTY_PATH), by_link("by /proc", "/proc/self/fd/%ld", m, "twice"), by_link("by /dev", "/dev/fd/%ld", m, "once");
    run("not asked for", m, "", "once", 0), run("wrong flags", m, "", "once", AT_EMPTY_PATH | 0x2000), run("wrong flags, no path", m, "", "once", 0x2000);
    S(fchmod, m, 0600), run("not executable", m, "", "once", AT_EMPTY_PATH), run("empty", S(memfd_create, "empty", 0), "", "once", AT_EMPTY_PATH);

    static const char text[] = "#!/bin/sh\necho \" $0 $1\"\n";
    long s = S(memfd_create, "script", 0);
    S(write, s, text, sizeof text - 1);
    run("a script", s, "", "word", AT_EMPTY_PATH), by_link("by /proc", "/proc/self/fd/%ld", s, "word");
    S(fcntl, s, F_SETFD, FD_CLOEXEC), run("one that closes", s, "", "word", AT_EMPTY_PATH);

    long f = made("program", self, 0755), p = S(open, "program", O_PATH), w = S(open, "program", O_RDWR);
    run("a file", f, "", "twice", AT_EMPTY_PATH), S(close, w), run("not open for writing", f, "", "twice", AT_EMPTY_PATH);
    run("by O_PATH", p, "", "once", AT_EMPTY_PATH), S(unlink, "program");
    run("without a name", f, "", "twice", AT_EMPTY_PATH), run("by O_PATH", p, "", "once", AT_EMPTY_PATH), by_link("by /proc", "/proc/self/fd/%ld", f, "twice");
    put("script", text), S(chmod, "script", 0755), s = S(open, "script", O_RDONLY), S(unlink, "script");
    run("a script without a name", s, "", "word", AT_EMPTY_PATH);

    S(mkdir, "dir", 0755), S(symlink, "p", "dir/l"), made("dir/p", self, 0755), put("dir/s", text), S(chmod, "dir/s", 0755);
    long d = S(open, "dir", O_RDONLY);
    run("in a directory", d, "p", "twice", 0), run("a link there", d, "l", "once", 0), run("not followed", d, "l", "once", AT_SYMLINK_NOFOLLOW);
    run("a script there", d, "s", "word", 0), S(fcntl, d, F_SETFD, FD_CLOEXEC);
    run("in one that closes", d, "p", "once", 0), run("a script there", d, "s", "word", 0);

    int pipes[2];
    S(pipe2, pipes, 0);
    run("the directory", d, "", "once", AT_EMPTY_PATH), run("the working directory", AT_FDCWD, "", "once", AT_EMPTY_PATH);
    run("nothing", 99, "", "once", AT_EMPTY_PATH), run("a pipe", pipes[0], "", "once", AT_EMPTY_PATH), by_link("by /proc", "/proc/self/fd/%ld", pipes[0], "once");
    run("a link", S(open, "/proc/self/exe", O_PATH | O_NOFOLLOW), "", "once", AT_EMPTY_PATH);
    char *args[] = {"x", NULL};
    SINCE(614, 0, execveat, AT_FDCWD, "dir/p", args, NULL, CHECK), SINCE(614, -ENOENT, execveat, AT_FDCWD, "none", args, NULL, CHECK);
    SINCE(614, -EACCES, execveat, d, "", args, NULL, CHECK | AT_EMPTY_PATH), SINCE(614, -EFAULT, execveat, AT_FDCWD, "dir/p", BAD, NULL, CHECK);

    made("removes", self, 0755), run("one that removes itself", AT_FDCWD, "removes", "removes", 0);
    /* The path by which a file is opened anew is that of the file. */
    char link[64], shown[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%ld", S(open, "dir/p", O_RDONLY));
    snprintf(link, sizeof link, "/proc/self/fd/%ld", S(open, link, O_RDONLY));
    S(readlink, link, shown, sizeof shown - 1), printf("opened anew: %s\n", plain(shown));
    return 0;
}
