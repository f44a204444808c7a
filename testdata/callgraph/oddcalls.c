/* Calls that compilers seldom make: to the next instruction, to a label of the same function, into the middle of
   another, by push and ret, with ret that drops arguments, and returns that skip a frame. */
#include <stdio.h>
#define FUNCTION(name) ".globl " #name "\n.type " #name ", @function\n" #name ": "
#define END(name) ".size " #name ", .-" #name "\n"
long here(void), local(long), second_entry(long), into_middle(long), pushed(long), drops(long), skips(long), retpoline(long),
    through_memory(long), unnamed(long), jumps_back(long), target(long);
__asm__(".text\n"
        FUNCTION(target) "lea 1(%rdi), %rax\nret\n" END(target)
        /* The address of the next instruction, as old position-independent code takes it. */
        FUNCTION(here) "call 1f\n1: pop %rax\nlea here(%rip), %rcx\nsub %rcx, %rax\nret\n" END(here)
        FUNCTION(local) "call 1f\ncall 1f\nmov %rdi, %rax\nret\n1: inc %rdi\nret\n" END(local)
        FUNCTION(second_entry) "inc %rdi\ninner_entry: lea 2(%rdi), %rax\nret\n" END(second_entry)
        FUNCTION(into_middle) "call inner_entry\nadd $5, %rax\nret\n" END(into_middle)
        FUNCTION(pushed) "lea target(%rip), %rax\npush %rax\nret\n" END(pushed)
        FUNCTION(drops) "push %rdi\npush %rdi\ncall 1f\nret\n1: mov 8(%rsp), %rax\nret $16\n" END(drops)
        FUNCTION(skips) "call 1f\nud2\n1: add $8, %rsp\nmov $3, %eax\nret\n" END(skips)
        FUNCTION(retpoline) "lea target(%rip), %rax\ncall 2f\n1: pause\njmp 1b\n2: mov %rax, (%rsp)\nret\n" END(retpoline)
        FUNCTION(through_memory) "lea target(%rip), %rax\npush %rax\ncall *(%rsp)\npop %rcx\nret\n" END(through_memory)
        /* Code behind the end of a function, which no symbol names. */
        FUNCTION(unnamed) "call .Lnameless\ninc %rax\nret\n" END(unnamed)
        "nop\nnop\n.Lnameless: lea (%rdi, %rdi), %rax\nret\n.balign 16\n"
        /* A loop to the first instruction, and out of it by a tail call. */
        FUNCTION(jumps_back) "dec %rdi\njz 1f\njmp jumps_back\n1: jmp target\n" END(jumps_back));
int main(void) {
    long sum = 0;
    for (long i = 1; i < 6; i++) {
        sum += here() + local(i) + second_entry(i) + into_middle(i) + pushed(i) + drops(i) + skips(i) + retpoline(i);
        sum += through_memory(i) + unnamed(i) + jumps_back(i);
    }
    printf("%ld\n", sum);
    return 0;
}
