#include <stdio.h>
#include <stdlib.h>
#define N 64
static double m[N][N];
static inline __attribute__((always_inline)) double cell(int i, int j)
{
    return m[i][j] * 2.0;
}
static inline __attribute__((always_inline)) double sum_cols(int n)
{
    double s = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s += cell(i, j);
    return s;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : N;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[i][j] = i * j;
    double t = 0;
    for (int k = 0; k < 10; k++)
        t += sum_cols(n);
    printf("%f\n", t);
    return 0;
}
