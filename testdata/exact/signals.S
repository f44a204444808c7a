// covers: signal syscall
// Signals that a program sends itself: a handler between two blocks, with accesses and branches of its own.
#include "rt.h"
        MEMORY  8192
        START
        HANDLER 10, handler
        HANDLER 12, other
        SYSTEM  39                              // getpid
        mov     %eax, %r14d
        REPEAT  20
        mov     $62, %eax                       // kill
        mov     %r14d, %edi
        mov     $10, %esi
        syscall
        add     %rax, mem+60(%rip)
        mov     $62, %eax
        mov     %r14d, %edi
        mov     $12, %esi
        syscall
        jc      1f
        inc     %rbx
1:
        ENDREPEAT
        mov     $0x5a5a5a5a5a5a5a82, %rax
        cmp     %rax, mem+2000(%rip)
        CHECK   e
        jmp     done
        .type   handler, @function
handler:
        KEEP
        lea     mem(%rip), %rax
        incq    2000(%rax)
        push    %rdi
        call    1f
        pop     %rdi
        BACK
1:      mov     4000(%rax), %rcx
        ret
        .size   handler, . - handler
        .type   other, @function
other:  KEEP
        mov     $7, %ecx
1:      add     %rcx, mem(,%rcx,8)
        loop    1b
        incq    mem+2000(%rip)
        BACK
        .size   other, . - other
        RESTORER
done:
        EXIT
