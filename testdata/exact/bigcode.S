// covers: code-capacity
// Straight code that is larger than the small caches, run again and again, and from the middle.
#include "rt.h"
        START
        lea     middle(%rip), %rbx
        REPEAT  12
        test    $1, %r15b
        jz      1f
        jmp     *%rbx
1:
        .rept   600
        lea     0x12345678(%rax,%rcx,4), %rdx
        add     %rdx, %rax
        .endr
middle:
        .rept   600
        imul    $0x12345678, %rax, %rcx
        xor     %rcx, %rax
        .endr
        ENDREPEAT
        EXIT
