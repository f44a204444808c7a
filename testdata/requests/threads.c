/* A thread that has Valgrind call a function, which lasts for many turns, while another one works. */
#include <pthread.h>
#include <stdio.h>
#include <valgrind/valgrind.h>

static long quiet, loud;

static __attribute__((noinline)) long uncounted(long thread, long rounds)
{
    for (volatile long i = 0; i < rounds; i++) quiet++;
    return 100 * thread + quiet % 100;
}

static __attribute__((noinline)) void counted(void)
{
    for (volatile long i = 0; i < 20000; i++) loud++;
}

static void *call(void *nothing)
{
    for (int i = 0; i < 3; i++) printf("%lu\n", (unsigned long)VALGRIND_NON_SIMD_CALL1(uncounted, 10001));
    return nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, call, 0);
    counted();
    pthread_join(thread, 0);
    counted();
    return 0;
}
