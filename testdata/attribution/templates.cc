// What C++ does to names: templates, lambdas, operators, virtual functions, anonymous namespaces, exceptions.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace geo {
template <class T> struct Vec {
    T x, y;
    Vec operator+(const Vec &o) const { return {x + o.x, y + o.y}; }
    template <class U> T dot(const U &o) const;
    explicit operator double() const { return double(x) + double(y); }
    T &operator[](int i) { return i ? y : x; }
    bool operator<(const Vec &o) const & { return x < o.x; }
};
template <class T> template <class U> T Vec<T>::dot(const U &o) const { return x * o.x + y * o.y; }

namespace {
struct Base {
    virtual ~Base() {}
    virtual int f(int a) { return a + 1; }
};
struct Other {
    virtual ~Other() {}
    virtual int g(int a) { return a * 3; }
};
struct Derived : Base, Other {
    int f(int a) override { return a * 2; }
    int g(int a) override { return a * 5; }
};
}

int all(int n)
{
    std::unique_ptr<Base> one[2] = {std::make_unique<Base>(), std::make_unique<Derived>()};
    std::unique_ptr<Other> two[2] = {std::make_unique<Other>(), std::make_unique<Derived>()};
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += one[i & 1]->f(i) + two[i & 1]->g(i);
    return sum;
}
}

struct Init {
    std::string text;
    Init() : text("init")
    {
        for (int i = 0; i < 50; i++)
            text += char('a' + i % 26);
    }
} global;

template <int N> struct Fib {
    static int of(int a) { return Fib<N - 1>::of(a) + Fib<N - 2>::of(a); }
};
template <> struct Fib<0> {
    static __attribute__((noinline)) int of(int a) { return a; }
};
template <> struct Fib<1> {
    static __attribute__((noinline)) int of(int a) { return a + 1; }
};

template <class... T> __attribute__((noinline)) int count(const T &...values)
{
    return (0 + ... + int(sizeof values));
}

template <class F, class... A> __attribute__((noinline)) auto apply(F &&f, A &&...values) -> decltype(f(values...))
{
    return f(std::forward<A>(values)...);
}

template <class T, std::size_t N> __attribute__((noinline)) T total(const T (&values)[N])
{
    T sum{};
    for (auto &v : values)
        sum += v;
    return sum;
}

template <int (*F)(int)> __attribute__((noinline)) int through(int x) { return F(x); }
template <int geo::Vec<int>::*M> __attribute__((noinline)) int member(geo::Vec<int> &v) { return v.*M; }
template <bool B, char C, unsigned long L> __attribute__((noinline)) long literals() { return B + C + long(L); }

__attribute__((noinline)) int plain(int x) { return x + 2; }
__attribute__((noinline)) long pointers(int (*f)(int), int geo::Vec<int>::*m, const char *const *s, int (&a)[3], double (*p)[2])
{
    geo::Vec<int> v{1, 2};
    return f(1) + v.*m + s[0][0] + a[1] + long((*p)[1]);
}

int operator""_k(unsigned long long v) { return int(v) * 1000; }

auto lambda = [](int a, const std::string &b) { return a + int(b.size()); };

static int thrower(int i)
{
    if (i % 3 == 0)
        throw std::runtime_error("x" + std::to_string(i));
    return i;
}

struct Counter {
    static int made;
    Counter() { made++; }
    Counter(Counter &&) noexcept { made += 2; }
    template <class T> Counter(T a, T b) { made += int(a + b); }
    ~Counter() { made--; }
    Counter &operator++() { made++; return *this; }
    Counter operator++(int) { return {}; }
    int operator()(int a) const { return a + made; }
    void *operator new(std::size_t n) { return ::operator new(n); }
    void operator delete(void *p) { ::operator delete(p); }
};
int Counter::made;

int main()
{
    std::map<std::string, std::vector<int>> lists;
    for (int i = 0; i < 300; i++)
        lists["k" + std::to_string(i % 17)].push_back(i * 7 % 31);
    long sum = 0;
    for (auto &[key, list] : lists) {
        std::sort(list.begin(), list.end(), std::greater<int>());
        sum += list[0] + long(key.size());
    }
    geo::Vec<double> a{1, 2}, b{3, 4};
    geo::Vec<int> c{5, 6};
    sum += long((a + b).dot(c)) + geo::all(20) + Fib<8>::of(3) + lambda(3, global.text) + 3_k;
    sum += long(double(c)) + c[1] + (a < b) + count() + count(1, 2.0, 'c') + count("text", global);
    int numbers[3] = {1, 2, 3};
    double row[2] = {1.5, 2.5};
    const char *text = "text";
    sum += total(numbers) + total({1.5, 2.5}) + through<plain>(3) + member<&geo::Vec<int>::y>(c);
    sum += literals<true, 'x', 7>() + pointers(plain, &geo::Vec<int>::x, &text, numbers, &row);
    sum += apply([&](int x, long y) { return x + y + sum; }, 1, 2l);
    std::function<int(int)> f = [&](int q) { return q < 2 ? q : f(q - 1) + f(q - 2); };
    sum += f(10);
    std::vector<std::tuple<int, std::string>> tuples;
    for (int i = 0; i < 5; i++)
        tuples.emplace_back(i, "t");
    {
        Counter one, two(1, 2), three(std::move(one));
        std::unique_ptr<Counter> four(new Counter(1.5, 2.5));
        three++;
        ++two;
        sum += two(3);
    }
    for (int i = 0; i < 10; i++)
        try {
            sum += thrower(i);
        } catch (const std::exception &e) {
            sum += e.what()[1];
        }
    std::cout << sum << " " << tuples.size() << std::endl;
    return 0;
}
