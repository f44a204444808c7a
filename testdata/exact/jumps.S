// covers: loop jrcxz jump-table indirect-call indirect-jump
/* loop, loope, loopne, jrcxz, jecxz, jump tables, indirect calls and jumps through registers and memory. */
#include "rt.h"

        .data
        .balign 64
table:  .quad   c0, c1, c2, c3, c4, c5, c6, c7
        .quad   leaf, pops, pops, leaf, leaf

        START
        lea     table(%rip), %r12
        mov     $12345, %r13d
        REPEAT  200
        imul    $1103515245, %r13d, %r13d
        add     $12345, %r13d
        mov     %r13d, %eax
        shr     $16, %eax
        and     $7, %eax
        jmp     *(%r12,%rax,8)
c0:
        add     $3, %rdx
        jmp     join
c1:
        mov     %rax, %rcx
1:
        inc     %rdx
        loop    1b
        jmp     join
c2:
        mov     %r15, %rcx
1:
        dec     %rcx
        jrcxz   2f
        test    $31, %cl
        nop
        jmp     1b
2:
        inc     %rdx
        jmp     join
c3:
        mov     $20, %ecx
1:
        cmp     %cl, %r13b
        loopne  1b
        jmp     join
c4:
        mov     %r13d, %ecx
        and     $15, %ecx
        jecxz   1f
        add     %ecx, %edx
1:
        nop
        xor     %esi, %esi
        mov     %r15, %rcx
2:
        test    $16, %cl
        loope   2b
        jmp     join
c5:
        lea     leaf(%rip), %rcx
        call    *%rcx
        call    *96(%r12)
        jmp     join
c6:
        lea     join(%rip), %rcx
        push    %rcx
        mov     64(%r12), %rcx
        jmp     *%rcx
c7:
        mov     %r13d, %ecx
        shr     $20, %ecx
        and     $3, %ecx
        call    *64(%r12,%rcx,8)
        jmp     join
out:
        add     $1, %rdx
        jmp     join
join:
        test    $3, %r13d
        jz      1f
        jp      2f
        js      1f
        jc      2f
1:
        inc     %rdx
2:
        nop
        ENDREPEAT
        jmp     done
        .type leaf, @function
leaf:   inc     %rdx
        ret
        .size leaf, . - leaf
        .type pops, @function
pops:   lea     out(%rip), %rcx
        cmp     %rcx, (%rsp)
        lea     8(%rsp), %rcx
        cmp     %rdx, %rcx
        jb      1f
        dec     %rdx
1:
        ret
        .size pops, . - pops
done:
        EXIT
