// covers: clone3 clone execve dup2 open close setpgid setsid rt_sigprocmask rt_sigaction chdir sched_setscheduler
#include "guest.h"
#include <spawn.h>
#include <sys/wait.h>

/* posix_spawn(3): actions on files in their order, attributes, and its errors. */
static posix_spawn_file_actions_t f;
static posix_spawnattr_t a;
extern char **environ;

static void run(const char *what, const char *program, char *script, int by_path)
{
    char *args[] = {"sh", "-c", script, NULL};
    pid_t pid = -1;
    int status = -1;
    fflush(stdout);
    int r = by_path ? posix_spawnp(&pid, program, &f, &a, args, environ) : posix_spawn(&pid, program, &f, &a, args, environ);
    if (r) {
        printf("%s: %s\n", what, strerrorname_np(r));
        return;
    }
    waitpid(pid, &status, 0), printf("%s: %s %d\n", what, WIFEXITED(status) ? "exit" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}
static void anew(void)
{
    posix_spawn_file_actions_init(&f), posix_spawnattr_init(&a);
}

int main(void)
{
    char *sh = "/bin/sh";
    anew(), run("exit 3", sh, "exit 3", 0), run("by PATH", "sh", "exit 4", 1), run("not by PATH", "sh", "exit 4", 0), run("none", "/none/sh", "", 0),
        run("not executable", "host/file", "", 0), run("a directory", "host", "", 0), put("script", "echo as a script $1\n"),
        S(chmod, "script", 0755), run("without #!", "./script", "", 0), run("without #!, p", "./script", "", 1);
    posix_spawn_file_actions_addopen(&f, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0640), posix_spawn_file_actions_adddup2(&f, 1, 2),
        posix_spawn_file_actions_addopen(&f, 0, "host/file", O_RDONLY, 0), run("redirected", sh, "cat; echo to the second >&2", 0), cat("out"),
        anew();
    posix_spawn_file_actions_addclose(&f, 0), run("closed", sh, "test -e /proc/self/fd/0 && exit 1; exit 0", 0), anew(),
        posix_spawn_file_actions_addclose(&f, 77), run("closed that was not open", sh, "exit 0", 0), anew(),
        posix_spawn_file_actions_adddup2(&f, 77, 1), run("copied that was not open", sh, "exit 0", 0), anew(),
        posix_spawn_file_actions_addopen(&f, 5, "none/x", O_RDONLY, 0), run("opened what is not there", sh, "exit 0", 0),
        show("descriptor -1", -posix_spawn_file_actions_addclose(&f, -1)), anew();
    posix_spawn_file_actions_addchdir_np(&f, "host"), posix_spawn_file_actions_addopen(&f, 1, "made", O_WRONLY | O_CREAT, 0644),
        run("directory", sh, "echo in it; test -e tool", 0), cat("host/made"), anew(), posix_spawn_file_actions_addchdir_np(&f, "none"),
        run("no directory", sh, "exit 0", 0), anew();
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char script[100];
    snprintf(script, sizeof script, "test -e /proc/self/fd/%d", fd), run("close on exec", sh, script, 0),
        posix_spawn_file_actions_adddup2(&f, fd, fd), run("copied to itself", sh, script, 0), anew(), posix_spawn_file_actions_addclosefrom_np(&f, 3),
        run("closefrom", sh, "ls /proc/self/fd | wc -l | grep -q '^ *4$'", 0), anew();

    /* Attributes. */
    sigset_t set;
    short flags = -1;
    signal(SIGUSR1, SIG_IGN), run("USR1 is ignored", sh, "kill -USR1 $$; exit 2", 0), sigemptyset(&set), sigaddset(&set, SIGUSR1),
        posix_spawnattr_setsigdefault(&a, &set), posix_spawnattr_setflags(&a, POSIX_SPAWN_SETSIGDEF),
        run("USR1 by default", sh, "kill -USR1 $$; exit 2", 0), anew(), sigprocmask(SIG_BLOCK, &set, 0),
        run("mask inherited", sh, "grep -q 'SigBlk:.*200$' /proc/self/status", 0), sigemptyset(&set), posix_spawnattr_setsigmask(&a, &set),
        posix_spawnattr_setflags(&a, POSIX_SPAWN_SETSIGMASK), run("mask set", sh, "grep -q 'SigBlk:.*0$' /proc/self/status", 0), anew();
    run("group of the parent", sh, "read a b c d e f < /proc/self/stat; set -- $(cat /proc/$$/stat); test $5 = $$ && exit 1; exit 0", 0),
        posix_spawnattr_setflags(&a, POSIX_SPAWN_SETPGROUP), run("group of its own", sh, "set -- $(cat /proc/$$/stat); test $5 = $$", 0),
        posix_spawnattr_setpgroup(&a, 0x3ffffe), run("group that is none", sh, "exit 0", 0), anew(), posix_spawnattr_setflags(&a, POSIX_SPAWN_SETSID),
        run("session of its own", sh, "set -- $(cat /proc/$$/stat); test $6 = $$", 0), show("flags 0x4000", -posix_spawnattr_setflags(&a, 0x4000)),
        posix_spawnattr_getflags(&a, &flags), num(flags), anew(), posix_spawnattr_setflags(&a, POSIX_SPAWN_RESETIDS), run("ids", sh, "exit 9", 0);
    return 0;
}
