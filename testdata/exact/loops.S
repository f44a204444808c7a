// covers: loop jrcxz
// LOOP and its kin with zero, one and many rounds; the count wraps; nested; at ends of lines.
#include "rt.h"
        .data
none:   .quad   0
single: .quad   1
few:    .quad   7
        START
        REPEAT  25
        .irp    count, none, single, few
        mov     \count(%rip), %rcx
        jrcxz   2f
1:      inc     %rax
        loop    1b
2:      mov     \count(%rip), %rcx
        jecxz   2f
1:      test    $4, %cl
        loope   1b
        inc     %rdx
2:      mov     \count(%rip), %rcx
        jrcxz   2f
1:      cmp     $3, %rcx
        loopne  1b
        setz    %dl
2:
        .endr
        /* Neither instruction touches the flags, whichever way it goes. */
        .irp    again, loope, loopne
        .irp    value, 0, 1
        mov     few(%rip), %rcx
        xor     %edx, %edx
        cmp     $\value, %rdx
1:      \again  1b
        jne     1f
        lea     1(%rax), %rax
1:      setne   %dl
        cmp     $\value, %dl
        CHECK   e
        .endr
        .endr
        mov     few(%rip), %rdx
3:      mov     few(%rip), %rcx
        .balign 64
        .skip   63, 0x90
4:      loop    4b
        mov     %rdx, %rcx
        dec     %rdx
        loop    3b
        ENDREPEAT
        EXIT
