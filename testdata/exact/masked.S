// covers: masked-store non-temporal
// Masked stores count the whole operand whatever the mask says; stores past the caches count as others do.
#include "rt.h"
        MEMORY  8192
        START
        pcmpeqd %xmm1, %xmm1
        pxor    %xmm2, %xmm2
        pcmpeqd %mm1, %mm1
        pxor    %mm2, %mm2
        movq    mem(%rip), %xmm3
        REPEAT  40
        .irp    at, 0, 1, 55, 60, 4085, 4095
        lea     mem+\at(%rip), %rdi
        .irp    mask, 1, 2, 3
        maskmovdqu %xmm\mask, %xmm0
        .endr
        maskmovq %mm1, %mm0
        maskmovq %mm2, %mm0
        movnti  %eax, (%rdi)
        movnti  %rax, (%rdi)
        .endr
        .irp    at, 0, 48, 4080
        movntdq %xmm0, mem+\at(%rip)
        movntps %xmm0, mem+\at(%rip)
        movntpd %xmm0, mem+\at(%rip)
        movntdqa mem+\at(%rip), %xmm4
        .endr
        ENDREPEAT
        EXIT
