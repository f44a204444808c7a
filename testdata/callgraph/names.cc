// Functions that have the same name when it is shown: the deleting destructor calls the complete
// one, and constructors of virtual bases come in two kinds as well.
#include <cstdio>
static int count;
struct Base {
    int value;
    __attribute__((noinline)) explicit Base(int n) : value(n) { count += n; }
    __attribute__((noinline)) virtual ~Base() { count += value; }
};
struct Middle : virtual Base {
    __attribute__((noinline)) explicit Middle(int n) : Base(n) { count++; }
    __attribute__((noinline)) ~Middle() override { count += 2; }
};
struct Leaf : Middle {
    Middle inner;
    __attribute__((noinline)) explicit Leaf(int n) : Base(n), Middle(n), inner(n + 1) { count += 3; }
    __attribute__((noinline)) ~Leaf() override { count += 4; }
};
namespace { struct Local { __attribute__((noinline)) static int one(int n) { return n + count; } }; }
__attribute__((noinline)) static Base *make(int n) {
    return n % 2 ? new Leaf(n) : new Base(n);
}
int main() {
    for (int i = 0; i < 6; i++) delete make(Local::one(i) & 7);
    std::printf("%d\n", count);
}
