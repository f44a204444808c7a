// covers: jcc predictor
// Branches whose entries collide: at equal addresses modulo 128, with equal histories, with periods of 2 to 9.
#include "rt.h"
        START
        REPEAT  300
        .irp    period, 2, 3, 5, 7, 8, 9
        mov     %r15d, %eax
        xor     %edx, %edx
        mov     $\period, %ecx
        div     %ecx
        test    %edx, %edx
        jz      1f
        inc     %rbx
        .balign 128
1:      cmp     $1, %edx
        ja      1f
        nop
1:
        .endr
        ENDREPEAT
        EXIT
