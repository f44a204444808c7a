// covers: signal return-elsewhere
// A handler that is interrupted by another, signals held back and let go, and a handler that is left by a jump.
#include "rt.h"
        MEMORY  8192, 0
        .data
mask:   .quad   0x200                           // SIGUSR1
none:   .quad   0
        START
        HANDLER 10, outer
        HANDLER 12, inner
        HANDLER 17, leaves, 0x44000000          // SA_RESTORER, SA_NODEFER
        SYSTEM  39
        mov     %eax, %r14d
        REPEAT  15
        mov     $62, %eax
        mov     %r14d, %edi
        mov     $10, %esi
        syscall
        mov     $14, %eax                       // rt_sigprocmask, SIG_BLOCK
        xor     %edi, %edi
        lea     mask(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        mov     $62, %eax
        mov     %r14d, %edi
        mov     $10, %esi
        syscall
        incq    mem+100(%rip)
        mov     $14, %eax                       // SIG_SETMASK
        mov     $2, %edi
        lea     none(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        mov     %rsp, %rbx
        lea     1f(%rip), %r12
        mov     $62, %eax
        mov     %r14d, %edi
        mov     $17, %esi
        syscall
        ud2
1:      mov     $14, %eax
        mov     $2, %edi
        lea     none(%rip), %rsi
        xor     %edx, %edx
        mov     $8, %r10d
        syscall
        incq    mem+200(%rip)
        ENDREPEAT
        cmpq    $30, mem(%rip)
        CHECK   e
        jmp     done
        .type   outer, @function
outer:  KEEP
        push    %rbp
        mov     $62, %eax
        mov     %r14d, %edi
        mov     $12, %esi
        syscall
        pop     %rbp
        incq    mem+8(%rip)
        BACK
        .size   outer, . - outer
        .type   inner, @function
inner:  mov     %rsp, %rbp
        lea     stack_top-40000(%rip), %rsp
        push    %rax
        incq    mem(%rip)
        BACK
        .size   inner, . - inner
        .type   leaves, @function
leaves: mov     %rbx, %rsp
        jmp     *%r12
        .size   leaves, . - leaves
        RESTORER
done:
        EXIT
