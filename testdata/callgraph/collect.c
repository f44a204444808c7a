/* Functions that call each other in several ways, for --toggle-collect. */
#define APART __attribute__((noinline, noclone))

volatile int one = 1;

APART int h(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += one;
    return sum;
}

APART int g(int n) { return h(n) + h(2 * n) + one; }

APART int f(int n) { return g(n) + one; }

APART int rec(int n) { return n ? rec(n - 1) + h(3) + one : 0; }

APART int other(int n) { return f(n) + rec(4) + one; }

int main(void) { return f(5) + other(7) + rec(3) + g(1) == 0; }
