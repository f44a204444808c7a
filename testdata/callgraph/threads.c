/* Threads, each with a stack of its own. */
#include <pthread.h>
#include <stdio.h>
static int sums[4];
__attribute__((noinline)) static int leaf(int n) { return n * n; }
__attribute__((noinline)) static void *work(void *arg) {
    int at = *(int *)arg;
    for (int i = 0; i < 100 * (at + 1); i++) sums[at] += leaf(i);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    int numbers[4] = { 0, 1, 2, 3 };
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], 0, work, &numbers[i]);
        pthread_join(threads[i], 0);
    }
    work(&numbers[3]);
    printf("%d %d %d %d\n", sums[0], sums[1], sums[2], sums[3]);
    return 0;
}
