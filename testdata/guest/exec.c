// covers: execve execveat
// args: first
// exit: 42
#define KEEP_INHERITED
#include "guest.h"

/* The program runs itself again and again, each time in another way. */
static void state(int argc, char **argv)
{
    printf("%s:", argv[argc > 1 ? 1 : 0]);
    for (int i = 2; i < argc; i++)
        printf(" %s", argv[i]);
    printf(" | A=%s PATH=%s |", getenv("A") ? getenv("A") : "-", getenv("PATH") ? getenv("PATH") : "-");
    for (int fd = 3; fd < 12; fd++)
        if (S(fcntl, fd, F_GETFD) >= 0)
            printf(" %d", fd);
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } k;
    S(rt_sigaction, SIGUSR1, NULL, &k, 8);
    printf(" | usr1 %s", k.handler == SIG_DFL ? "default" : "other");
    S(rt_sigaction, SIGUSR2, NULL, &k, 8);
    printf(" usr2 %s", k.handler == SIG_IGN ? "ignored" : "other");
    unsigned long blocked = 0, pending = 0;
    S(rt_sigprocmask, SIG_BLOCK, NULL, &blocked, 8);
    S(rt_sigpending, &pending, 8);
    stack_t ss;
    sigaltstack(NULL, &ss);
    char name[17] = "", exe[4096] = "";
    /* By a descriptor alone, kernels before 6.14 name the task after its number. */
    if (argc < 2 || strcmp(argv[1], "third") != 0)
        S(prctl, 16, name);
    S(readlink, "/proc/self/exe", exe, sizeof exe);
    char *last = strrchr(exe, '/');
    printf(" blocked %lx pending %lx stack %d comm %s exe %s umask %lo\n", blocked, pending, ss.ss_flags, name,
           last ? last + 1 : "?", S(umask, 022));
    cat("/proc/self/cmdline");
    fflush(stdout);
}

static void handler(int s)
{
    (void)s;
}

int main(int argc, char **argv)
{
    const char *stage = argc > 1 ? argv[1] : "";
    char *env[] = {"A=1", NULL}, *none[] = {NULL};

    if (strcmp(stage, "first") == 0) {
        drop_inherited();
        /* What cannot be run. */
        char *args[] = {"x", NULL};
        T(execve, "nothing", args, env);
        T(execve, "host", args, env);
        T(execve, "host/file", args, env);
        T(execve, "host/file/x", args, env);
        T(execve, "", args, env);
        T(execve, BAD, args, env);
        T(execve, "host/tool", BAD, env);
        T(execve, "host/tool", args, BAD);
        S(chmod, "host/file", 0755);
        T(execve, "host/file", args, env);
        put("empty", "");
        S(chmod, "empty", 0755);
        T(execve, "empty", args, env);
        put("lost", "#!/nowhere/interpreter\n");
        S(chmod, "lost", 0755);
        T(execve, "lost", args, env);
        put("elf", "\177ELF\2\1\1 and nothing of use behind it, though it is long enough for a header of 64 bytes");
        S(chmod, "elf", 0755);
        T(execve, "elf", args, env);
        put("loop", "#!./loop\n");
        S(chmod, "loop", 0755);
        T(execve, "loop", args, env);
        static char *many[4];
        many[0] = malloc(200000);
        memset(many[0], 'a', 199999);
        T(execve, "host/tool", many, env);
        T(execveat, 99, "x", args, env, 0);
        T(execveat, AT_FDCWD, "host/link", args, env, AT_SYMLINK_NOFOLLOW);
        T(execveat, AT_FDCWD, "host/tool", args, env, 1);
        T(execveat, AT_FDCWD, "", args, env, 0);

        /* What stays and what goes. */
        int keep = (int)S(open, "host/file", O_RDONLY), gone = (int)S(open, "host/file", O_RDONLY | O_CLOEXEC);
        S(dup2, keep, 7), S(dup3, keep, 8, O_CLOEXEC);
        printf("%d kept, %d not\n", keep, gone);
        signal(SIGUSR1, handler), signal(SIGUSR2, SIG_IGN);
        sigset_t set;
        sigemptyset(&set), sigaddset(&set, SIGHUP);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(SIGHUP);
        stack_t ss = {.ss_sp = malloc(65536), .ss_size = 65536};
        sigaltstack(&ss, NULL);
        S(prctl, 15, "renamed");
        S(umask, 027);
        fflush(stdout);
        char *next[] = {"second name", "second", "two words", "", "x", NULL};
        T(execve, "/proc/self/exe", next, env);
    } else if (strcmp(stage, "second") == 0) {
        state(argc, argv);
        char self[4096], *next[] = {"third name", "third", NULL};
        S(readlink, "/proc/self/exe", self, sizeof self);
        long fd = S(open, self, O_RDONLY);
        S(dup3, fd, 10, O_CLOEXEC);
        S(close, fd);
        T(execveat, 10, "", next, none, AT_EMPTY_PATH);
    } else if (strcmp(stage, "third") == 0) {
        state(argc, argv);
        char self[4096] = "", text[5000];
        S(readlink, "/proc/self/exe", self, sizeof self);
        symlink(self, "me");
        put("script", "");
        sprintf(text, "#! ./me script arg \nnothing\n");
        put("script", text);
        S(chmod, "script", 0755);
        char *next[] = {"lost name", "kept", NULL};
        T(execve, "./script", next, env);
    } else if (strcmp(stage, "script arg") == 0) {
        state(argc, argv);
        put("again", "#!./script\n");
        S(chmod, "again", 0755);
        put("sh", "#!/bin/sh\necho \"$0 $1 $A\"\ncd host && test -f file && read line <file && echo $line\nexit 42\n");
        S(chmod, "sh", 0755);
        char *next[] = {"sh", "argument", NULL};
        T(execve, "sh", next, env);
    } else {
        state(argc, argv);
    }
    return 1;
}
