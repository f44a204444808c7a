/* Functions before and after main, functions that are chosen when the program is loaded, libraries that are loaded
   late, and frames of varying length. */
#include <alloca.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static volatile int count;
__attribute__((constructor)) static void before(void) { count++; }
__attribute__((constructor(200))) static void earlier(void) { count += 2; }
__attribute__((destructor)) static void after(void) { count++; }
static void at_exit(void) { count += 3; }
static int one(int n) { return n + 1; }
static int two(int n) { return n + 2; }
static int (*choose(void))(int) { return count > 100 ? one : two; }
int chosen(int) __attribute__((ifunc("choose")));
APART static int sums(int n, ...) {
    va_list all;
    va_start(all, n);
    int sum = 0;
    while (n--) sum += va_arg(all, int);
    va_end(all);
    return sum;
}
APART static int uses(const char *text) { return (int)strlen(text); }
APART static int grows(int n) {
    char *text = alloca(n * 32 + 1);
    memset(text, 'x', n * 32);
    text[n * 32] = 0;
    return uses(text) + (n ? grows(n - 1) : 0);
}
APART static int varies(int n) {
    char text[n];
    snprintf(text, n, "%d", n);
    return uses(text);
}
int main(void) {
    atexit(at_exit);
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    int sum = 0;
    for (int i = 1; i < 6; i++)
        sum += chosen(i) + sums(i, 1, 2, 3, 4, 5, 6) + grows(i) + varies(i * 10) + (int)(10 * cosine(i)) + abs(atoi("-3"));
    printf("%d %d\n", sum, count);
    return 0;
}
