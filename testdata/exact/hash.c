// covers: integer-load shifts-reg
/* Hash tables, lists and bytes: unpredictable addresses, rotations, unaligned words. */
#include "rt.h"

struct node {
    struct node *next;
    u64 key;
    u32 count;
    u8 name[11];
} __attribute__((packed));

static struct node pool[3000];
static struct node *buckets[512];
static u8 text[8192];
static u32 used;

static u32 fnv(const u8 *p, u32 n)
{
    u32 h = 2166136261u;
    while (n--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static u32 rotate(const u8 *p, u32 n)
{
    u32 h = 0;
    for (; n >= 4; n -= 4, p += 4) {
        u32 word;
        __builtin_memcpy(&word, p, 4);
        word *= 0xcc9e2d51;
        h ^= word << 15 | word >> 17;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64;
    }
    return h;
}

static void add(u64 key)
{
    struct node **head = &buckets[(key * 0x9e3779b97f4a7c15ul) >> 55];
    for (struct node *n = *head; n; n = n->next)
        if (n->key == key) {
            n->count++;
            return;
        }
    struct node *new = &pool[used++];
    new->key = key;
    for (u32 i = 0; i < 11; i++)
        new->name[i] = (u8)(key >> i);
    new->next = *head;
    *head = new;
}

static u64 fold(void)
{
    u64 sum = 0;
    for (u32 i = 0; i < 512; i++)
        for (struct node *n = buckets[i]; n; n = n->next)
            sum += fnv(n->name, 11) + n->count;
    return sum;
}

static int run(void)
{
    for (u32 i = 0; i < sizeof text; i++)
        text[i] = (u8)(rnd() >> 11);
    for (u32 i = 0; i < 3000; i++)
        add(rnd() % 2000);
    u64 sum = fold();
    for (u32 i = 0; i < 64; i++)
        sum += rotate(text + i * 61 % 97, 61 + i) ^ fnv(text + i, i);
    kept = sum;
    return (int)sum;
}
