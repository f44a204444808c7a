// covers: fault signal
// Faults in the middle of a block: what was before is counted. Valgrind forgets what its superblock has queued up to there,
// and knows of no register but RSP what it was, so the handlers go on elsewhere.
#include "rt.h"
        MEMORY  8192, 0
        .set    AT, 0x20000000
        START
        HANDLER 11, handler, 0x44000000
        HANDLER 8, handler, 0x44000000
        mov     $9, %eax                        // mmap without permissions
        mov     $AT, %edi
        mov     $65536, %esi
        xor     %edx, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        REPEAT  10
        mov     %rsp, %rbx
        lea     1f(%rip), %r12
        mov     $AT, %ebp
        SYSTEM  39
        jmp     2f
        .balign 64
2:      mov     $AT, %r13d      //~arch fault-forgets Ir 10: in the superblock that faults
        incq    mem(%rip)       //~arch fault-forgets Ir 10 Dr 10: in the superblock that faults
        mov     %rax, mem+8(%rip) //~arch fault-forgets Ir 10 Dw 10: in the superblock that faults
        mov     768(%rbp), %rax //~arch fault-forgets Ir 10: the load faults and does not run
        mov     %rax, mem+24(%rip)
        .balign 64
1:      lea     2f(%rip), %r12
        xor     %edx, %edx
        SYSTEM  39
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
        .type   handler, @function
handler:
        mov     %rbx, %rsp
        jmp     *%r12
        .size   handler, . - handler
        RESTORER
done:
        EXIT
