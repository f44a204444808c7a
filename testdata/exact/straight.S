// covers: superblock
// Code without jumps over many pages: one superblock falls out to the next, and of three in sixty instructions one load in
// twenty is not dead.
#include "rt.h"
        MEMORY  64
        START
        lea     mem(%rip), %rbx
        mov     $3, %r14d
        jmp     2f
// Entered in the middle too, so that other instructions come together.
1:      .rept   700
        mov     (%rbx), %rax
        mov     $1, %eax
        nop
        .endr
2:      .rept   1900
        mov     (%rbx), %rax
        mov     $1, %eax
        nop
        .endr
        dec     %r14d
        jz      3f
        jmp     1b
3:      EXIT
