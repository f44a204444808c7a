// covers: shifts shifts-double rotate-carry
/* Shifts and rotations by one, by a constant, by cl and by zero; every condition code. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0xa5

        START
        lea     mem(%rip), %rbx
        mov     $0x123456789abcdef1, %rax
        mov     $37, %ecx
        REPEAT  40
        rolb    %al
        rolb    (%rbx)
        rolb    $3, %al
        rolb    $3, (%rbx)
        rolb    %cl, %al
        rolb    %cl, (%rbx)
        rolb    $0, %al
        rolb    $0, (%rbx)
        rolw    %dx
        rolw    (%rbx)
        rolw    $3, %dx
        rolw    $3, (%rbx)
        rolw    %cl, %dx
        rolw    %cl, (%rbx)
        rolw    $0, %dx
        rolw    $0, (%rbx)
        roll    %eax
        roll    (%rbx)
        roll    $3, %eax
        roll    $3, (%rbx)
        roll    %cl, %eax
        roll    %cl, (%rbx)
        roll    $0, %eax
        roll    $0, (%rbx)
        rolq    %rdx
        rolq    (%rbx)
        rolq    $3, %rdx
        rolq    $3, (%rbx)
        rolq    %cl, %rdx
        rolq    %cl, (%rbx)
        rolq    $0, %rdx
        rolq    $0, (%rbx)
        rolq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        rorb    %al
        rorb    (%rbx)
        rorb    $3, %al
        rorb    $3, (%rbx)
        rorb    %cl, %al
        rorb    %cl, (%rbx)
        rorb    $0, %al
        rorb    $0, (%rbx)
        rorw    %dx
        rorw    (%rbx)
        rorw    $3, %dx
        rorw    $3, (%rbx)
        rorw    %cl, %dx
        rorw    %cl, (%rbx)
        rorw    $0, %dx
        rorw    $0, (%rbx)
        rorl    %eax
        rorl    (%rbx)
        rorl    $3, %eax
        rorl    $3, (%rbx)
        rorl    %cl, %eax
        rorl    %cl, (%rbx)
        rorl    $0, %eax
        rorl    $0, (%rbx)
        rorq    %rdx
        rorq    (%rbx)
        rorq    $3, %rdx
        rorq    $3, (%rbx)
        rorq    %cl, %rdx
        rorq    %cl, (%rbx)
        rorq    $0, %rdx
        rorq    $0, (%rbx)
        rorq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        rclb    %al
        rclb    (%rbx)
        rclb    $3, %al
        rclb    $3, (%rbx)
        rclb    %cl, %al
        rclb    %cl, (%rbx)
        rclb    $0, %al
        rclb    $0, (%rbx)
        rclw    %dx
        rclw    (%rbx)
        rclw    $3, %dx
        rclw    $3, (%rbx)
        rclw    %cl, %dx
        rclw    %cl, (%rbx)
        rclw    $0, %dx
        rclw    $0, (%rbx)
        rcll    %eax
        rcll    (%rbx)
        rcll    $3, %eax
        rcll    $3, (%rbx)
        rcll    %cl, %eax
        rcll    %cl, (%rbx)
        rcll    $0, %eax
        rcll    $0, (%rbx)
        rclq    %rdx
        rclq    (%rbx)
        rclq    $3, %rdx
        rclq    $3, (%rbx)
        rclq    %cl, %rdx
        rclq    %cl, (%rbx)
        rclq    $0, %rdx
        rclq    $0, (%rbx)
        rclq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        rcrb    %al
        rcrb    (%rbx)
        rcrb    $3, %al
        rcrb    $3, (%rbx)
        rcrb    %cl, %al
        rcrb    %cl, (%rbx)
        rcrb    $0, %al
        rcrb    $0, (%rbx)
        rcrw    %dx
        rcrw    (%rbx)
        rcrw    $3, %dx
        rcrw    $3, (%rbx)
        rcrw    %cl, %dx
        rcrw    %cl, (%rbx)
        rcrw    $0, %dx
        rcrw    $0, (%rbx)
        rcrl    %eax
        rcrl    (%rbx)
        rcrl    $3, %eax
        rcrl    $3, (%rbx)
        rcrl    %cl, %eax
        rcrl    %cl, (%rbx)
        rcrl    $0, %eax
        rcrl    $0, (%rbx)
        rcrq    %rdx
        rcrq    (%rbx)
        rcrq    $3, %rdx
        rcrq    $3, (%rbx)
        rcrq    %cl, %rdx
        rcrq    %cl, (%rbx)
        rcrq    $0, %rdx
        rcrq    $0, (%rbx)
        rcrq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        shlb    %al
        shlb    (%rbx)
        shlb    $3, %al
        shlb    $3, (%rbx)
        shlb    %cl, %al
        shlb    %cl, (%rbx)
        shlb    $0, %al
        shlb    $0, (%rbx)
        shlw    %dx
        shlw    (%rbx)
        shlw    $3, %dx
        shlw    $3, (%rbx)
        shlw    %cl, %dx
        shlw    %cl, (%rbx)
        shlw    $0, %dx
        shlw    $0, (%rbx)
        shll    %eax
        shll    (%rbx)
        shll    $3, %eax
        shll    $3, (%rbx)
        shll    %cl, %eax
        shll    %cl, (%rbx)
        shll    $0, %eax
        shll    $0, (%rbx)
        shlq    %rdx
        shlq    (%rbx)
        shlq    $3, %rdx
        shlq    $3, (%rbx)
        shlq    %cl, %rdx
        shlq    %cl, (%rbx)
        shlq    $0, %rdx
        shlq    $0, (%rbx)
        shlq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        shrb    %al
        shrb    (%rbx)
        shrb    $3, %al
        shrb    $3, (%rbx)
        shrb    %cl, %al
        shrb    %cl, (%rbx)
        shrb    $0, %al
        shrb    $0, (%rbx)
        shrw    %dx
        shrw    (%rbx)
        shrw    $3, %dx
        shrw    $3, (%rbx)
        shrw    %cl, %dx
        shrw    %cl, (%rbx)
        shrw    $0, %dx
        shrw    $0, (%rbx)
        shrl    %eax
        shrl    (%rbx)
        shrl    $3, %eax
        shrl    $3, (%rbx)
        shrl    %cl, %eax
        shrl    %cl, (%rbx)
        shrl    $0, %eax
        shrl    $0, (%rbx)
        shrq    %rdx
        shrq    (%rbx)
        shrq    $3, %rdx
        shrq    $3, (%rbx)
        shrq    %cl, %rdx
        shrq    %cl, (%rbx)
        shrq    $0, %rdx
        shrq    $0, (%rbx)
        shrq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        sarb    %al
        sarb    (%rbx)
        sarb    $3, %al
        sarb    $3, (%rbx)
        sarb    %cl, %al
        sarb    %cl, (%rbx)
        sarb    $0, %al
        sarb    $0, (%rbx)
        sarw    %dx
        sarw    (%rbx)
        sarw    $3, %dx
        sarw    $3, (%rbx)
        sarw    %cl, %dx
        sarw    %cl, (%rbx)
        sarw    $0, %dx
        sarw    $0, (%rbx)
        sarl    %eax
        sarl    (%rbx)
        sarl    $3, %eax
        sarl    $3, (%rbx)
        sarl    %cl, %eax
        sarl    %cl, (%rbx)
        sarl    $0, %eax
        sarl    $0, (%rbx)
        sarq    %rdx
        sarq    (%rbx)
        sarq    $3, %rdx
        sarq    $3, (%rbx)
        sarq    %cl, %rdx
        sarq    %cl, (%rbx)
        sarq    $0, %rdx
        sarq    $0, (%rbx)
        sarq    %cl, 61(%rbx)
        jc      1f
        inc     %rsi
1:
        inc     %cl
        shldw   $3, %ax, %dx
        shldw   $3, %ax, 8(%rbx)
        shldw   $3, %ax, 4095(%rbx)
        shldw   %cl, %ax, %dx
        shldw   %cl, %ax, 8(%rbx)
        shldw   %cl, %ax, 4095(%rbx)
        shldl   $3, %eax, %edx
        shldl   $3, %eax, 8(%rbx)
        shldl   $3, %eax, 4095(%rbx)
        shldl   %cl, %eax, %edx
        shldl   %cl, %eax, 8(%rbx)
        shldl   %cl, %eax, 4095(%rbx)
        shldq   $3, %rax, %rdx
        shldq   $3, %rax, 8(%rbx)
        shldq   $3, %rax, 4095(%rbx)
        shldq   %cl, %rax, %rdx
        shldq   %cl, %rax, 8(%rbx)
        shldq   %cl, %rax, 4095(%rbx)
        shrdw   $3, %ax, %dx
        shrdw   $3, %ax, 8(%rbx)
        shrdw   $3, %ax, 4095(%rbx)
        shrdw   %cl, %ax, %dx
        shrdw   %cl, %ax, 8(%rbx)
        shrdw   %cl, %ax, 4095(%rbx)
        shrdl   $3, %eax, %edx
        shrdl   $3, %eax, 8(%rbx)
        shrdl   $3, %eax, 4095(%rbx)
        shrdl   %cl, %eax, %edx
        shrdl   %cl, %eax, 8(%rbx)
        shrdl   %cl, %eax, 4095(%rbx)
        shrdq   $3, %rax, %rdx
        shrdq   $3, %rax, 8(%rbx)
        shrdq   $3, %rax, 4095(%rbx)
        shrdq   %cl, %rax, %rdx
        shrdq   %cl, %rax, 8(%rbx)
        shrdq   %cl, %rax, 4095(%rbx)
        addq    %rax, %rdx
        rolq    $7, %rax
        jo      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jno      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jb      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jae      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        je      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jne      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jbe      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        ja      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        js      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jns      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jp      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jnp      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jl      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jge      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jle      1f
        lea     1(%rsi), %rsi
1:
        addq    %rax, %rdx
        rolq    $7, %rax
        jg      1f
        lea     1(%rsi), %rsi
1:
        ENDREPEAT
        EXIT
