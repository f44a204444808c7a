// covers: sse-round sse-dot sse-blend
// Rounding, dot products, blends and shuffles with an operand in memory.
#include "rt.h"
        MEMORY  8192, 0
        START
        REPEAT  30
        .irp    at, 0, 57, 61, 4092
        roundss $1, mem+\at(%rip), %xmm0
        roundsd $2, mem+\at(%rip), %xmm0
        .endr
        .irp    at, 0, 48, 4080
        lea     mem+\at(%rip), %rbx
        roundps $0, (%rbx), %xmm1
        roundpd $3, (%rbx), %xmm1
        dpps    $0xff, (%rbx), %xmm2
        dppd    $0x33, (%rbx), %xmm2
        blendps $5, (%rbx), %xmm3
        blendpd $1, (%rbx), %xmm3
        pblendw $0x55, (%rbx), %xmm3
        blendvps %xmm0, (%rbx), %xmm3
        blendvpd %xmm0, (%rbx), %xmm3
        pblendvb %xmm0, (%rbx), %xmm3
        mpsadbw $5, (%rbx), %xmm4
        palignr $3, (%rbx), %xmm4
        pshufd  $0x1b, (%rbx), %xmm5
        pshufhw $0x1b, (%rbx), %xmm5
        pshuflw $0x1b, (%rbx), %xmm5
        shufps  $0x1b, (%rbx), %xmm5
        shufpd  $1, (%rbx), %xmm5
        phminposuw (%rbx), %xmm6
        ptest   (%rbx), %xmm6
        jz      1f
        inc     %r12
1:
        .endr
        ENDREPEAT
        EXIT
