// covers: fault signal
// Accesses of sixteen bytes, which the engine makes in two parts, the second of which faults: the handler skips them. What
// the first part would have loaded is loaded after it. As in faults.S, each is at the start of a superblock.
#include "rt.h"
        .set    AT, 0x20000000
        START
        HANDLER 11, handler
        REPEAT  10
        mov     $9, %eax                        // mmap, with permissions for every second page
        mov     $AT, %edi
        mov     $65536, %esi
        mov     $3, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        mov     $AT+4096, %ebp
        .rept   4
        mov     $10, %eax                       // mprotect
        mov     %rbp, %rdi
        mov     $4096, %esi
        xor     %edx, %edx
        syscall
        add     $8192, %rbp
        .endr
        mov     $AT+4096, %ebp
        SYSTEM  39
        movups  -8(%rbp), %xmm1 //~arch fault-forgets Ir 10: the load faults
        mov     -16(%rbp), %r14
        add     $8192, %rbp
        SYSTEM  39
        movups  %xmm1, -9(%rbp) //~arch fault-forgets Ir 10: the store faults
        mov     -16(%rbp), %r14
        add     $8192, %rbp
        SYSTEM  39
        movups  -15(%rbp), %xmm2 //~arch fault-forgets Ir 10: the load faults
        mov     -16(%rbp), %r14
        add     $8192, %rbp
        SYSTEM  39
        mov     %r14, -4(%rbp)  //~arch fault-forgets Ir 10: the store faults
        mov     -16(%rbp), %r14
        ENDREPEAT
        jmp     done
        .type   handler, @function
handler:
        addq    $4, 8+168(%rsp)                 // RIP, in uc_mcontext
        lea     8(%rsp), %rsp
        jmp     restorer
        .size   handler, . - handler
        RESTORER
done:
        EXIT
