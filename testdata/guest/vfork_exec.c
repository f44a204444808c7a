// covers: vfork execve clone clone3 wait4 exit_group
#include "guest.h"
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static void end(const char *what, pid_t pid)
{
    int status = -1;
    if (waitpid(pid, &status, 0) != pid)
        printf("no child\n");
    printf("%s: %#x\n", what, status);
}

static void spawned(const char *what, const char *file, posix_spawn_file_actions_t *actions,
                    posix_spawnattr_t *attr, char *const argv[])
{
    pid_t pid = 0;
    int error = posix_spawnp(&pid, file, actions, attr, argv, environ);
    printf("%s: %s\n", what, error ? strerrorname_np(error) : "started");
    if (!error)
        end(what, pid);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "look")) {
        sigset_t mask, pending;
        struct sigaction action;
        sigprocmask(SIG_BLOCK, NULL, &mask);
        sigpending(&pending);
        printf("blocked %d pending %d", sigismember(&mask, SIGUSR1), sigismember(&pending, SIGUSR1));
        sigaction(SIGUSR2, NULL, &action);
        printf(" ignored %d", action.sa_handler == SIG_IGN);
        sigaction(SIGTERM, NULL, &action);
        printf(" handled %d", action.sa_handler != SIG_DFL);
        printf(" group %d\n", getpgrp() == getpid());
        return 17;
    }
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
        _exit(127);
    }
    end("vfork and exec", pid);
    pid = vfork();
    if (pid == 0) {
        execl("/nowhere", "nowhere", (char *)NULL);
        _exit(errno == ENOENT ? 4 : 127);
    }
    end("vfork and no such program", pid);
    spawned("posix_spawn", "sh", NULL, NULL, (char *[]){"sh", "-c", "exit 5", NULL});
    spawned("posix_spawn of nothing", "/nowhere", NULL, NULL, (char *[]){"nowhere", NULL});
    spawned("posix_spawn of a directory", "/etc", NULL, NULL, (char *[]){"etc", NULL});
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "made", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addclose(&actions, 0);
    spawned("with a file", "sh", &actions, NULL, (char *[]){"sh", "-c", "echo text", NULL});
    cat("made");
    posix_spawn_file_actions_addclose(&actions, 99);
    posix_spawn_file_actions_adddup2(&actions, 98, 3);
    spawned("with a bad descriptor", "sh", &actions, NULL, (char *[]){"sh", "-c", "exit 0", NULL});

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGTERM, exit);
    fflush(stdout);
    spawned("what exec keeps", "/proc/self/exe", NULL, NULL, (char *[]){"vfork_exec", "look", NULL});
    fflush(stdout);
    posix_spawnattr_t attr;
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &(sigset_t){0});
    sigaddset(&set, SIGUSR2);
    posix_spawnattr_setsigdefault(&attr, &set);
    spawned("with attributes", "/proc/self/exe", NULL, &attr, (char *[]){"vfork_exec", "look", NULL});
    num(WEXITSTATUS(system("exit 6")));
    FILE *pipe = popen("echo from a pipe; exit 7", "r");
    char line[64] = "";
    fgets(line, sizeof line, pipe);
    printf("%s%#x\n", line, pclose(pipe));
    return 0;
}
