// Exceptions through several functions, with destructors on the way.
#include <cstdio>
#include <stdexcept>
static volatile int count;
struct Guard { ~Guard() { count = count + 1; } };
__attribute__((noinline)) static void inner(int n) {
    Guard guard;
    if (n % 3 == 0) throw std::runtime_error("three");
    count = count + n;
}
__attribute__((noinline)) static void outer(int n) { Guard guard; inner(n); inner(n + 1); }
__attribute__((noinline)) static int caught(int n) {
    try { outer(n); } catch (const std::exception &e) { return e.what()[0]; }
    return 1;
}
int main() {
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += caught(i);
    std::printf("%d %d\n", sum, count);
}
