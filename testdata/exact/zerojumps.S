// covers: jcc-zero loop-zero
// Conditional jumps to the next instruction: whether they are taken shows in nothing but the predictor.
#include "rt.h"
        .macro  HERE jump
        \jump   1f
1:
        .endm
        START
        mov     $0x123456789abcdef1, %rax
        REPEAT  60
        imul    $0x5851f42d, %rax, %rax
        add     $0x14057b7e, %rax
        .irp    jump, jo, jno, jb, jae, je, jne, jbe, ja, js, jns, jp, jnp, jl, jge, jle, jg
        mov     %rax, %rcx
        add     %ah, %al
        HERE    \jump
        mov     %rcx, %rax
        ror     $7, %rax
        .endr
        mov     %r15d, %ecx
        and     $3, %ecx
        HERE    jrcxz
        HERE    jecxz
        inc     %ecx
        HERE    loop
        mov     %r15d, %ecx
        and     $1, %ecx
        inc     %ecx
        test    $2, %al
        HERE    loope
        mov     %r15d, %ecx
        and     $1, %ecx
        inc     %ecx
        test    $4, %al
        HERE    loopne
        test    $8, %al
        .byte   0x0f, 0x85, 0, 0, 0, 0          // jne, with a displacement of 32 bits
        test    $16, %al
        .byte   0x0f, 0x84, 0, 0, 0, 0          // je
        ENDREPEAT
        EXIT
