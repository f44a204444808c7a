// covers: trap signal
// UD2 and INT3 are instructions that are counted; the handlers go on elsewhere.
#include "rt.h"
        MEMORY  8192, 0
        START
        HANDLER 4, illegal, 0x44000000
        HANDLER 5, trap, 0x44000000
        REPEAT  15
        mov     %rsp, %rbx
        lea     1f(%rip), %r12
        incq    mem(%rip)
        ud2
1:      incq    mem+61(%rip)
        lea     2f(%rip), %r12
        mov     mem+200(%rip), %rax
        int3
        incq    mem+400(%rip)
2:      nop
        ENDREPEAT
        jmp     done
        .type   illegal, @function
illegal:
        mov     %rbx, %rsp
        jmp     *%r12
        .size   illegal, . - illegal
        .type   trap, @function
trap:   KEEP
        add     $1, %r13
        BACK
        .size   trap, . - trap
        RESTORER
done:
        EXIT
