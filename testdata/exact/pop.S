// covers: pop pop-mem pushf
// Every pop, with the stack at every place of a line and across pages; memory named by RSP is where RSP points after.
#include "rt.h"
        MEMORY  8192, 0
        START
        lea     mem(%rip), %rbx
        lea     stack_top-4096(%rip), %rbp
        REPEAT  70
        lea     -64(%rbp,%r15), %rsp
        pop     %rax
        pop     %r12
        popw    %dx
        popq    (%rbx)
        popq    61(%rbx)
        popq    4090(%rbx)
        popq    (%rsp)
        popq    56(%rsp)
        popq    (%rsp,%r15)
        pushq   $0x246
        popfq
        mov     %rsp, (%rsp)
        pop     %rsp
        ENDREPEAT
        EXIT
