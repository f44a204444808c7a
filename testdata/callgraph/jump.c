/* setjmp and longjmp, out of several functions, also out of a signal's handler. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static jmp_buf here;
static sigjmp_buf there;
static volatile int count;
__attribute__((noinline)) static void inner(int n) { count++; if (n % 2) longjmp(here, n); count++; }
__attribute__((noinline)) static void outer(int n) { inner(n); inner(n + 2); count++; }
__attribute__((noinline)) static int try_it(int n) { int r = setjmp(here); if (!r) outer(n); return r + 1; }
__attribute__((noinline)) static void handler(int signal) { count++; siglongjmp(there, signal); }
__attribute__((noinline)) static void kicks(void) { raise(SIGUSR1); count += 100; }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += try_it(i);
    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < 3; i++) if (!sigsetjmp(there, 1)) kicks();
    printf("%d %d\n", sum, count);
    return 0;
}
