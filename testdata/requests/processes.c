/* Requests of several processes. What is printed by VALGRIND_PRINTF is the same under Valgrind; counting is switched in each
   process by itself, and begins anew with a program. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

#define COUNT(on) ((void)VALGRIND_DO_CLIENT_REQUEST_EXPR(0, 0x43470000 + !(on), 0, 0, 0, 0, 0))

static volatile long work;

static __attribute__((noinline)) void spend(void)
{
    for (int i = 0; i < 1000; i++) work += i;
}
static __attribute__((noinline)) void before(void) { spend(); work++; }
static __attribute__((noinline)) void in_child(void) { spend(); work++; }
static __attribute__((noinline)) void in_parent(void) { spend(); work++; }
static __attribute__((noinline)) void in_program(void) { spend(); work++; }

static void await(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "again")) {
        VALGRIND_PRINTF("the program\n");
        in_program();
        pid_t child = fork();
        if (!child) {
            VALGRIND_PRINTF("its child\n");
            _exit(0);
        }
        await(child);
        return 0;
    }
    int wanted = argc > 1 && !strcmp(argv[1], "start");
    if (wanted) COUNT(1);
    before();
    VALGRIND_PRINTF("the parent\n");
    pid_t child = fork();
    if (!child) {
        VALGRIND_PRINTF("the child\n");
        if (argc > 1) COUNT(0);
        in_child();
        execl(argv[0], "prog", "again", (char *)0);
        abort();
    }
    await(child);
    in_parent();
    VALGRIND_PRINTF("the parent again\n");
    return 0;
}
