/* Recursion of one function and of two, code inlined from another file, calls from several places, and threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "square.h"

static __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static __attribute__((noinline)) int odd(int n);
static __attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static __attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }

static __attribute__((noinline)) int work(int n)
{
    int *field = calloc(n, sizeof *field);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        field[(i * 61) % n] += square(i);
        if (sum & 1)
            sum ^= field[i];
        else
            sum += field[n - 1 - i];
    }
    free(field);
    return sum;
}

/* Both threads are there at a time, so that neither takes over the other's number. */
static pthread_barrier_t barrier;

static void *thread(void *argument)
{
    pthread_barrier_wait(&barrier);
    int n = *(int *)argument;
    *(int *)argument = work(n) + even(9);
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300;
    pthread_t one, two;
    int a = n, b = 2 * n;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&one, NULL, thread, &a);
    pthread_create(&two, NULL, thread, &b);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d %d %d\n", fib(9), even(10), work(n) + a + b);
    return 0;
}
