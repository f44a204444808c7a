/* The mix that speed is measured on: sorting, a sieve, matrices, pointer chasing, CRC and indirect calls.
 * Freestanding, so that nothing but the program itself runs. ROUNDS=20 is two billion instructions. */
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define N 200000
#define SIEVE 2000000
#define DIM 96
#define NODES 65536

static u32 values[N], scratch[N];
static u8 sieve[SIEVE];
static double a[DIM * DIM], b[DIM * DIM], c[DIM * DIM];
static struct node { struct node *next; u64 value; } nodes[NODES];
static u32 table[256];
static u64 state = 88172645463325252ul;

static u64 next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void merge_sort(u32 *x, u32 *t, long n)
{
    if (n < 2)
        return;
    long m = n / 2, i = 0, j = m, k = 0;
    merge_sort(x, t, m);
    merge_sort(x + m, t + m, n - m);
    while (i < m && j < n)
        t[k++] = x[i] <= x[j] ? x[i++] : x[j++];
    while (i < m)
        t[k++] = x[i++];
    while (j < n)
        t[k++] = x[j++];
    for (i = 0; i < n; i++)
        x[i] = t[i];
}

static u32 crc(const u8 *p, long n)
{
    u32 value = ~0u;
    while (n--)
        value = table[(value ^ *p++) & 255] ^ (value >> 8);
    return ~value;
}

static u64 triple(u64 x) { return x * 3; }
static u64 flip(u64 x) { return x ^ 0x55; }
static u64 plus(u64 x) { return x + 77; }
static u64 half(u64 x) { return x >> 1; }
static u64 (*const functions[4])(u64) = { triple, flip, plus, half };

static u64 one_round(void)
{
    u64 sum = 0;
    for (long i = 0; i < N; i++)
        values[i] = next_random();
    merge_sort(values, scratch, N);
    sum += values[N / 2];
    for (long i = 0; i < SIEVE; i++)
        sieve[i] = 1;
    for (long i = 2; i * i < SIEVE; i++)
        if (sieve[i])
            for (long j = i * i; j < SIEVE; j += i)
                sieve[j] = 0;
    for (long i = 0; i < SIEVE; i++)
        sum += sieve[i];
    for (int i = 0; i < DIM * DIM; i++) {
        a[i] = i;
        b[i] = i * 2;
    }
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++) {
            double dot = 0;
            for (int k = 0; k < DIM; k++)
                dot += a[i * DIM + k] * b[k * DIM + j];
            c[i * DIM + j] = dot;
        }
    sum += (u64)c[100];
    for (int i = 0; i < NODES; i++) {
        nodes[i].next = &nodes[(i * 40503u + 1) & (NODES - 1)];
        nodes[i].value = i;
    }
    struct node *p = nodes;
    for (int i = 0; i < 1000000; i++) {
        sum += p->value;
        p = p->next;
    }
    sum += crc((u8 *)values, sizeof values);
    for (int i = 0; i < 500000; i++)
        sum = functions[next_random() & 3](sum);
    return sum;
}

void _start(void)
{
    u64 sum = 0;
    for (int i = 0; i < 256; i++) {
        u32 value = i;
        for (int k = 0; k < 8; k++)
            value = value & 1 ? 0xEDB88320 ^ (value >> 1) : value >> 1;
        table[i] = value;
    }
    for (int r = 0; r < ROUNDS; r++)
        sum += one_round();
    __asm__ volatile("syscall" : : "a"(231L), "D"(sum & 0x7f) : "rcx", "r11", "memory");
    __builtin_unreachable();
}
