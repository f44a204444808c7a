// covers: fault signal
// Accesses that fault, each at the start of a superblock, and run again when the handler has let them. Valgrind
// forgets what the superblock at hand has counted when an access in it faults: the fetch of the instruction.
#include "rt.h"
        .set    AT, 0x20000000
        .macro  ALONE
        jmp     1f
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
        mov     $AT, %r13d
        ALONE
        mov     (%r13), %rax    //~arch fault-forgets Ir 10: the load faults once, then runs
        add     $4096, %r13
        ALONE
        mov     %rax, (%r13)    //~arch fault-forgets Ir 10: the store faults once, then runs
        add     $4096, %r13
        ALONE
        addl    $3, 60(%r13)    //~arch fault-forgets Ir 10: the modify faults once, then runs
        add     $4096, %r13
        mov     %rsp, %rbx
        mov     %r13, %rsp
        ALONE
        pop     %rax            //~arch fault-forgets Ir 10: the load from the stack faults once, then runs
        mov     %rbx, %rsp
        add     $4096, %r13
        ENDREPEAT
        jmp     done
        .type   handler, @function
handler:
        mov     %rsp, %rbp
        lea     stack_top-32768(%rip), %rsp
        mov     $4096, %esi
        mov     $3, %edx
        mov     $10, %eax                       // mprotect
        mov     %r13, %rdi
        syscall
        BACK
        .size   handler, . - handler
        RESTORER
done:
        EXIT
