// covers: address-forms high-byte
// Every way to name memory: base, index, scale, displacement, RIP, 32 bits that wrap, no base at all.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem+512(%rip), %rbx
        lea     mem+100(%rip), %rsp
        lea     mem+1000(%rip), %rbp
        lea     mem+2000(%rip), %r12
        lea     mem+3000(%rip), %r13
        REPEAT  60
        mov     (%rbx), %rax
        mov     127(%rbx), %rax
        mov     -128(%rbx), %rax
        mov     1024(%rbx), %rax
        mov     (%rbx,%r15), %rax
        mov     (%rbx,%r15,2), %rax
        mov     3(%rbx,%r15,4), %rax
        mov     300(%rbx,%r15,8), %rax
        mov     mem(,%r15,8), %rax
        mov     mem, %eax
        mov     mem(%rip), %eax
        mov     (%rsp), %rax
        mov     (%rsp,%r15,4), %rax
        mov     (%rbp), %rax
        mov     (%rbp,%r15), %rax
        mov     (%r12), %rax
        mov     (%r13), %rax
        add     %ah, (%rbx)
        mov     (%rbp), %dh
        addl    $0x11223344, mem+60(%rip)
        addw    $0x1122, mem+63(%rip)
        cmpb    $1, mem+4095(%rip)
        movl    $7, (%ebx)
        mov     $0xfffffff0, %ecx
        mov     16+mem(%ecx), %eax
        mov     (%ebx,%r15d,4), %rax
        ENDREPEAT
        EXIT
