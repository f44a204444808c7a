// covers: repe-cmps repe-scas repne-scas string-zero string-one string-many
// Repeated comparisons that end at once, in the middle, at the last and never; counts in memory.
#include "rt.h"
        MEMORY  8192, 0x20
        .data
zero:   .quad   0
one:    .quad   1
many:   .quad   50
        .balign 64
        .skip   3
other:  .skip   512, 0x20
        START
        REPEAT  8
        .irp    differs, 0, 1, 24, 49, 50, 300
        movb    $0x41, other+\differs(%rip)
        .irp    count, zero, one, many
        .irp    width, b, w, l, q
        lea     mem+4040(%rip), %rsi
        lea     other(%rip), %rdi
        mov     \count(%rip), %rcx
        cmp     %rax, %rax
        repe cmps\width
        setz    %bl
        lea     other(%rip), %rdi
        mov     \count(%rip), %rcx
        mov     $0x2020202020202020, %rax
        cmp     %rax, %rax
        repe scas\width
        lea     other(%rip), %rdi
        mov     \count(%rip), %rcx
        mov     $0x2020202020202041, %rax
        test    %rax, %rax
        repne scas\width
        jz      1f
        inc     %r12
1:
        .endr
        .endr
        movb    $0x20, other+\differs(%rip)
        .endr
        ENDREPEAT
        EXIT
