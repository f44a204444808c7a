// covers: fault signal
// Faults in the middle of a block: what was before is counted. Valgrind forgets what its superblock has counted up to
// there.
#include "rt.h"
        MEMORY  8192, 0
        .set    AT, 0x20000000
        START
        HANDLER 11, handler
        HANDLER 8, divided, 0x44000000
        REPEAT  10
        mov     $9, %eax                        // mmap without permissions
        mov     $AT, %edi
        mov     $65536, %esi
        xor     %edx, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        jmp     1f
        .balign 64
1:      mov     $AT, %r13d      //~arch fault-forgets Ir 10: in the superblock that faults
        incq    mem(%rip)       //~arch fault-forgets Ir 10 Dr 10: in the superblock that faults
        mov     %rax, mem+8(%rip) //~arch fault-forgets Ir 10 Dw 10: in the superblock that faults
        mov     768(%r13), %rax //~arch fault-forgets Ir 10: the load faults once, then runs
        inc     %rax
        mov     %rsp, %rbx
        lea     2f(%rip), %r12
        xor     %ecx, %ecx
        jmp     1f
1:      mov     mem+16(%rip), %rax //~arch fault-forgets Ir 10 Dr 10: in the superblock that faults
        div     %ecx            //~arch fault-forgets Ir 10: it faults and does not run
        ud2
        .balign 64
2:      mov     mem+512(%rip), %rax
        ENDREPEAT
        jmp     done
        .balign 64
        .type   divided, @function
divided:
        mov     %rbx, %rsp
        jmp     *%r12
        .size   divided, . - divided
        .balign 64
        .type   handler, @function
handler:
        mov     %rsp, %rbp
        lea     stack_top-32768(%rip), %rsp
        mov     $10, %eax                       // mprotect
        mov     %r13, %rdi
        mov     $4096, %esi
        mov     $3, %edx
        syscall
        BACK
        .size   handler, . - handler
        RESTORER
done:
        EXIT
