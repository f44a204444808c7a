// covers: tail-jump recursion
// Functions that end by jumping to others, to themselves and through pointers.
#include "rt.h"
        .data
        .balign 64
next:   .quad   even, odd, last
        START
        REPEAT  20
        mov     %r15, %rdi
        call    even
        mov     %r15, %rdi
        call    chain
        ENDREPEAT
        jmp     done
        .type   even, @function
even:   test    %rdi, %rdi
        jz      last
        dec     %rdi
        jmp     odd
        .size   even, . - even
        .type   odd, @function
odd:    test    %rdi, %rdi
        jz      last
        dec     %rdi
        jmp     *next(%rip)
        .size   odd, . - odd
        .type   last, @function
last:   ret
        .size   last, . - last
        .type   chain, @function
chain:  mov     %edi, %eax
        and     $1, %eax
        mov     next(,%rax,8), %rax
        jmp     *%rax
        .size   chain, . - chain
done:
        EXIT
