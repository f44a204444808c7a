// covers: x87-extended x87-float x87-integer
// Numbers of eighty bits: series, comparisons and conversions.
#include "rt.h"

static long double terms[64];
static double plain[64];
static float single[64];

static int run(void)
{
    long double sum = 0, power = 1;
    for (int i = 0; i < 64; i++) {
        terms[i] = power / (i + 1);
        power *= -0.75L;
        plain[i] = (double)terms[i];
        single[i] = (float)terms[i];
    }
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 64; i++) {
            sum += terms[i] * plain[63 - i] - single[i];
            if (sum > 2.5L)
                sum = sum / 3 + (long double)(long)kept;
            if (sum < 0)
                sum = -sum;
        }
    kept += (u64)(long)(sum * 1000);
    return 0;
}
