// covers: fxsave fxrstor
/* fxsave and fxrstor, at the start and in the middle of lines, and across a page. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0

        START
        lea     mem(%rip), %rbx
        REPEAT  20
        fld1
        movaps  mem(%rip), %xmm3
        fxsave  (%rbx)
        fxrstor (%rbx)
        fxsave  4016(%rbx)
        pxor    %xmm3, %xmm3
        fxrstor 4016(%rbx)
        fxsaveq 1072(%rbx)
        fxrstorq 1072(%rbx)
        fstp    %st(0)
        ENDREPEAT
        EXIT
