/* Inlined into the functions of both files. */
int other(int x);
int (*part_call(int i))(int);

static inline int bits(int x)
{
    int count = 0;
    while (x) {
        count += x & 1;
        x >>= 1;
    }
    return count;
}
