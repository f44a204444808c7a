// covers: enter-0 leave
// Frames of several sizes, made by ENTER and by hand, across lines and pages.
#include "rt.h"
        START
        lea     stack_top-4000(%rip), %r14
        REPEAT  80
        lea     (%r14,%r15,4), %rsp
        mov     %rsp, %rbp
        enter   $0, $0
        enter   $24, $0
        mov     %rax, -8(%rbp)
        enter   $300, $0
        mov     %rax, -293(%rbp)
        leave
        leave
        push    %rbp
        mov     %rsp, %rbp
        sub     $4001, %rsp
        movb    $1, (%rsp)
        leave
        leave
        ENDREPEAT
        EXIT
