// The program that children of forks.c execute: its functions are elsewhere, and at the address of
// the other's `helper` is code of another function.
volatile int sink;

__attribute__((noinline)) int pad(int n) {
    for (int i = 0; i < n; i++)
        sink += i * n;
    return n;
}

__attribute__((noinline)) int pad_more(int n) {
    for (int i = 0; i < 3 * n; i++)
        sink ^= i + n;
    return n;
}

__attribute__((noinline)) int helper(int n) { return n - 1; }

int main(int argc, char **argv) { return helper(pad(50) + pad_more(50) - 99 + 0 * (argc + !argv)); }
