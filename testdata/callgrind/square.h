static inline __attribute__((always_inline)) int square(int x)
{
    int y = x * x;
    return y ^ (y >> 3);
}
