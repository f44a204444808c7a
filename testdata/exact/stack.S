// covers: push pop push-16 push-mem pop-mem pushf call call-mem call-reg ret ret-n leave enter-0 return-elsewhere
/* The stack: push, pop, call, ret, enter and leave in their forms. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0
targets:
        .quad   plain
        .quad   framed

        START
        lea     mem(%rip), %rbx
        REPEAT  50
        push    %rax
        push    $5
        push    $0x12345678
        pushw   $5
        pushw   %ax
        popw    %ax
        popw    %cx
        pushq   (%rbx)
        pushq   61(%rbx)
        popq    8(%rbx)
        popq    4090(%rbx)
        pushfq
        popfq
        pushfq
        pop     %rdx
        push    %rsp
        pop     %rcx
        pushq   (%rsp)
        popq    (%rsp)
        pop     %rcx
        pop     %rcx
        call    plain
        lea     plain(%rip), %rax
        call    *%rax
        call    *8+targets(%rip)
        call    *targets(%rip)
        push    $1
        push    $2
        call    cleans
        call    framed
        call    entered
        mov     %r15, %rdi
        and     $15, %rdi
        call    down
        lea     1f(%rip), %rax
        push    %rax
        ret
1:
        lea     2f(%rip), %rax
        push    %rax
        lea     3f(%rip), %rcx
        jmp     *%rcx
3:
        jmp     *(%rsp)
2:
        pop     %rax
        sub     $4001, %rsp
        push    %rax
        call    plain
        pop     %rax
        add     $4001, %rsp
        sub     $3, %rsp
        push    %rax
        pushq   (%rbx)
        popq    (%rbx)
        pop     %rax
        add     $3, %rsp
        xchg    %rsp, %rcx
        xchg    %rsp, %rcx
        ENDREPEAT
        jmp     done

        .type plain, @function
plain:  ret
        .size plain, . - plain
        .type cleans, @function
cleans: mov     8(%rsp), %rax
        ret     $16
        .size cleans, . - cleans
        .type framed, @function
framed: push    %rbp
        mov     %rsp, %rbp
        sub     $40, %rsp
        mov     %rax, -8(%rbp)
        mov     %rsp, -16(%rbp)
        leave
        rep ret
        .size framed, . - framed
        .type entered, @function
entered:
        enter   $32, $0
        mov     %eax, -12(%rbp)
        leave
        ret
        .size entered, . - entered
        .type down, @function
down:   test    %rdi, %rdi
        jz      1f
        dec     %rdi
        push    %rdi
        call    down
        pop     %rdi
1:
        ret
        .size down, . - down
done:
        EXIT
