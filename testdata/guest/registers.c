// covers: getpid exit_group
// exit: 255
#include "guest.h"

/* What a call does to the registers: RAX, RCX and R11, nothing else. */
int main(void)
{
    unsigned long rcx = 1, r11 = 1, rbx = 2, rdx = 3, here, r8, r9, r10;
    __asm__ volatile("mov $4, %%ebx\n\tmov $5, %%edx\n\tmov $6, %%r8d\n\tmov $7, %%r9d\n\tmov $8, %%r10d\n\tstc\n\t"
                     "mov $39, %%eax\n\tsyscall\n1:\tlea 1b(%%rip), %%rax\n\tmov %%r8, %5\n\tmov %%r9, %6\n\tmov %%r10, %7"
                     : "=c"(rcx), "=&a"(here), "=b"(rbx), "=d"(rdx), "=&D"(r11), "=&S"(r8), "=m"(r9), "=m"(r10)
                     :
                     : "r8", "r9", "r10", "r11", "r12", "memory", "cc");
    is(rcx == here);
    printf("%lu %lu %lu %lu %lu\n", rbx, rdx, r8, r9, r10);
    unsigned long flags;
    __asm__ volatile("xor %%eax, %%eax\n\tstc\n\tmov $39, %%eax\n\tsyscall\n\tmov %%r11, %0" : "=r"(flags)::"rax", "rcx", "r11", "cc");
    printf("r11 %lx\n", flags & 0xcc5);
    unsigned char carry;
    __asm__ volatile("stc\n\tmov $39, %%eax\n\tsyscall\n\tsetc %0" : "=r"(carry)::"rax", "rcx", "r11", "cc");
    num(carry);
    /* Only the low half of the number counts, and unknown ones are refused. */
    show("getpid with high bits", sys_(0x100000000 | SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    show("number 387", sys_(387, 0, 0, 0, 0, 0, 0));
    show("number 1000", sys_(1000, 0, 0, 0, 0, 0, 0));
    show("number -1", sys_(-1, 0, 0, 0, 0, 0, 0));
    show("a large number", sys_(0x7fffffff, 0, 0, 0, 0, 0, 0));
    show("an x32 number", sys_(0x40000000 + 39, 0, 0, 0, 0, 0, 0));
    exit(-1);
}
