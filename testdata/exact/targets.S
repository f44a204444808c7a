// covers: indirect-jump predictor
// Indirect jumps whose entries collide: at equal addresses modulo 512, with targets that come again and that do not.
#include "rt.h"
        .data
        .balign 64
all:    .quad   f0, f1, f2, f3
        START
        REPEAT  100
        mov     %r15d, %ebx
        and     $3, %ebx
        jmp     1f
        .balign 512
1:      call    *all(,%rbx,8)
        call    *all(%rip)
        jmp     1f
        .balign 512
1:      call    *all(,%rbx,8)
        xor     $1, %ebx
        mov     all(,%rbx,8), %rax
        jmp     1f
        .balign 512
1:      call    *%rax
        ENDREPEAT
        jmp     done
        .irp    n, 0, 1, 2, 3
        .type   f\n, @function
f\n:    add     $\n, %rcx
        ret
        .size   f\n, . - f\n
        .endr
done:
        EXIT
