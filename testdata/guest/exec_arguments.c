// covers: execve wait4 setrlimit
#include "child.h"

/* Arguments of execve(2): their limits, and programs that other programs run. */
static char **args, **env;
static const char *program;

static void executes(void)
{
    execve(program, args, env);
    _exit(errno == E2BIG ? 201 : errno == ENOENT ? 202 : errno == EACCES ? 203 : errno == ENOEXEC ? 204 : errno == ELOOP ? 205 : errno == EFAULT ? 206 : errno == ETXTBSY ? 207 : errno == ENOTDIR ? 208 : errno == EISDIR ? 209 : errno == EINVAL ? 210 : 99);
}
static void run(const char *what, const char *path, char **a, char **e)
{
    static const char *names[] = {"E2BIG", "ENOENT", "EACCES", "ENOEXEC", "ELOOP", "EFAULT", "ETXTBSY", "ENOTDIR", "EISDIR", "EINVAL"};
    program = path, args = a, env = e;
    int status = reap(child(executes));
    if (status > 200)
        printf("%s: %s\n", what, names[status - 201]);
    else
        printf("%s: %d\n", what, status);
}
static void script(const char *path, const char *text)
{
    put(path, text), S(chmod, path, 0755);
}

int main(void)
{
    static char longest[131073], many[40000][8], *list[40002];
    char *none[] = {NULL}, *t[] = {"true", NULL}, *big[] = {"true", longest, NULL};
    memset(longest, 'a', 131071);
    run("plain", "/bin/true", t, none), run("131,071 letters", "/bin/true", big, none), longest[131071] = 'a',
        run("131,072 letters", "/bin/true", big, none), run("in the environment", "/bin/true", t, big);
    for (int i = 0; i < 40000; i++)
        snprintf(many[i], sizeof many[i], "%d", i), list[i] = many[i];
    run("40,000 words", "/bin/true", list, none), run("40,000 variables", "/bin/true", t, list);
    /* A quarter of the stack's limit, but never less than 128 KiB. */
    struct rlimit old, small = {1 << 20, RLIM_INFINITY};
    S(getrlimit, RLIMIT_STACK, &old), small.rlim_max = old.rlim_max, S(setrlimit, RLIMIT_STACK, &small),
        run("40,000 words, stack of 1 MiB", "/bin/true", list, none), longest[100000] = 0, run("100,000 letters", "/bin/true", big, none);
    char *three[] = {"true", longest, longest, longest, NULL};
    run("300,000 letters", "/bin/true", three, none), S(setrlimit, RLIMIT_STACK, &old), run("300,000 letters, stack as before", "/bin/true", three, none);
    run("no arguments at all", "/bin/true", NULL, NULL), run("an empty list", "/bin/true", none, none), run("a bad list", "/bin/true", BAD, none),
        run("a bad word", "/bin/true", (char *[]){"true", BAD, NULL}, none), run("a bad environment", "/bin/true", t, BAD);

    /* Scripts. */
    script("s1", "#!/bin/sh\nexit 11\n"), script("s2", "#!./s1\n"), script("s3", "#!./s2\n"), script("s4", "#!./s3\n"), script("s5", "#!./s4\n"),
        script("s6", "#!./s5\n"), script("s7", "#!./s6\n");
    run("s1", "./s1", t, none), run("s2", "./s2", t, none), run("s5", "./s5", t, none), run("s6", "./s6", t, none), run("s7", "./s7", t, none);
    script("self", "#!./self\n"), run("its own interpreter", "./self", t, none), script("args", "#!/bin/sh -c exit\\ $#\n"),
        run("one word of argument", "./args", (char *[]){"a", "b", "c", NULL}, none), script("count", "#!/bin/sh\nexit $#\n"),
        run("arguments", "./count", (char *[]){"a", "b", "c", NULL}, none), script("spaces", "#!   /bin/sh   \nexit 12\n"),
        run("spaces", "./spaces", t, none), script("tab", "#!\t/bin/sh\t-e\t\nfalse\nexit 13\n"), run("tabs", "./tab", t, none),
        script("crlf", "#!/bin/sh\r\nexit 14\r\n"), run("carriage return", "./crlf", t, none), script("gone", "#!/none/sh\n"),
        run("no interpreter", "./gone", t, none), script("dir", "#!/tmp\n"), run("a directory", "./dir", t, none), script("relative", "#!s1\n"),
        run("relative", "./relative", t, none), script("text", "exit 15\n"), run("no first line", "./text", t, none), script("nl", "#!/bin/sh"),
        run("no newline", "./nl", t, none), script("empty", ""), run("empty", "./empty", t, none), script("hash", "#!"),
        run("only #!", "./hash", t, none), script("hash2", "#!\n"), run("and a newline", "./hash2", t, none), put("noexec", "#!/bin/sh\n"),
        run("without the right", "./noexec", t, none), script("byn", "#!./noexec\n"), run("interpreter without it", "./byn", t, none);
    char line[600] = "#!/bin/sh ";
    memset(line + 10, 'x', 500), strcpy(line + 510, "\nexit 16\n"), script("long", line), run("a long argument", "./long", t, none),
        memset(line, '/', 300), memcpy(line, "#!", 2), strcpy(line + 300, "bin/sh\nexit 17\n"), script("longer", line),
        run("a long path", "./longer", t, none);
    script("elf", "\177ELF"), run("four bytes of ELF", "./elf", t, none), run("a directory", "host", t, none),
        run("a file as directory", "host/file/x", t, none), run("no file", "none", t, none), run("an empty name", "", t, none),
        S(symlink, "loop", "loop"), run("a loop", "loop", t, none), run("/dev/null", "/dev/null", t, none), S(mknod, "fifo", S_IFIFO | 0755, 0),
        run("a pipe", "fifo", t, none), run("a bad path", BAD, t, none);
    long w = S(open, "s1", O_WRONLY);
    run("a script that is written to", "./s1", t, none), S(close, w);
    return 0;
}
