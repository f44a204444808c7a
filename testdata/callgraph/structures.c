/* Mutual recursion of three functions, recursion through a pointer, and a walk over a tree by callbacks. */
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
static volatile int count;
static int b(int n), c(int n);
APART static int a(int n) { count++; return n <= 0 ? 1 : b(n - 1) + c(n - 3); }
APART static int b(int n) { count++; return n <= 0 ? 2 : c(n - 2) + (n % 2 ? b(n - 1) : 1); }
APART static int c(int n) { count++; return n <= 0 ? 3 : a(n - 1) + 1; }
struct tree { struct tree *left, *right; int value; };
APART static struct tree *add(struct tree *at, int value) {
    if (!at) { at = calloc(1, sizeof *at); at->value = value; }
    else if (value < at->value) at->left = add(at->left, value);
    else at->right = add(at->right, value);
    return at;
}
typedef int visitor(struct tree *, void *);
APART static int visit(struct tree *at, visitor *f, void *with) { return at ? f(at, with) : 0; }
static int total(struct tree *at, void *with) {
    return at->value + visit(at->left, total, with) + visit(at->right, total, with);
}
static int height(struct tree *at, void *with) {
    int left = visit(at->left, height, with), right = visit(at->right, height, with);
    return 1 + (left > right ? left : right);
}
static int both(struct tree *at, void *with) { return visit(at, total, with) * visit(at, height, with); }
APART static void drop(struct tree *at) { if (at) { drop(at->left); drop(at->right); free(at); } }
APART static int ackermann(int m, int n) {
    count++;
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
int main(void) {
    struct tree *root = 0;
    for (int i = 0; i < 60; i++) root = add(root, i * 37 % 61);
    int sum = visit(root, both, 0) + a(12) + b(9) + c(7) + ackermann(2, 4);
    drop(root);
    printf("%d %d\n", sum, count);
    return 0;
}
