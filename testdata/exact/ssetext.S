// covers: sse-text
// The text instructions of SSE4.2: they take any address.
#include "rt.h"
        MEMORY  8192, 0x41
        START
        mov     $9, %eax
        mov     $11, %edx
        REPEAT  30
        .irp    at, 0, 16, 49, 63, 4081, 4095
        pcmpistri $0x0c, mem+\at(%rip), %xmm0
        pcmpistrm $0x40, mem+\at(%rip), %xmm1
        pcmpestri $0x1a, mem+\at(%rip), %xmm2
        pcmpestrm $0x08, mem+\at(%rip), %xmm3
        ja      1f
        inc     %r12
1:      pcmpistri $0x0c, %xmm4, %xmm5
        .endr
        ENDREPEAT
        EXIT
