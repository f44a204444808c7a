// covers: sse-half sse-duplicate
// Loads and stores of halves, and loads that repeat what they read.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  40
        .irp    at, 0, 57, 60, 63, 4090
        lea     mem+\at(%rip), %rbx
        movlps  (%rbx), %xmm0
        movhps  (%rbx), %xmm0
        movlpd  (%rbx), %xmm1
        movhpd  (%rbx), %xmm1
        movlps  %xmm0, (%rbx)
        movhps  %xmm0, (%rbx)
        movlpd  %xmm1, (%rbx)
        movhpd  %xmm1, (%rbx)
        movddup (%rbx), %xmm2
        movhlps %xmm0, %xmm1
        movlhps %xmm0, %xmm1
        .endr
        movsldup mem+48(%rip), %xmm3
        movshdup mem+64(%rip), %xmm3
        movddup %xmm3, %xmm4
        ENDREPEAT
        EXIT
