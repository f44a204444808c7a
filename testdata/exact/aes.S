// covers: aes
// AES and carry-less multiplication with operands in memory.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  30
        .irp    at, 0, 48, 4080
        lea     mem+\at(%rip), %rbx
        aesenc  (%rbx), %xmm0
        aesenclast (%rbx), %xmm0
        aesdec  (%rbx), %xmm1
        aesdeclast (%rbx), %xmm1
        aesimc  (%rbx), %xmm2
        aeskeygenassist $7, (%rbx), %xmm3
        pclmulqdq $0x11, (%rbx), %xmm4
        .endr
        ENDREPEAT
        EXIT
