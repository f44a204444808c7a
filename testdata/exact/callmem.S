// covers: call call-mem call-reg indirect-call ret
// Calls through registers and memory, named in every way, also by the stack pointer that they change.
#include "rt.h"
        .data
        .balign 64
        .skip   60
table:  .quad   first, second, third, fourth
        START
        lea     table(%rip), %rbx
        REPEAT  60
        mov     %r15, %rcx
        and     $3, %ecx
        call    *(%rbx,%rcx,8)
        call    *table(%rip)
        call    *table+8
        mov     16(%rbx), %rax
        call    *%rax
        push    24(%rbx)
        call    *(%rsp)
        push    %rbx
        mov     8(%rbx), %r11
        mov     %r11, -40(%rsp)
        call    *-40(%rsp)
        add     $16, %rsp
        lea     first(%rip), %rdx
        call    *%rdx
        lea     -61(%rsp), %rsp
        call    second
        call    *8(%rbx)
        lea     61(%rsp), %rsp
        ENDREPEAT
        jmp     done
        .macro  FUNCTION name
        .type   \name, @function
\name:  inc     %r13
        ret
        .size   \name, . - \name
        .endm
        FUNCTION first
        .balign 512
        FUNCTION second
        FUNCTION third
        FUNCTION fourth
done:
        EXIT
