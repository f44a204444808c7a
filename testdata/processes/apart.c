// Threads that take turns, of which one forks and one ends early. With an argument, the last one executes this program again
// while the others live.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared[4096];
static int again;
static void *work(void *arg) {
    long n = (long)arg;
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 500; j++) shared[(j * (n * 7 + 3)) & 4095] += j % (n + 2) ? j : n;
        pthread_mutex_lock(&lock); shared[n]++; pthread_mutex_unlock(&lock);
        if (n == 2 && i == 20) { pid_t p = fork(); if (!p) { for (int j = 0; j < 3000; j++) shared[j] ^= j; _exit(3);} int s; waitpid(p, &s, 0); if (WEXITSTATUS(s) != 3) abort(); }
        if (n == 3 && i == 5) return 0;
        if (n == 1 && i == 30 && again) { execl("/proc/self/exe", "apart", (char *)0); abort(); }
    }
    return 0;
}
int main(int argc, char **argv) {
    pthread_t t[4];
    (void)argv;
    again = argc > 1;
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    printf("%ld %ld\n", shared[0], shared[1]);
    fflush(stdout);
    return 0;
}
