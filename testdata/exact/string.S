// covers: rep-movs rep-stos repe-cmps repe-scas repne-scas movs lods stos scas string-zero string-one string-many string-down string-addr32
/* String instructions with every prefix, width and direction, for no, one and many rounds. */
#include "rt.h"

        .data
zero:   .quad   0
one:    .quad   1
many:   .quad   45
        .balign 4096
from:   .skip   8192, 0x20
to:     .skip   4096, 0x20
same:   .skip   128, 0x20
other:  .skip   41, 0x20
        .byte   0x7a
        .skip   700, 0x20

/* Source and destination cross lines at different places; `count` is in memory, so that it is not a constant. */
        .macro  AIM count, source, target
        lea     \source(%r12), %rsi
        lea     \target(%r13), %rdi
        mov     \count(%rip), %rcx
        .endm

/* A comparison, and a branch that depends on it. */
        .macro  FIND insn, count, source, target
        AIM     \count, \source, \target
        mov     $0x2020202020202020, %rax
        \insn
        jz      1f
        inc     %rbx
1:
        .endm

/* The same, for what is not there. */
        .macro  MISS insn, source, target
        AIM     many, \source, \target
        mov     $0x3131313131313131, %rax
        \insn
        setz    %bl
        .endm

        .macro  COPY width, source, target
        .irp    count, zero, one, many
        AIM     \count, \source, \target
        rep movs\width
        .endr
        AIM     one, \source, \target
        mov     %r15, %rcx
        rep movs\width
        .endm

        .macro  FILL width, source, target
        .irp    count, zero, one, many
        AIM     \count, \source, \target
        rep stos\width
        .endr
        AIM     one, \source, \target
        mov     %r15, %rcx
        rep stos\width
        .endm

        .macro  COMPARE width, source, target
        .irp    count, zero, one, many
        FIND    "repe cmps\width", \count, \source, \target
        FIND    "repe scas\width", \count, \source, \target
        FIND    "repne scas\width", \count, \source, \target
        .endr
        MISS    "repe scas\width", \source, \target
        MISS    "repne scas\width", \source, \target
        .endm

        .macro  ONCE width, source, target
        AIM     one, \source, \target
        movs\width
        lods\width
        stos\width
        scas\width
        movs\width
        lods\width
        .endm

        START
        lea     from(%rip), %r12
        lea     to(%rip), %r13
        REPEAT  6
        cld
        COPY    b, 1, 3
        FILL    b, 1, 3
        COMPARE b, 1, 3
        ONCE    b, 1, 3
        COPY    w, 1, 3
        FILL    w, 1, 3
        COMPARE w, 1, 3
        ONCE    w, 1, 3
        COPY    l, 1, 3
        FILL    l, 1, 3
        COMPARE l, 1, 3
        ONCE    l, 1, 3
        COPY    q, 1, 3
        FILL    q, 1, 3
        COMPARE q, 1, 3
        ONCE    q, 1, 3
        std
        COPY    b, 2048, 2100
        FILL    b, 2048, 2100
        COMPARE b, 2048, 2100
        ONCE    b, 2048, 2100
        COPY    w, 2048, 2100
        FILL    w, 2048, 2100
        COMPARE w, 2048, 2100
        ONCE    w, 2048, 2100
        COPY    l, 2048, 2100
        FILL    l, 2048, 2100
        COMPARE l, 2048, 2100
        ONCE    l, 2048, 2100
        COPY    q, 2048, 2100
        FILL    q, 2048, 2100
        COMPARE q, 2048, 2100
        ONCE    q, 2048, 2100
        cld

        lea     from(%rip), %rsi
        lea     same(%rip), %rdi
        mov     many(%rip), %rcx
        repe cmpsb
        sete    %bl

        lea     from(%rip), %rsi
        lea     other(%rip), %rdi
        mov     many(%rip), %rcx
        repe cmpsb
        sete    %bl

        lea     other(%rip), %rdi
        mov     many(%rip), %rcx
        mov     $0x7a, %al
        repne scasb
        sete    %bl

        lea     other+61(%rip), %rdi
        lea     from+4090(%rip), %rsi
        mov     many(%rip), %ecx
        rep movsq

        /* Addresses of 32 bits: the program lies below 4 GiB. */
        mov     $to, %edi
        mov     $from, %esi
        mov     many(%rip), %ecx
        addr32 rep movsb
        mov     many(%rip), %ecx
        addr32 rep stosl
        ENDREPEAT
        EXIT
