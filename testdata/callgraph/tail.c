/* Tail calls: to another function, round in a circle, and to the function itself. */
#include <stdio.h>
volatile int sink;
__attribute__((noinline, noclone)) static int last(int n) { sink = n; return n; }
__attribute__((noinline, noclone)) static int middle(int n) { sink = n + 1; return last(n + 2); }
__attribute__((noinline, noclone)) static int first(int n) { return middle(n * 2); }
int ping(int n);
__attribute__((noinline, noclone)) int pong(int n) { sink = n; return n <= 0 ? last(n) : ping(n - 1); }
__attribute__((noinline, noclone)) int ping(int n) { sink = n; return n <= 0 ? last(n) : pong(n - 1); }
/* Its loop jumps to its first instruction. */
int spin(int n);
__asm__(".text\n.globl spin\n.type spin, @function\n"
        "spin: dec %edi\njnz spin\nmov $5, %eax\nret\n.size spin, .-spin\n");
int main(void) {
    int sum = 0;
    for (int i = 0; i < 50; i++) sum += first(i);
    printf("%d %d %d\n", sum, ping(31), spin(1000));
    return 0;
}
