/* Jumps of all kinds: conditional ones, loops, tables of a switch, computed goto, and repeated
   string instructions, which jump to themselves. */
#include <stdio.h>
#include <string.h>
static volatile int sink;
static char from[100], to[100];
__attribute__((noinline)) static int count(int n) {
    int odd = 0;
    for (int i = 0; i < n; i++) {
        if (i & 1)
            sink += i;
        else
            odd++;
    }
    return odd;
}
__attribute__((noinline)) static void table(int n) {
    switch (n) {
    case 0: sink++; break;
    case 1: sink--; break;
    case 2: sink *= 3; break;
    case 3: sink /= 2; break;
    case 4: sink ^= 7; break;
    case 5: sink |= 9; break;
    default: sink = 2;
    }
}
__attribute__((noinline)) static int computed(int n) {
    static void *const places[] = {&&add, &&twice, &&end};
    int at = 0;
    goto *places[at];
add:
    n += 5;
    at = n > 20 ? 2 : 1;
    goto *places[at];
twice:
    n *= 2;
    at = n & 1;
    goto *places[at];
end:
    return n;
}
__attribute__((noinline)) static void strings(long n) {
    void *source = from, *target = to;
    long bytes = n;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(bytes) : : "memory");
    source = from, target = to, bytes = n;
    __asm__ volatile("repe cmpsb" : "+S"(source), "+D"(target), "+c"(bytes) : : "memory", "cc");
    bytes = 7;
    __asm__ volatile("1: loop 1b" : "+c"(bytes));
}
int main(void) {
    sink = count(10);
    for (int i = 0; i < 8; i++) table(i);
    sink += computed(1);
    strings(20);
    strings(0);
    strings(1);
    printf("%d\n", sink);
    return 0;
}
