/* Walks over buffers larger than the caches, with strides, backwards and by links, from several callers. */
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
enum { COUNT = 6000 };
struct link { struct link *next; long value[5]; };

APART static void fill(double *all, int n) {
    for (int i = 0; i < n; i++) all[i] = i % 17;
}

APART static double stride(const double *all, int n, int step) {
    double sum = 0;
    for (int start = 0; start < step; start++)
        for (int i = start; i < n; i += step) sum += all[i];
    return sum;
}

APART static double backwards(const double *all, int n) {
    double sum = 0;
    while (n--) sum -= all[n];
    return sum;
}

APART static long follow(struct link *from) {
    long sum = 0;
    for (struct link *at = from; at; at = at->next) sum += at->value[0]++ ? 1 : 2;
    return sum;
}

APART static struct link *links(int n) {
    struct link *all = calloc(n, sizeof *all), *last = 0;
    for (int i = 0; i < n; i++) {
        struct link *one = &all[i * 7919L % n];
        one->next = last;
        last = one;
    }
    return last;
}

APART static double rounds(double *all, int n) {
    double sum = 0;
    for (int step = 1; step < 100; step *= 3) sum += stride(all, n, step) + backwards(all, n);
    return sum;
}

int main(void) {
    double *all = malloc(COUNT * sizeof *all);
    fill(all, COUNT);
    double sum = rounds(all, COUNT / 2) + rounds(all, COUNT);
    struct link *first = links(1000);
    long links = follow(first);
    for (int i = 0; i < 4; i++) links += follow(first);
    printf("%d %ld\n", (int)sum, links);
    return 0;
}
