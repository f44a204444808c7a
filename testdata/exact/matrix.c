// covers: sse-scalar conflict
/* Matrices in both orders: strided reads of double, float and integer, whole lines and parts of them. */
#include "rt.h"

#define N 40
static double a[N][N], b[N][N], c[N][N];
static float f[N * 4][N];
static short s[256][64];

static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

static void blocked(void)
{
    for (int ii = 0; ii < N; ii += 8)
        for (int jj = 0; jj < N; jj += 8)
            for (int i = ii; i < ii + 8; i++)
                for (int k = 0; k < N; k++)
                    for (int j = jj; j < jj + 8; j++)
                        c[i][j] += a[i][k] * b[k][j];
}

static float columns(void)
{
    float sum = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N * 4; i++)
            sum += f[i][j] *= 0.5f;
    return sum;
}

static int image(void)
{
    int sum = 0;
    for (int x = 1; x < 63; x++)
        for (int y = 1; y < 255; y++) {
            s[y][x] = (short)((s[y - 1][x] + s[y + 1][x] + s[y][x - 1] + s[y][x + 1]) / 4 + y);
            sum += s[y][x];
        }
    return sum;
}

static int run(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (double)(i + j) / 8;
            b[j][i] = (double)(rnd() & 1023);
            f[i * 4 + j % 4][j] = (float)i;
        }
    multiply();
    blocked();
    float sum = columns();
    return (int)sum + image() + (int)c[N - 1][N - 1];
}
