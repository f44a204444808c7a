// Functions of one name: overloaded, templates, in namespaces without a name, lambdas, operators, and members.
#include <cstdio>
#define APART __attribute__((noinline, noclone))
static volatile int count;
APART static int twice(int n) { count = count + n; return 2 * n; }
APART static int twice(long n) { count = count + 1; return int(2 * n); }
APART static int twice(double n) { return int(2 * n); }
APART static int twice(const char *text) { return twice(text[0]) + twice(long(text[1])); }
template <typename T> APART T same(T value) { count = count + 1; return value; }
template <> APART char same(char value) { return value; }
namespace one { namespace { APART int inner(int n) { return n + count; } } APART int call(int n) { return inner(n); } }
namespace { namespace two { APART int inner(int n) { return n - count; } } APART int call(int n) { return two::inner(n); } }
struct Number {
    int value;
    APART explicit Number(int n) : value(n) {}
    APART explicit Number(double n) : value(int(n)) {}
    APART Number(const Number &other) : value(other.value + 1) {}
    APART Number operator+(const Number &other) const { return Number(value + other.value); }
    APART Number &operator++() { value++; return *this; }
    APART Number operator++(int) { Number old(*this); value++; return old; }
    APART explicit operator bool() const { return value % 2; }
    APART int operator()(int n) const { return value * n; }
    APART int get() { return value; }
    APART int get() const { return -value; }
};
template <int n> struct Power { static APART int of(int x) { return x * Power<n - 1>::of(x); } };
template <> struct Power<0> { static APART int of(int) { return 1; } };
int main() {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += twice(i) + twice(long(i)) + twice(i + 0.5) + twice("ab");
        sum += same(i) + same('c') + int(same(2.5)) + same(7L);
        sum += one::call(i) + call(i) + Power<4>::of(i);
        Number a(i), b(i + 0.5);
        const Number c = a + b;
        Number d(a++);
        sum += (++d).get() + c.get() + d(3) + (c ? 1 : 0);
        auto add = [&](int n) __attribute__((noinline)) { count = count + n; return n; };
        auto more = [](auto n) __attribute__((noinline)) { count = count + 1; return int(n); };
        sum += add(i) + more(i) + more(i + 0.5);
    }
    std::printf("%d %d\n", sum, count);
}
