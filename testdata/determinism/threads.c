/* Threads that contend: a mutex and a condition, an unguarded counter, turns by a pipe, malloc, threads that come
   and go. The output tells in which order things happened, which on Linux is another in every run. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, order[THREADS * ROUNDS], at, ends[2];
static volatile long unguarded;

static void *brief(void *argument) {
    unguarded++;
    return argument;
}

static void *work(void *argument) {
    int own = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        unguarded++;
        free(malloc((size_t)(round % 977) * 3));
        pthread_mutex_lock(&mutex);
        order[at++] = own;
        if (round % 100 == 0) {
            turn++;
            pthread_cond_broadcast(&changed);
            while (turn % THREADS != own && turn < THREADS * ROUNDS / 100) pthread_cond_wait(&changed, &mutex);
        }
        pthread_mutex_unlock(&mutex);
        if (round % 64 == own) sched_yield();
        if (round % 500 == 0) {
            char byte = (char)own;
            pthread_t one;
            if (write(ends[1], &byte, 1) != 1 || pthread_create(&one, NULL, brief, NULL) != 0) exit(2);
            pthread_join(one, NULL);
            if (read(ends[0], &byte, 1) != 1) exit(3);
            unguarded += byte;
        }
    }
    pthread_mutex_lock(&mutex);
    turn += THREADS * ROUNDS;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned hash = 0;
    if (pipe(ends)) return 1;
    for (long one = 0; one < THREADS; one++)
        if (pthread_create(&threads[one], NULL, work, (void *)one)) return 1;
    for (int one = 0; one < THREADS; one++) pthread_join(threads[one], NULL);
    for (int one = 0; one < at; one++) hash = hash * 31 + (unsigned)order[one];
    printf("%d %08x %ld\n", at, hash, unguarded);
    return 0;
}
