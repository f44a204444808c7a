// covers: sse-shift-count
// Vector shifts by a count in memory read its low half only.
#include "rt.h"
        MEMORY  8192, 1
        START
        REPEAT  30
        .irp    operation, psllw, pslld, psllq, psrlw, psrld, psrlq, psraw, psrad
        .irp    at, 0, 48, 4080
        \operation mem+\at(%rip), %xmm0
        .endr
        .irp    at, 0, 60, 4090
        \operation mem+\at(%rip), %mm0
        .endr
        \operation %xmm1, %xmm0
        \operation $3, %xmm0
        .endr
        emms
        ENDREPEAT
        EXIT
