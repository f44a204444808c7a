// covers: jcc recursion
/* Three ways to sort: branches that depend on data, recursion, moves within an array. */
#include "rt.h"

#define N 1500
static u32 a[N], b[N], c[N], spare[N];

static void quick(u32 *v, long low, long high)
{
    while (low < high) {
        u32 pivot = v[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                u32 t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - low < high - i) {
            quick(v, low, j);
            low = i;
        } else {
            quick(v, i, high);
            high = j;
        }
    }
}

static void merge(u32 *v, long n)
{
    if (n < 2)
        return;
    long half = n / 2;
    merge(v, half);
    merge(v + half, n - half);
    long i = 0, j = half, k = 0;
    while (i < half && j < n)
        spare[k++] = v[i] <= v[j] ? v[i++] : v[j++];
    while (i < half)
        spare[k++] = v[i++];
    while (j < n)
        spare[k++] = v[j++];
    for (i = 0; i < n; i++)
        v[i] = spare[i];
}

static void heap(u32 *v, long n)
{
    for (long start = n / 2, end = n; end > 1;) {
        if (start)
            start--;
        else {
            end--;
            u32 t = v[0];
            v[0] = v[end];
            v[end] = t;
        }
        for (long root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && v[child] < v[child + 1])
                child++;
            if (v[root] >= v[child])
                break;
            u32 t = v[root];
            v[root] = v[child];
            v[child] = t;
        }
    }
}

static int run(void)
{
    for (long i = 0; i < N; i++)
        a[i] = b[i] = c[i] = (u32)rnd();
    quick(a, 0, N - 1);
    merge(b, N);
    heap(c, N);
    for (long i = 0; i < N; i++)
        if (a[i] != b[i] || b[i] != c[i] || (i && a[i - 1] > a[i]))
            __builtin_trap();
    return 0;
}
