// covers: return-elsewhere ret ret-n
// Returns that do not go back to the caller: pushed addresses, changed addresses, frames left out.
#include "rt.h"
        START
        mov     %rsp, %rbp
        REPEAT  40
        lea     1f(%rip), %rax
        push    %rax
        ret
1:      call    changes
        ud2
2:      call    leaves_out
        ud2
3:      lea     4f(%rip), %rax
        push    $1
        push    $2
        push    %rax
        ret     $16
4:      mov     %r15d, %eax
        and     $1, %eax
        lea     5f(%rip), %rcx
        lea     6f(%rip), %rdx
        test    %eax, %eax
        cmovz   %rcx, %rdx
        push    %rdx
        repz ret
5:      inc     %r12
6:      call    7f
7:      pop     %rax
        cmp     %rbp, %rsp
        CHECK   e
        ENDREPEAT
        jmp     done
        .type   changes, @function
changes:
        lea     2b(%rip), %rax
        mov     %rax, (%rsp)
        ret
        .size   changes, . - changes
        .type   leaves_out, @function
leaves_out:
        call    inner
        ud2
        .size   leaves_out, . - leaves_out
        .type   inner, @function
inner:  lea     3b(%rip), %rax
        add     $8, %rsp
        mov     %rax, (%rsp)
        ret
        .size   inner, . - inner
done:
        EXIT
