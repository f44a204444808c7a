// covers: cmov setcc jcc
/* Conditional moves, sets and jumps on every condition. */
#include "rt.h"

        .data
        .balign 64
mem:    .skip   256, 0x11

        START
        lea     mem(%rip), %rbx
        mov     $0x123456789abcdef1, %rax
        REPEAT  60
        imul    $0x5851f42d, %rax, %rax
        add     $0x14057b7e, %rax
        test    %r15, %rax
        cmp     %eax, (%rbx)
        cmp     %ah, %al
        cmovo   (%rbx), %rdx
        cmovo   62(%rbx), %edx
        cmovo   63(%rbx), %dx
        cmovo   %rax, %rsi
        seto    %cl
        seto    63(%rbx)
        jo      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovno   (%rbx), %rdx
        cmovno   62(%rbx), %edx
        cmovno   63(%rbx), %dx
        cmovno   %rax, %rsi
        setno    %cl
        setno    63(%rbx)
        jno      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovb   (%rbx), %rdx
        cmovb   62(%rbx), %edx
        cmovb   63(%rbx), %dx
        cmovb   %rax, %rsi
        setb    %cl
        setb    63(%rbx)
        jb      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovae   (%rbx), %rdx
        cmovae   62(%rbx), %edx
        cmovae   63(%rbx), %dx
        cmovae   %rax, %rsi
        setae    %cl
        setae    63(%rbx)
        jae      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmove   (%rbx), %rdx
        cmove   62(%rbx), %edx
        cmove   63(%rbx), %dx
        cmove   %rax, %rsi
        sete    %cl
        sete    63(%rbx)
        je      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovne   (%rbx), %rdx
        cmovne   62(%rbx), %edx
        cmovne   63(%rbx), %dx
        cmovne   %rax, %rsi
        setne    %cl
        setne    63(%rbx)
        jne      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovbe   (%rbx), %rdx
        cmovbe   62(%rbx), %edx
        cmovbe   63(%rbx), %dx
        cmovbe   %rax, %rsi
        setbe    %cl
        setbe    63(%rbx)
        jbe      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmova   (%rbx), %rdx
        cmova   62(%rbx), %edx
        cmova   63(%rbx), %dx
        cmova   %rax, %rsi
        seta    %cl
        seta    63(%rbx)
        ja      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovs   (%rbx), %rdx
        cmovs   62(%rbx), %edx
        cmovs   63(%rbx), %dx
        cmovs   %rax, %rsi
        sets    %cl
        sets    63(%rbx)
        js      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovns   (%rbx), %rdx
        cmovns   62(%rbx), %edx
        cmovns   63(%rbx), %dx
        cmovns   %rax, %rsi
        setns    %cl
        setns    63(%rbx)
        jns      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovp   (%rbx), %rdx
        cmovp   62(%rbx), %edx
        cmovp   63(%rbx), %dx
        cmovp   %rax, %rsi
        setp    %cl
        setp    63(%rbx)
        jp      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovnp   (%rbx), %rdx
        cmovnp   62(%rbx), %edx
        cmovnp   63(%rbx), %dx
        cmovnp   %rax, %rsi
        setnp    %cl
        setnp    63(%rbx)
        jnp      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovl   (%rbx), %rdx
        cmovl   62(%rbx), %edx
        cmovl   63(%rbx), %dx
        cmovl   %rax, %rsi
        setl    %cl
        setl    63(%rbx)
        jl      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovge   (%rbx), %rdx
        cmovge   62(%rbx), %edx
        cmovge   63(%rbx), %dx
        cmovge   %rax, %rsi
        setge    %cl
        setge    63(%rbx)
        jge      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovle   (%rbx), %rdx
        cmovle   62(%rbx), %edx
        cmovle   63(%rbx), %dx
        cmovle   %rax, %rsi
        setle    %cl
        setle    63(%rbx)
        jle      1f
        ror     %rax
1:
        cmp     %ah, %al
        cmovg   (%rbx), %rdx
        cmovg   62(%rbx), %edx
        cmovg   63(%rbx), %dx
        cmovg   %rax, %rsi
        setg    %cl
        setg    63(%rbx)
        jg      1f
        ror     %rax
1:
        ENDREPEAT
        EXIT
