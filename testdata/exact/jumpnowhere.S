// covers: fault indirect-jump return-elsewhere
// A jump, a call and a return to where nothing is: they are counted, and nothing at the place they go to.
#include "rt.h"
        START
        HANDLER 11, handler, 0x44000000
        mov     %rsp, %rbx
        REPEAT  10
        mov     $0x30000000, %eax
        lea     1f(%rip), %r12
        jmp     *%rax
1:      mov     $0x30000000, %eax               // a handler starts with 0 in RAX
        lea     2f(%rip), %r12
        call    *%rax
2:      mov     $0x30001000, %eax
        lea     3f(%rip), %r12
        push    %rax
        ret
3:      nop
        ENDREPEAT
        jmp     done
        .type   handler, @function
handler:
        mov     %rbx, %rsp
        jmp     *%r12
        .size   handler, . - handler
        RESTORER
done:
        EXIT
