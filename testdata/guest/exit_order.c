// covers: exit_group fork wait4 write
#include "child.h"
#include <pthread.h>

/* What runs at the end of a process, in which order: functions, destructors, buffers; and the ends that run nothing. */
static void one(void)
{
    printf("one\n");
}
static void two(void)
{
    printf("two\n"), atexit(one);
}
static void with_status(int status, void *arg)
{
    printf("status %d %s\n", status, (char *)arg);
}
static void quick(void)
{
    printf("quick\n"), fflush(stdout);
}
__attribute__((destructor)) static void destructor(void)
{
    printf("destructor\n");
}
__attribute__((destructor(200))) static void last(void)
{
    printf("destructor 200\n");
}
static void exits(void)
{
    atexit(one), atexit(two), on_exit(with_status, "first"), at_quick_exit(quick), exit(3);
}
static void exits_twice(void)
{
    on_exit(with_status, "outer"), atexit((void (*)(void))exits), exit(7);
}
static void quickly(void)
{
    atexit(one), at_quick_exit(quick), printf("lost\n"), quick_exit(4);
}
static void at_once(void)
{
    atexit(one), printf("lost too\n"), _exit(5);
}
static void aborts(void)
{
    atexit(one), printf("lost as well\n"), abort();
}
static void forks(void)
{
    atexit(one), printf("said twice\n");
    if (fork() == 0)
        exit(0);
    wait(0), exit(6);
}
static void *by_thread(void *arg)
{
    exit(*(int *)arg);
}
static void in_a_thread(void)
{
    pthread_t t;
    int status = 8;
    atexit(one), pthread_create(&t, 0, by_thread, &status), pthread_join(t, 0);
}
static void streams(void)
{
    FILE *f = fopen("f", "w");
    fprintf(f, "buffered"), atexit(two);
    exit(fclose(fopen("g", "w")));
}
static void failed_output(void)
{
    close(1), printf("nowhere"), exit(fflush(stdout) ? 9 : 0);
}
static void large(void)
{
    exit(0x1234);
}

int main(void)
{
    const struct {
        const char *name;
        void (*work)(void);
    } all[] = {{"exits", exits}, {"exits twice", exits_twice}, {"quick_exit", quickly}, {"_exit", at_once}, {"abort", aborts}, {"forks", forks},
        {"thread", in_a_thread}, {"streams", streams}, {"failed output", failed_output}, {"large", large}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        printf("== %s\n", all[i].name), fflush(stdout);
        num(reap(child(all[i].work)));
    }
    cat("f");
    return 0;
}
