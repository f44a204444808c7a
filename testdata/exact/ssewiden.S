// covers: sse-widen
// PMOVSX and PMOVZX read a half, a quarter or an eighth of a register.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  30
        .irp    sign, s, z
        .irp    at, 0, 57, 61, 63, 4091, 4095
        pmov\sign\()xbw mem+\at(%rip), %xmm0
        pmov\sign\()xbd mem+\at(%rip), %xmm1
        pmov\sign\()xbq mem+\at(%rip), %xmm2
        pmov\sign\()xwd mem+\at(%rip), %xmm3
        pmov\sign\()xwq mem+\at(%rip), %xmm4
        pmov\sign\()xdq mem+\at(%rip), %xmm5
        pmov\sign\()xbq %xmm5, %xmm6
        .endr
        .endr
        ENDREPEAT
        EXIT
