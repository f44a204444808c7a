// covers: integer-load integer-store modify flags nop integer-extend integer-immediate high-byte movabs
/* Integer instructions with registers, memory and immediates of every width; read-modify-write; lines and pages crossed. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0x5a
wide:   .quad   3

        START
        lea     mem(%rip), %rbx
        mov     $0x123456789abcdef1, %rax
        REPEAT  20
        addb    %al, (%rbx)
        addb    8(%rbx), %al
        addb    $7, 16(%rbx)
        addb    $-3, %al
        addw    %ax, (%rbx)
        addw    8(%rbx), %ax
        addw    $7, 16(%rbx)
        addw    $-3, %ax
        addl    %eax, (%rbx)
        addl    8(%rbx), %eax
        addl    $7, 16(%rbx)
        addl    $-3, %eax
        addq    %rax, (%rbx)
        addq    8(%rbx), %rax
        addq    $7, 16(%rbx)
        addq    $-3, %rax
        addb    %ah, 3(%rbx)
        addq    %rax, 61(%rbx)
        addl    %eax, 4093(%rbx)
        addw    63(%rbx), %cx
        orb    %al, (%rbx)
        orb    8(%rbx), %al
        orb    $7, 16(%rbx)
        orb    $-3, %al
        orw    %ax, (%rbx)
        orw    8(%rbx), %ax
        orw    $7, 16(%rbx)
        orw    $-3, %ax
        orl    %eax, (%rbx)
        orl    8(%rbx), %eax
        orl    $7, 16(%rbx)
        orl    $-3, %eax
        orq    %rax, (%rbx)
        orq    8(%rbx), %rax
        orq    $7, 16(%rbx)
        orq    $-3, %rax
        orb    %ah, 3(%rbx)
        orq    %rax, 61(%rbx)
        orl    %eax, 4093(%rbx)
        orw    63(%rbx), %cx
        adcb    %al, (%rbx)
        adcb    8(%rbx), %al
        adcb    $7, 16(%rbx)
        adcb    $-3, %al
        adcw    %ax, (%rbx)
        adcw    8(%rbx), %ax
        adcw    $7, 16(%rbx)
        adcw    $-3, %ax
        adcl    %eax, (%rbx)
        adcl    8(%rbx), %eax
        adcl    $7, 16(%rbx)
        adcl    $-3, %eax
        adcq    %rax, (%rbx)
        adcq    8(%rbx), %rax
        adcq    $7, 16(%rbx)
        adcq    $-3, %rax
        adcb    %ah, 3(%rbx)
        adcq    %rax, 61(%rbx)
        adcl    %eax, 4093(%rbx)
        adcw    63(%rbx), %cx
        sbbb    %al, (%rbx)
        sbbb    8(%rbx), %al
        sbbb    $7, 16(%rbx)
        sbbb    $-3, %al
        sbbw    %ax, (%rbx)
        sbbw    8(%rbx), %ax
        sbbw    $7, 16(%rbx)
        sbbw    $-3, %ax
        sbbl    %eax, (%rbx)
        sbbl    8(%rbx), %eax
        sbbl    $7, 16(%rbx)
        sbbl    $-3, %eax
        sbbq    %rax, (%rbx)
        sbbq    8(%rbx), %rax
        sbbq    $7, 16(%rbx)
        sbbq    $-3, %rax
        sbbb    %ah, 3(%rbx)
        sbbq    %rax, 61(%rbx)
        sbbl    %eax, 4093(%rbx)
        sbbw    63(%rbx), %cx
        andb    %al, (%rbx)
        andb    8(%rbx), %al
        andb    $7, 16(%rbx)
        andb    $-3, %al
        andw    %ax, (%rbx)
        andw    8(%rbx), %ax
        andw    $7, 16(%rbx)
        andw    $-3, %ax
        andl    %eax, (%rbx)
        andl    8(%rbx), %eax
        andl    $7, 16(%rbx)
        andl    $-3, %eax
        andq    %rax, (%rbx)
        andq    8(%rbx), %rax
        andq    $7, 16(%rbx)
        andq    $-3, %rax
        andb    %ah, 3(%rbx)
        andq    %rax, 61(%rbx)
        andl    %eax, 4093(%rbx)
        andw    63(%rbx), %cx
        subb    %al, (%rbx)
        subb    8(%rbx), %al
        subb    $7, 16(%rbx)
        subb    $-3, %al
        subw    %ax, (%rbx)
        subw    8(%rbx), %ax
        subw    $7, 16(%rbx)
        subw    $-3, %ax
        subl    %eax, (%rbx)
        subl    8(%rbx), %eax
        subl    $7, 16(%rbx)
        subl    $-3, %eax
        subq    %rax, (%rbx)
        subq    8(%rbx), %rax
        subq    $7, 16(%rbx)
        subq    $-3, %rax
        subb    %ah, 3(%rbx)
        subq    %rax, 61(%rbx)
        subl    %eax, 4093(%rbx)
        subw    63(%rbx), %cx
        xorb    %al, (%rbx)
        xorb    8(%rbx), %al
        xorb    $7, 16(%rbx)
        xorb    $-3, %al
        xorw    %ax, (%rbx)
        xorw    8(%rbx), %ax
        xorw    $7, 16(%rbx)
        xorw    $-3, %ax
        xorl    %eax, (%rbx)
        xorl    8(%rbx), %eax
        xorl    $7, 16(%rbx)
        xorl    $-3, %eax
        xorq    %rax, (%rbx)
        xorq    8(%rbx), %rax
        xorq    $7, 16(%rbx)
        xorq    $-3, %rax
        xorb    %ah, 3(%rbx)
        xorq    %rax, 61(%rbx)
        xorl    %eax, 4093(%rbx)
        xorw    63(%rbx), %cx
        cmpb    %al, (%rbx)
        cmpb    8(%rbx), %al
        cmpb    $7, 16(%rbx)
        cmpb    $-3, %al
        cmpw    %ax, (%rbx)
        cmpw    8(%rbx), %ax
        cmpw    $7, 16(%rbx)
        cmpw    $-3, %ax
        cmpl    %eax, (%rbx)
        cmpl    8(%rbx), %eax
        cmpl    $7, 16(%rbx)
        cmpl    $-3, %eax
        cmpq    %rax, (%rbx)
        cmpq    8(%rbx), %rax
        cmpq    $7, 16(%rbx)
        cmpq    $-3, %rax
        cmpb    %ah, 3(%rbx)
        cmpq    %rax, 61(%rbx)
        cmpl    %eax, 4093(%rbx)
        cmpw    63(%rbx), %cx
        incb    (%rbx)
        incb    %dl
        incw    (%rbx)
        incw    %dx
        incl    (%rbx)
        incl    %edx
        incq    (%rbx)
        incq    %rdx
        incq    60(%rbx)
        decb    (%rbx)
        decb    %dl
        decw    (%rbx)
        decw    %dx
        decl    (%rbx)
        decl    %edx
        decq    (%rbx)
        decq    %rdx
        decq    60(%rbx)
        notb    (%rbx)
        notb    %dl
        notw    (%rbx)
        notw    %dx
        notl    (%rbx)
        notl    %edx
        notq    (%rbx)
        notq    %rdx
        notq    60(%rbx)
        negb    (%rbx)
        negb    %dl
        negw    (%rbx)
        negw    %dx
        negl    (%rbx)
        negl    %edx
        negq    (%rbx)
        negq    %rdx
        negq    60(%rbx)
        testb   %al, 24(%rbx)
        testb   $5, 24(%rbx)
        testb   %al, %al
        movb    $5, 32(%rbx)
        movb    %al, 40(%rbx)
        movb    32(%rbx), %al
        testw   %ax, 24(%rbx)
        testw   $0x1234, 24(%rbx)
        testw   %ax, %ax
        movw    $0x1234, 32(%rbx)
        movw    %ax, 40(%rbx)
        movw    32(%rbx), %ax
        testl   %eax, 24(%rbx)
        testl   $0x12345678, 24(%rbx)
        testl   %eax, %eax
        movl    $0x12345678, 32(%rbx)
        movl    %eax, 40(%rbx)
        movl    32(%rbx), %eax
        testq   %rax, 24(%rbx)
        testq   $-9, 24(%rbx)
        testq   %rax, %rax
        movq    $-9, 32(%rbx)
        movq    %rax, 40(%rbx)
        movq    32(%rbx), %rax
        movzbl  (%rbx), %ecx
        movzbw  (%rbx), %cx
        movzwl  1(%rbx), %ecx
        movzbq  2(%rbx), %rcx
        movsbl  (%rbx), %ecx
        movsbw  3(%rbx), %cx
        movswl  1(%rbx), %ecx
        movsbq  2(%rbx), %rcx
        movswq  63(%rbx), %rcx
        movslq  62(%rbx), %rcx
        movzwl  4095(%rbx), %ecx
        lea     5(%rbx,%rcx,2), %rdx
        movabs  %al, wide
        movabs  wide, %al
        movabs  %rax, wide
        movabs  wide, %rax
        bswap   %rax
        bswap   %eax
        cwtl
        cltq
        cwtd
        cltd
        cqto
        cbtw
        clc
        stc
        cmc
        cld
        lahf
        sahf
        nop
        nopl    (%rbx)
        nopw    64(%rbx,%rax,1)
        endbr64
        pause
        ENDREPEAT
        EXIT
