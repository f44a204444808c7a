// What the C library's most used parts do: sorting, numbers to text and back, memory small and large, strings.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000
#define LARGE (3 << 20)

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    unsigned seed = 1;
    int *numbers = malloc(COUNT * sizeof *numbers);
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1103515245u + 12345u;
        numbers[i] = seed >> 8;
    }
    qsort(numbers, COUNT, sizeof *numbers, compare);
    // Beyond what the heap has room for, so that it is mapped.
    char *large = malloc(LARGE);
    memset(large, 7, LARGE);
    double total = 0;
    for (int i = 0; i < 500; i++) {
        char text[256];
        snprintf(text, sizeof text, "%d %g %s", numbers[i * 13], numbers[i] / 7.0, argv[argc - 1]);
        char *copy = malloc(strlen(text) + 1 + i);
        strcpy(copy, text);
        total += strtod(copy, NULL);
        if (i % 3)
            free(copy);
    }
    printf("%d %d %d %f\n", numbers[0], numbers[COUNT / 2], large[12345], total);
    return 0;
}
