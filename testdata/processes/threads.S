// A thread that works while its maker waits for it: caches and predictors are those of the process.
#include "../exact/rt.h"
        MEMORY 65536
        .data
        .balign 8
tid:    .quad   0
        .bss
        .skip   4096
second: .skip   4096

        START
        REPEAT 200
        mov     %r15, %rax
        shl     $7, %rax
        add     %rax, mem(%rax)
        ENDREPEAT
        // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID and CHILD_CLEARTID.
        mov     $56, %eax
        mov     $0x350f00, %edi
        lea     second(%rip), %rsi
        lea     tid(%rip), %rdx
        lea     tid(%rip), %r10
        xor     %r8d, %r8d
        syscall
        test    %eax, %eax
        jz      thread
        // How often this is executed depends on the schedule; the comparison leaves these lines out.
again:  mov     tid(%rip), %edx         // schedule
        test    %edx, %edx              // schedule
        jz      done                    // schedule
        mov     $202, %eax              // schedule
        lea     tid(%rip), %rdi         // schedule
        xor     %esi, %esi              // schedule
        xor     %r10d, %r10d            // schedule
        syscall                         // schedule
        jmp     again                   // schedule
done:
        REPEAT 100
        mov     %r15, %rax
        shl     $8, %rax
        mov     mem(%rax), %rbx
        ENDREPEAT
        jmp     end

thread: REPEAT 300
        mov     %r15, %rax
        shl     $6, %rax
        push    mem(%rax)
        pop     %rbx
        ENDREPEAT
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        ud2

end:
        EXIT
