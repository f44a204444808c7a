// covers: push push-16 push-mem pushf
// Every push, with the stack at every place of a line and across pages.
#include "rt.h"
        MEMORY  8192
        START
        lea     mem(%rip), %rbx
        lea     stack_top-4096(%rip), %rbp
        REPEAT  70
        lea     (%rbp,%r15), %rsp
        push    %rax
        push    %r12
        push    $-1
        push    $0x12345678
        pushw   %dx
        pushw   $7
        pushw   4095(%rbx)
        pushq   (%rbx)
        pushq   61(%rbx)
        pushq   4090(%rbx)
        pushq   (%rsp)
        pushq   8(%rsp,%r15)
        push    %rsp
        pushfq
        ENDREPEAT
        EXIT
