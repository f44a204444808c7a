// covers: sse-element
// One element to and from memory: PINSR, PEXTR, INSERTPS, EXTRACTPS of every width.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  40
        .irp    at, 0, 57, 61, 63, 4093, 4095
        lea     mem+\at(%rip), %rbx
        pinsrb  $3, (%rbx), %xmm0
        pinsrw  $7, (%rbx), %xmm0
        pinsrd  $1, (%rbx), %xmm0
        pinsrq  $1, (%rbx), %xmm0
        pinsrw  $2, (%rbx), %mm0
        pextrb  $15, %xmm0, (%rbx)
        pextrw  $2, %xmm0, (%rbx)
        pextrd  $3, %xmm0, (%rbx)
        pextrq  $0, %xmm0, (%rbx)
        extractps $2, %xmm0, (%rbx)
        insertps $0x51, (%rbx), %xmm0
        insertps $0x51, %xmm0, %xmm1
        pextrw  $2, %xmm0, %eax
        pinsrd  $2, %eax, %xmm0
        .endr
        emms
        ENDREPEAT
        EXIT
