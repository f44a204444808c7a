/* Threads that run at the same time: with a stack each, with recursion, jumps out of it, and calls of one another's
   functions. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#define APART __attribute__((noinline, noclone))
static pthread_barrier_t together;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
APART static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART static int leaf(int n) { return n * n + 1; }
APART static int away(jmp_buf *to, int n) {
    if (n <= 0) longjmp(*to, 5);
    int r = away(to, n - 1);
    __asm__ volatile("" : "+r"(r));
    return r;
}
APART static int tries(int n) {
    jmp_buf here;
    volatile int times = n;
    int r = setjmp(here);
    return r ? r + times : away(&here, times);
}
APART static int own(int at) {
    int r = 0;
    for (int i = 0; i < 20 * at; i++) r += leaf(i) + tries(i % 7);
    return r + fib(8 + at);
}
static void *thread(void *argument) {
    int at = *(int *)argument;
    pthread_barrier_wait(&together);
    int r = own(at);
    pthread_barrier_wait(&together);
    r += own(4 - at);
    pthread_mutex_lock(&lock);
    sum += r;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    int numbers[3] = { 1, 2, 3 };
    pthread_barrier_init(&together, 0, 3);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, thread, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("%d %d\n", sum, own(2));
    return 0;
}
