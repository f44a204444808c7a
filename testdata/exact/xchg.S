// covers: xchg-mem xchg-reg
// XCHG with registers, with memory, with and without the prefix that says what it does anyway.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        REPEAT  40
        xchg    %rax, %rcx
        xchg    %ah, %al
        xchg    %r8d, %r9d
        xchg    %ax, %r10w
        .irp    at, 0, 61, 62, 4093
        xchg    %al, \at(%rbx)
        xchg    %ah, \at(%rbx)
        xchg    %cx, \at(%rbx)
        xchg    %ecx, \at(%rbx)
        xchg    %rcx, \at(%rbx)
        xchg    \at(%rbx), %r12
        lock xchg %r13, \at(%rbx)
        .endr
        jnc     1f
        inc     %r14
1:
        ENDREPEAT
        EXIT
