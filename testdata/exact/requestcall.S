// covers: request-call
// Calls of RAX by the sequence that no replacement of functions redirects: the return address is a write, and there is no
// indirect branch.
#include "rt.h"
        .data
        .balign 64
running:
        .quad   0x1001, 0, 0, 0, 0, 0
        START
        lea     function(%rip), %r12
        lea     other(%rip), %r13
        REPEAT  40
        mov     %r12, %rax
        REQUEST 0xd2
        cmp     %r15, %rcx
        CHECK   e
        mov     %r13, %rax
        test    $1, %r15d
        cmovz   %r12, %rax
        REQUEST 0xd2
        inc     %ecx
        lea     running(%rip), %rax
        REQUEST
        cmp     $1, %rdx
        CHECK   e
        ENDREPEAT
        jmp     1f
        .balign 4096
        .skip   4096-9
1:      mov     %r12, %rax
        REQUEST 0xd2
        // The return address over the end of a line.
        sub     $20, %rsp
        REPEAT  10
        mov     %r13, %rax
        REQUEST 0xd2
        ENDREPEAT
        add     $20, %rsp
        jmp     done
        .balign 64
        .type   function, @function
function:
        mov     %r15, %rcx
        ret
        .size   function, . - function
        .type   other, @function
other:
        push    %rcx
        pop     %rsi
        ret
        .size   other, . - other
done:
        EXIT
