/* Callbacks from a library, and calls through its linkage table that are bound when they are first made. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int numbers(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    char *words[40];
    int values[100];
    for (int i = 0; i < 40; i++) {
        words[i] = malloc(16);
        snprintf(words[i], 16, "w%d", i * 7919 % 101);
    }
    for (int i = 0; i < 100; i++) values[i] = i * 7919 % 1009;
    qsort(words, 40, sizeof *words, order);
    qsort(values, 100, sizeof *values, numbers);
    int *found = bsearch(&values[50], values, 100, sizeof *values, numbers);
    printf("%s %d %d %d\n", words[0], values[99], (int)(found - values), toupper(words[1][0]));
    for (int i = 0; i < 40; i++) free(words[i]);
    return 0;
}
