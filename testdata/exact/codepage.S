// covers: code-page
// Instructions and blocks over the end of a page: fetched by pieces, jumped into, called.
#include "rt.h"
        START
        REPEAT  40
        .irp    left, 1, 4, 9
        jmp     1f
        .balign 4096
        .skip   4096-\left, 0xcc
1:      movabs  $0x1122334455667788, %rax
        add     %rax, %rcx
        test    $3, %r15b
        jz      1f
        lea     0x100(%rax,%rcx,4), %rdx
        jmp     1f
        .balign 4096
        .skip   4090-\left, 0xcc
1:      inc     %rax
        inc     %rcx
        cmp     $0x12345678, %rax
        jne     1f
        nop
1:      call    2f
        jmp     1f
        .balign 4096
        .skip   4096-\left, 0xcc
2:      add     $0x1234567, %rdx
        ret     $0
1:
        .endr
        ENDREPEAT
        EXIT
