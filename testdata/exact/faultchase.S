// covers: fault signal
// A fault in a superblock that goes on behind a jump or call, that has a second conditional jump merged, and faults of
// other kinds.
#include "rt.h"
        MEMORY  8192, 0
        .set    AT, 0x20000000
        .balign 4096
        START
        HANDLER 8, elsewhere, 0x44000000
        HANDLER 4, elsewhere, 0x44000000
        HANDLER 5, elsewhere, 0x44000000
        PAGES
        lea     mem(%rip), %r14
        REPEAT  10
        FAULTS  "nop; jmp 1f; ud2; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; jmp 1f; ud2; 1: nop; jmp 2f; 2: nop; add (%rbp), %rdx"
        FAULTS  "nop; call 1f; ud2; 1: nop; add (%rbp), %rdx"
        FAULTS  "incq (%r14); call 1f; ud2; 1: nop; .rept 9; nop; .endr; add (%rbp), %rdx"
        FAULTS  "incq (%r14); call 1f; ud2; 1: nop; .rept 10; nop; .endr; add (%rbp), %rdx"
        FAULTS  "incq (%r14); call 1f; ud2; 1: nop; .rept 11; nop; .endr; add (%rbp), %rdx"
        FAULTS  "incq (%r14); call 1f; ud2; 1: nop; .rept 12; nop; .endr; add (%rbp), %rdx"
        FAULTS  "incq (%r14); call 1f; ud2; 1: nop; .rept 9; incq (%r14); .endr; add (%rbp), %rdx"
        FAULTS  ".rept 57; nop; .endr; jmp 1f; ud2; 1: nop; add (%rbp), %rdx"
        FAULTS  ".rept 56; nop; .endr; jmp 1f; ud2; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; test %rbp, %rbp; jz 1f; nop; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; test %rbp, (%rbp); jz 1f; test %rdx, %rdx; jnz 1f; nop; 1: nop"
        FAULTS  "nop; test %rbp, %rbp; jz 1f; test %r14, %r14; jz 1f; nop; add (%rbp), %rdx; 1: nop"
        FAULTS  "nop; test %rbp, %rbp; jnz 1f; test %r14, %r14; jnz 1f; nop; nop; nop; nop; 1: add (%rbp), %rdx"
        FAULTS  "nop; lea 1f(%rip), %rax; jmp *%rax; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; mov 4096(%r14), %rax; lea 1f(%rax), %rax; jmp *%rax; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; push $2f; ret; 2: nop; add (%rbp), %rdx"
        FAULTS  "nop; xor %ecx, %ecx; mov $5, %eax; cltd; nop; div %ecx; mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 12; nop; .endr; xor %ecx, %ecx; mov $5, %eax; cltd; div %ecx; mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 13; nop; .endr; xor %ecx, %ecx; mov $5, %eax; cltd; div %ecx; mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 14; nop; .endr; xor %ecx, %ecx; mov $5, %eax; cltd; div %ecx; mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  "nop; mov $5, %eax; cltd; idivl 4096(%r14); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 12; nop; .endr; mov $5, %eax; cltd; idivl 4096(%r14); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 13; nop; .endr; mov $5, %eax; cltd; idivl 4096(%r14); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 14; nop; .endr; mov $5, %eax; cltd; idivl 4096(%r14); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 12; nop; .endr; mov $5, %eax; cltd; idivl (%rbp); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  ".rept 13; nop; .endr; mov $5, %eax; cltd; idivl (%rbp); mov %rax, (%r14); mov %rdx, 8(%r14)"
        FAULTS  "incq (%r14); ud2"
        FAULTS  "incq (%r14); .byte 0x06"
        FAULTS  "incq (%r14); int3"
        FAULTS  "incq (%r14); jmp *%rbp"
        FAULTS  "incq (%r14); call *%rbp"
        FAULTS  "incq (%r14); push %rbp; ret"
        FAULTS  "incq (%r14); mov $AT, %eax; jmp *%rax"
        FAULTS  "incq (%r14); mov $1, %eax; ror $1, %rax; mov (%rax), %rdx; mov %rdx, (%r14)"
        ENDREPEAT
        FAULTED
