// covers: fault signal
// Accesses that fault, each at the start of a superblock, and run again when the handler has let them. Valgrind forgets
// what the superblock at hand has queued when an access in it faults: the fetch of the instruction. In the frame of a
// signal only RIP, RSP and RBP are right under Valgrind unless it is told to keep all registers, so RBP is the address.
#include "rt.h"
        .set    AT, 0x20000000
        .macro  ALONE
        jmp     1f
        .balign 64
1:
        .endm
        START
        HANDLER 11, handler
        REPEAT  10
        mov     $9, %eax                        // mmap without permissions
        mov     $AT, %edi
        mov     $65536, %esi
        xor     %edx, %edx
        mov     $0x32, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        mov     $AT, %ebp
        SYSTEM  39
        add     (%rbp), %r14    //~arch fault-forgets Ir 10: the load faults once, then runs
        add     $4096, %rbp
        SYSTEM  39
        mov     %r14, (%rbp)    //~arch fault-forgets Ir 10: the store faults once, then runs
        add     $4096, %rbp
        SYSTEM  39
        addl    $3, 60(%rbp)    //~arch fault-forgets Ir 10: the modify faults once, then runs
        add     $4096, %rbp
        mov     %rsp, %rbx
        mov     %rbp, %rsp
        SYSTEM  39
        pop     %r14            //~arch fault-forgets Ir 10: the load from the stack faults once, then runs
        mov     %rbx, %rsp
        add     $4096, %rbp
        ENDREPEAT
        jmp     done
        .type   handler, @function
handler:
        mov     %rsp, %r12
        lea     stack_top-32768(%rip), %rsp
        mov     $4096, %esi
        mov     $3, %edx
        mov     $10, %eax                       // mprotect
        mov     %rbp, %rdi
        syscall
        lea     8(%r12), %rsp
        jmp     restorer
        .size   handler, . - handler
        RESTORER
done:
        EXIT
