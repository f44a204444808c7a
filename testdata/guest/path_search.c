// covers: execve access wait4 newfstatat
#include "child.h"

/* How execvp(3) finds a program in PATH, and what the environment of a program is. */
static const char *path, *name;
static char **environment;
static void runs(void)
{
    char *args[] = {(char *)name, "argument", NULL};
    if (path)
        setenv("PATH", path, 1);
    else
        unsetenv("PATH");
    execvp(name, args), _exit(errno == ENOENT ? 201 : errno == EACCES ? 202 : errno == ENOTDIR ? 203 : errno == ENAMETOOLONG ? 204 : 99);
}
static void run(const char *p, const char *n)
{
    path = p, name = n;
    int status = reap(child(runs));
    printf("%s in %s: %s", n, p ? p : "(unset)",
        status == 201 ? "ENOENT\n" : status == 202 ? "EACCES\n" : status == 203 ? "ENOTDIR\n" : status == 204 ? "ENAMETOOLONG\n" : "");
    if (status < 200)
        printf("%d\n", status);
}
static void with_environment(void)
{
    char *args[] = {"sh", "-c", "exit ${STATUS:-44}", NULL};
    execve("/bin/sh", args, environment), _exit(99);
}
static void script(const char *at, const char *text, int mode)
{
    put(at, text), S(chmod, at, mode);
}

int main(void)
{
    S(mkdir, "a", 0755), S(mkdir, "b", 0755), S(mkdir, "c", 0755), S(mkdir, "c/prog", 0755);
    script("a/prog", "#!/bin/sh\nexit 11\n", 0644), script("b/prog", "#!/bin/sh\nexit 12\n", 0755), script("prog", "#!/bin/sh\nexit 13\n", 0755),
        script("a/only", "#!/bin/sh\nexit 14\n", 0644), script("a/plain", "exit $#5\n", 0755), script("b/missing", "#!/none/interpreter\n", 0755),
        script("c/missing", "#!/bin/sh\nexit 16\n", 0755);
    run("a:b", "prog"), run("b:a", "prog"), run("c:b", "prog"), run("a:c", "prog"), run("a", "only"), run("a:b", "only"), run("none:b", "prog"),
        run("prog/x:b", "prog"), run(":b", "prog"), run("b:", "none"), run("", "prog"), run("a::", "prog"), run("a", "plain"), run("b:c", "missing"),
        run("b", "./prog"), run("b", "a/prog"), run("b", ""), run("b", "a"), run(NULL, "true"), run(NULL, "prog"), run("/bin", "true");
    static char longest[300];
    memset(longest, 'x', 299), run("b", longest + 44), run("b", longest + 40);

    /* Environments: none, of one, with odd words, doubled. */
    char *none[] = {NULL}, *one[] = {"STATUS=21", NULL}, *doubled[] = {"STATUS=22", "STATUS=23", NULL}, *odd[] = {"noequals", "=22", "STATUS=24", "", NULL};
    char **all[] = {none, one, doubled, odd, NULL};
    for (int i = 0; i < 5; i++)
        environment = all[i], num(reap(child(with_environment)));
    num(setenv("A", "1", 0)), num(setenv("A", "2", 0)), printf("%s\n", getenv("A")), num(setenv("A", "3", 1)), printf("%s\n", getenv("A")),
        is(setenv("", "x", 1) == -1 && errno == EINVAL), is(setenv("A=B", "x", 1) == -1 && errno == EINVAL), is(unsetenv("A=B") == -1),
        num(unsetenv("A")), is(getenv("A") == NULL), num(unsetenv("A"));
    char text[] = "B=put";
    num(putenv(text)), text[2] = 'P', printf("%s\n", getenv("B")), num(putenv("B")), is(getenv("B") == NULL), num(clearenv()),
        is(getenv("PATH") == NULL), is(environ == NULL || environ[0] == NULL), num(setenv("C", "", 1)), printf("'%s'\n", getenv("C")),
        is(secure_getenv("C") != NULL);
    return 0;
}
