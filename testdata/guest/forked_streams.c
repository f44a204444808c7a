// covers: fork read write lseek execve dup2 wait4 pipe2
// stdin: one two three four five
#include "child.h"

/* Buffers and offsets that a fork doubles: what each process reads and writes of a stream that both have. */
static FILE *f;
static void reads_on(void)
{
    char word[16] = "";
    printf("child at %ld: %d %s\n", ftell(f), fscanf(f, "%15s", word), word), printf("offset %ld\n", S(lseek, fileno(f), 0, SEEK_CUR));
}
static void executes_cat(void)
{
    dup2(fileno(f), 0), execl("/bin/cat", "cat", NULL);
}
static void reads_stdin(void)
{
    char word[16] = "";
    printf("child: %d %s\n", scanf("%15s", word), word);
}
static void leaves_output(void)
{
    printf("child's own\n");
}
static void quits(void)
{
    printf("never seen\n"), S(exit_group, 0);
}

int main(void)
{
    char word[16] = "";
    put("words", "alpha beta gamma delta\n"), f = fopen("words", "r"), num(fscanf(f, "%15s", word)),
        printf("%s at %ld, offset %ld\n", word, ftell(f), S(lseek, fileno(f), 0, SEEK_CUR)), reap(child(reads_on)), num(fscanf(f, "%15s", word)),
        printf("%s at %ld\n", word, ftell(f)), num(fflush(f)), printf("offset %ld\n", S(lseek, fileno(f), 0, SEEK_CUR)), reap(child(executes_cat)),
        num(fscanf(f, "%15s", word)), printf("%s at %ld\n", word, ftell(f)), num(fseek(f, 0, SEEK_SET)), num(fscanf(f, "%15s", word)),
        printf("%s\n", word), fclose(f);
    num(scanf("%15s", word)), printf("%s\n", word), reap(child(reads_stdin)), num(scanf("%15s", word)), printf("%s\n", word);
    /* Written before the fork, by both after it. */
    f = fopen("out", "w"), setvbuf(f, 0, _IOFBF, 4096), fprintf(f, "before "), fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        fprintf(f, "child "), fclose(f), _exit(0);
    reap(pid), fprintf(f, "parent "), fclose(f), cat("out"), f = fopen("out", "w"), fprintf(f, "before "), fflush(f), fflush(stdout), pid = fork();
    if (pid == 0)
        fprintf(f, "child "), fclose(f), _exit(0);
    reap(pid), fprintf(f, "parent "), fclose(f), cat("out"), reap(child(leaves_output)), reap(child(quits)), fflush(stdout);
    /* Appended by several, each in one piece. */
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            f = fopen("log", "a");
            for (int j = 0; j < 20; j++)
                fprintf(f, "%d:%02d\n", i, j), fflush(f);
            _exit(0);
        }
    while (wait(0) > 0)
        ;
    int lines = 0, last[4] = {-1, -1, -1, -1}, order = 1, a, b;
    f = fopen("log", "r");
    while (fscanf(f, "%d:%d", &a, &b) == 2)
        lines++, order &= last[a] + 1 == b, last[a] = b;
    num(lines), num(order), fclose(f), unlink("log");
    return 0;
}
