// covers: code-line
// Instructions of two to fifteen bytes that begin at the last bytes of a line.
#include "rt.h"
        START
        REPEAT  30
        .irp    left, 1, 2, 3, 5, 7, 9, 12, 14
        jmp     1f
        .balign 64
        .skip   64-\left, 0xcc
1:      .byte   0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
        jmp     1f
        .balign 64
        .skip   64-\left, 0xcc
1:      movabs  $0x1122334455667788, %rax
        jmp     1f
        .balign 64
        .skip   64-\left, 0xcc
1:      movq    $0x11223344, kept(%rip)
        addl    $0x11223344, kept+1
        jmp     1f
        .balign 64
        .skip   64-\left, 0xcc
1:      cmp     $0x1234, %r15w
        jc      1f
        jmp     1f
        .balign 64
        .skip   64-\left, 0xcc
1:      inc     %rax
        .endr
        ENDREPEAT
        EXIT
