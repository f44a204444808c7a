// covers: bt-reg-reg
// Bit tests of a register by a register, with the scratch slot below the stack at every place of a line.
#include "rt.h"
        START
        lea     stack_top(%rip), %rbp
        mov     $0x123456789abcdef, %rdx
        REPEAT  140
        lea     (%rbp,%r15), %rsp
        mov     %r15, %rcx
        .irp    operation, bt, bts, btr, btc
        \operation\()w  %cx, %dx
        \operation\()l  %ecx, %edx
        \operation\()q  %rcx, %rdx
        \operation\()q  %rdx, %rcx
        \operation\()q  %rsp, %rdx
        neg     %rcx
        \operation\()l  %ecx, %ecx
        jc      1f
        inc     %r13
1:
        .endr
        ENDREPEAT
        lea     stack_top(%rip), %rsp
        EXIT
