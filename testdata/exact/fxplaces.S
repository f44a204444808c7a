// covers: fxsave fxrstor
// FXSAVE and FXRSTOR at every place of a line that is aligned, over the end of a page, with 64-bit pointers too.
#include "rt.h"
        MEMORY  16384, 0
        START
        pcmpeqd %xmm7, %xmm7
        fld1
        REPEAT  36
        mov     %r15, %rbx
        shl     $4, %ebx
        lea     mem+3600(%rbx), %rbx
        fxsave  (%rbx)
        fxrstor (%rbx)
        fxsave64 1024(%rbx)
        fxrstor64 1024(%rbx)
        ENDREPEAT
        EXIT
