// covers: mxcsr descriptor-table flags
// MXCSR to and from memory, the flags as AH, and the address of the descriptor table.
#include "rt.h"
        MEMORY  8192, 0
        START
        stmxcsr mem(%rip)
        REPEAT  30
        .irp    at, 0, 61, 62, 4093
        lea     mem+\at(%rip), %rbx
        stmxcsr (%rbx)
        ldmxcsr (%rbx)
        sgdt    (%rbx)
        sidt    16(%rbx)
        .endr
        lahf
        sahf
        cld
        clc
        cmc
        stc
        cbtw
        cwtl
        cltq
        cwtd
        cltd
        cqto
        bswap   %eax
        bswap   %rax
        ENDREPEAT
        EXIT
