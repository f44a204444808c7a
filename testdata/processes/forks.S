// Processes that each do something else: a child of fork that ends, one of vfork that ends, and two that execute another
// program. The parent works between them, so that it and they have caches of their own.
#include "../exact/rt.h"
        MEMORY 65536
        .data
path:   .asciz  "./other"
        .balign 8
argv:   .quad   path, 0
envp:   .quad   0

        START
        REPEAT 300
        mov     %r15, %rax
        shl     $7, %rax
        add     %rax, mem(%rax)
        ENDREPEAT
        SYSTEM  57
        test    %eax, %eax
        jz      child
        call    wait
        REPEAT 100
        mov     %r15, %rax
        shl     $8, %rax
        mov     mem(%rax), %rbx
        ENDREPEAT
        SYSTEM  58
        test    %eax, %eax
        jz      quick
        call    wait
        SYSTEM  57
        test    %eax, %eax
        jz      exec
        call    wait
        SYSTEM  58
        test    %eax, %eax
        jz      exec
        call    wait
        REPEAT 50
        mov     %r15, %rax
        shl     $9, %rax
        mov     %rbx, mem(%rax)
        ENDREPEAT
        jmp     end

child:  REPEAT 200
        mov     %r15, %rax
        shl     $6, %rax
        mov     mem(%rax), %rbx
        test    $3, %r15d
        jz      1f
        add     %rbx, 1024(%rsp)
1:      ENDREPEAT
        jmp     end

quick:  mov     mem(%rip), %rbx
        jmp     end

exec:   mov     %rbx, mem(%rip)
        mov     $59, %eax
        lea     path(%rip), %rdi
        lea     argv(%rip), %rsi
        lea     envp(%rip), %rdx
        syscall
        ud2

wait:   mov     $61, %eax
        mov     $-1, %rdi
        xor     %esi, %esi
        xor     %edx, %edx
        xor     %r10d, %r10d
        syscall
        ret

end:
        EXIT
