// Exceptions through recursion, through the C library, thrown again, one while another is handled, with and without
// clean-ups, and beside virtual calls that begin with a jump.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#define APART __attribute__((noinline, noclone))
static volatile int count;
struct Guard { ~Guard() { count = count + 1; } };
struct Left { virtual APART int left(int n) { count = count + n; return n; } virtual ~Left() = default; int a = 1; };
struct Right { virtual APART int right(int n) { if (n > 3) throw n; return n; } virtual ~Right() = default; int b = 2; };
struct Both : Left, Right {
    APART int left(int n) override { return n + a; }
    APART int right(int n) override { if (n > 2) throw std::string("right"); return n + b; }
};
APART static int down(int n) {
    Guard guard;
    if (n == 0) throw 7;
    return down(n - 1) + 1;
}
APART static int again(int n) {
    try { return down(n); } catch (int &) { count = count + 2; throw; }
}
APART static int within(int n) {
    try { return again(n); }
    catch (int caught) {
        try { return again(caught % 3); } catch (...) { Guard guard; return caught; }
    }
}
extern "C" APART int order(const void *a, const void *b) {
    count = count + 1;
    if (count % 31 == 0) throw 1.5;
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}
APART static int sorts(int n) {
    int values[16];
    for (int i = 0; i < 16; i++) values[i] = i * 13 % 16;
    std::qsort(values, 16, sizeof *values, order);
    return values[n & 15];
}
APART static int virtuals(Left *left, Right *right, int n) { return left->left(n) + right->right(n); }
struct Quiet { ~Quiet() noexcept { try { down(1); } catch (int) { count = count + 3; } } };
APART static int quiet(int n) { Quiet one; if (n % 2) throw n; return n; }
APART static int apply(const std::function<int(int)> &f, int n) { Guard guard; return f(n) + 1; }
int main() {
    int sum = 0;
    for (int i = 0; i < 5; i++) sum += within(i);
    for (int i = 0; i < 4; i++) try { sum += sorts(i); } catch (double) { sum += 50; }
    Both both;
    Right plain;
    for (int i = 0; i < 5; i++) {
        try { sum += virtuals(&both, i % 2 ? &both : &plain, i); }
        catch (int n) { sum += n; }
        catch (const std::string &text) { sum += int(text.size()); }
    }
    for (int i = 0; i < 4; i++) try { sum += apply(quiet, i); } catch (int n) { sum += n; }
    std::printf("%d %d\n", sum, count);
}
