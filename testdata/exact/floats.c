// covers: sse-scalar
/* Floating point in C: float, double and long double, conversions, comparisons, arrays of each. */
#include "rt.h"

static float f[300];
static double d[300];
static long double l[300];
static int n[300];

static double series(double x)
{
    double term = 1, sum = 1;
    for (int i = 1; i < 20; i++) {
        term *= x / i;
        sum += term;
    }
    return sum;
}

static long double newton(long double x)
{
    long double y = x > 1 ? x / 2 : 1;
    for (int i = 0; i < 8; i++)
        y = (y + x / y) / 2;
    return y;
}

static int run(void)
{
    for (int i = 0; i < 300; i++) {
        n[i] = (int)(rnd() & 0xffff) - 30000;
        f[i] = (float)n[i] / 3;
        d[i] = (double)f[i] * 1.5 + (double)(rnd() >> 40);
        l[i] = (long double)d[i] + n[i];
    }
    double sum = 0;
    long double roots = 0;
    int above = 0;
    for (int i = 0; i < 300; i++) {
        sum += series(d[i] / 1e7);
        if (l[i] > 0)
            roots += newton(l[i]);
        if (f[i] < (float)d[299 - i])
            above++;
        d[i] = f[i] > 0 ? -d[i] : __builtin_fabs(d[i]);
        f[i] = (float)l[i];
        l[i] = (long double)(u64)(sum > 0 ? sum : 0) - (long double)(short)n[i];
    }
    return above + (int)sum + (int)roots;
}
