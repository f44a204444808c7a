// covers: xadd
// XADD with registers and memory, of every width.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        REPEAT  40
        xadd    %rax, %rcx
        xadd    %ah, %cl
        xadd    %r8d, %r9d
        .irp    at, 0, 61, 4093
        xadd    %al, \at(%rbx)
        xadd    %cx, \at(%rbx)
        xadd    %ecx, \at(%rbx)
        xadd    %rcx, \at(%rbx)
        lock xadd %al, \at(%rbx)
        lock xadd %cx, \at(%rbx)
        lock xadd %ecx, \at(%rbx)
        lock xadd %rcx, \at(%rbx)
        .endr
        jno     1f
        inc     %r14
1:
        ENDREPEAT
        EXIT
