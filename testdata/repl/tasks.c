// Threads and processes that take turns: two threads count under a lock, a child is made and
// waited for, and a pipe goes between them.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) static long work(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i & 7;
    return sum;
}

static void *counter(void *arg) {
    for (int i = 0; i < 3; i++) {
        long part = work(30000 + (long)arg);
        pthread_mutex_lock(&lock);
        total += part;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, counter, (void *)i);
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        byte = (char)work(60000);
        return write(ends[1], &byte, 1) == 1 ? 5 : 6;
    }
    if (read(ends[0], &byte, 1) != 1)
        return 3;
    int status = 0;
    waitpid(child, &status, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %d %d\n", total, byte, WEXITSTATUS(status));
    return 0;
}
