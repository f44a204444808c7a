// covers: clone vfork execve wait4 pipe2 rt_sigaction dup2
#include "guest.h"
#include <sys/wait.h>

/* Programs that system(3) and popen(3) run: their statuses, their streams, and signals meanwhile. */
static int handled;
static void handler(int signo)
{
    (void)signo;
    handled++;
}
static void status(const char *what, int s)
{
    if (s == -1)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %s %d\n", what, WIFEXITED(s) ? "exit" : "signal", WIFEXITED(s) ? WEXITSTATUS(s) : WTERMSIG(s));
    fflush(stdout);
}

int main(void)
{
    char line[100];
    is(system(NULL) != 0), status("true", system("true")), status("exit 7", system("exit 7")),
        status("no such program", system("/none/program 2>/dev/null")), status("not executable", system("./host/file 2>/dev/null")),
        status("killed", system("kill -9 $$")), status("terminated child", system("sh -c 'kill -15 $$' ; exit $?")),
        status("syntax", system("if 2>/dev/null")), status("output", system("echo from the shell")), status("empty", system("")),
        status("pipe", system("echo a b c | wc -w | tr -d ' '"));
    signal(SIGINT, handler), signal(SIGCHLD, handler), status("interrupts its parent", system("kill -2 $PPID; exit 3")), num(handled),
        signal(SIGCHLD, SIG_IGN), status("with children ignored", system("exit 4")), signal(SIGCHLD, SIG_DFL), handled = 0, raise(SIGINT),
        num(handled);

    FILE *f = popen("echo one; echo two; exit 5", "r");
    while (fgets(line, sizeof line, f))
        printf("read %s", line);
    status("popen r", pclose(f)), f = popen("cat; exit 6", "w"), fprintf(f, "written to cat\n"), status("popen w", pclose(f));
    is(popen("true", "x") == NULL && errno == EINVAL), f = popen("none-of-that-name 2>/dev/null", "r"), is(fgets(line, sizeof line, f) == NULL),
        status("127", pclose(f)), f = popen("true", "re"), is(fcntl(fileno(f), F_GETFD) == FD_CLOEXEC), status("closed on exec", pclose(f));
    /* One that is closed early is told by SIGPIPE. */
    f = popen("while echo line; do :; done 2>/dev/null", "r"), is(fgets(line, sizeof line, f) != NULL), status("closed early", pclose(f));
    FILE *a = popen("sleep 0.01; echo slow", "r"), *b = popen("echo fast", "r");
    is(fgets(line, sizeof line, b) != NULL), printf("%s", line), is(fgets(line, sizeof line, a) != NULL), printf("%s", line), status("a", pclose(a)),
        status("b", pclose(b)), is(waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD);
    return 0;
}
