// covers: lock-modify xchg-mem xadd cmpxchg lock-cmpxchg cmpxchg8b cmpxchg16b lock-bits
/* xchg, xadd, cmpxchg and the rest with and without the lock prefix, within a line and across lines. */
#include "rt.h"

        .data
        .balign 64
mem:    .skip   256, 0x11

        START
        lea     mem(%rip), %rbx
        REPEAT  40
        mov     %r15, %rcx
        xchgb  %cl, (%rbx)
        xaddb  %cl, (%rbx)
        mov     (%rbx), %rax
        cmpxchgb %cl, (%rbx)
        inc     %rax
        cmpxchgb %cl, (%rbx)
        xchgb  %cl, 61(%rbx)
        xaddb  %cl, 61(%rbx)
        mov     61(%rbx), %rax
        cmpxchgb %cl, 61(%rbx)
        inc     %rax
        cmpxchgb %cl, 61(%rbx)
        mov     %r15, %rcx
        xchgw  %cx, (%rbx)
        xaddw  %cx, (%rbx)
        mov     (%rbx), %rax
        cmpxchgw %cx, (%rbx)
        inc     %rax
        cmpxchgw %cx, (%rbx)
        xchgw  %cx, 61(%rbx)
        xaddw  %cx, 61(%rbx)
        mov     61(%rbx), %rax
        cmpxchgw %cx, 61(%rbx)
        inc     %rax
        cmpxchgw %cx, 61(%rbx)
        mov     %r15, %rcx
        xchgl  %ecx, (%rbx)
        xaddl  %ecx, (%rbx)
        mov     (%rbx), %rax
        cmpxchgl %ecx, (%rbx)
        inc     %rax
        cmpxchgl %ecx, (%rbx)
        xchgl  %ecx, 61(%rbx)
        xaddl  %ecx, 61(%rbx)
        mov     61(%rbx), %rax
        cmpxchgl %ecx, 61(%rbx)
        inc     %rax
        cmpxchgl %ecx, 61(%rbx)
        mov     %r15, %rcx
        xchgq  %rcx, (%rbx)
        xaddq  %rcx, (%rbx)
        mov     (%rbx), %rax
        cmpxchgq %rcx, (%rbx)
        inc     %rax
        cmpxchgq %rcx, (%rbx)
        xchgq  %rcx, 61(%rbx)
        xaddq  %rcx, 61(%rbx)
        mov     61(%rbx), %rax
        cmpxchgq %rcx, 61(%rbx)
        inc     %rax
        cmpxchgq %rcx, 61(%rbx)
        mov     %r15, %rcx
        mov     (%rbx), %eax
        mov     4(%rbx), %edx
        cmpxchg8b (%rbx)
        inc     %eax
        cmpxchg8b (%rbx)
        cmpxchg8b 60(%rbx)
        mov     64(%rbx), %rax
        mov     72(%rbx), %rdx
        cmpxchg16b 64(%rbx)
        inc     %rax
        cmpxchg16b 64(%rbx)
        jz      1f
        inc     %rsi
1:
        lock xchgb  %cl, (%rbx)
        lock xaddb  %cl, (%rbx)
        mov     (%rbx), %rax
        lock cmpxchgb %cl, (%rbx)
        inc     %rax
        lock cmpxchgb %cl, (%rbx)
        lock addb  %cl, (%rbx)
        lock addb  $3, (%rbx)
        lock orb  %cl, (%rbx)
        lock orb  $3, (%rbx)
        lock adcb  %cl, (%rbx)
        lock adcb  $3, (%rbx)
        lock sbbb  %cl, (%rbx)
        lock sbbb  $3, (%rbx)
        lock andb  %cl, (%rbx)
        lock andb  $3, (%rbx)
        lock subb  %cl, (%rbx)
        lock subb  $3, (%rbx)
        lock xorb  %cl, (%rbx)
        lock xorb  $3, (%rbx)
        lock incb  (%rbx)
        lock decb  (%rbx)
        lock notb  (%rbx)
        jz      1f
        inc     %rsi
1:
        lock xchgb  %cl, 61(%rbx)
        lock xaddb  %cl, 61(%rbx)
        mov     61(%rbx), %rax
        lock cmpxchgb %cl, 61(%rbx)
        inc     %rax
        lock cmpxchgb %cl, 61(%rbx)
        lock addb  %cl, 61(%rbx)
        lock addb  $3, 61(%rbx)
        lock orb  %cl, 61(%rbx)
        lock orb  $3, 61(%rbx)
        lock adcb  %cl, 61(%rbx)
        lock adcb  $3, 61(%rbx)
        lock sbbb  %cl, 61(%rbx)
        lock sbbb  $3, 61(%rbx)
        lock andb  %cl, 61(%rbx)
        lock andb  $3, 61(%rbx)
        lock subb  %cl, 61(%rbx)
        lock subb  $3, 61(%rbx)
        lock xorb  %cl, 61(%rbx)
        lock xorb  $3, 61(%rbx)
        lock incb  61(%rbx)
        lock decb  61(%rbx)
        lock notb  61(%rbx)
        jz      1f
        inc     %rsi
1:
        mov     %r15, %rcx
        lock xchgw  %cx, (%rbx)
        lock xaddw  %cx, (%rbx)
        mov     (%rbx), %rax
        lock cmpxchgw %cx, (%rbx)
        inc     %rax
        lock cmpxchgw %cx, (%rbx)
        lock addw  %cx, (%rbx)
        lock addw  $3, (%rbx)
        lock orw  %cx, (%rbx)
        lock orw  $3, (%rbx)
        lock adcw  %cx, (%rbx)
        lock adcw  $3, (%rbx)
        lock sbbw  %cx, (%rbx)
        lock sbbw  $3, (%rbx)
        lock andw  %cx, (%rbx)
        lock andw  $3, (%rbx)
        lock subw  %cx, (%rbx)
        lock subw  $3, (%rbx)
        lock xorw  %cx, (%rbx)
        lock xorw  $3, (%rbx)
        lock incw  (%rbx)
        lock decw  (%rbx)
        lock notw  (%rbx)
        lock btsw  $5, (%rbx)
        lock btsw  %cx, (%rbx)
        lock btrw  $5, (%rbx)
        lock btrw  %cx, (%rbx)
        lock btcw  $5, (%rbx)
        lock btcw  %cx, (%rbx)
        jz      1f
        inc     %rsi
1:
        lock xchgw  %cx, 61(%rbx)
        lock xaddw  %cx, 61(%rbx)
        mov     61(%rbx), %rax
        lock cmpxchgw %cx, 61(%rbx)
        inc     %rax
        lock cmpxchgw %cx, 61(%rbx)
        lock addw  %cx, 61(%rbx)
        lock addw  $3, 61(%rbx)
        lock orw  %cx, 61(%rbx)
        lock orw  $3, 61(%rbx)
        lock adcw  %cx, 61(%rbx)
        lock adcw  $3, 61(%rbx)
        lock sbbw  %cx, 61(%rbx)
        lock sbbw  $3, 61(%rbx)
        lock andw  %cx, 61(%rbx)
        lock andw  $3, 61(%rbx)
        lock subw  %cx, 61(%rbx)
        lock subw  $3, 61(%rbx)
        lock xorw  %cx, 61(%rbx)
        lock xorw  $3, 61(%rbx)
        lock incw  61(%rbx)
        lock decw  61(%rbx)
        lock notw  61(%rbx)
        lock btsw  $5, 61(%rbx)
        lock btsw  %cx, 61(%rbx)
        lock btrw  $5, 61(%rbx)
        lock btrw  %cx, 61(%rbx)
        lock btcw  $5, 61(%rbx)
        lock btcw  %cx, 61(%rbx)
        jz      1f
        inc     %rsi
1:
        mov     %r15, %rcx
        lock xchgl  %ecx, (%rbx)
        lock xaddl  %ecx, (%rbx)
        mov     (%rbx), %rax
        lock cmpxchgl %ecx, (%rbx)
        inc     %rax
        lock cmpxchgl %ecx, (%rbx)
        lock addl  %ecx, (%rbx)
        lock addl  $3, (%rbx)
        lock orl  %ecx, (%rbx)
        lock orl  $3, (%rbx)
        lock adcl  %ecx, (%rbx)
        lock adcl  $3, (%rbx)
        lock sbbl  %ecx, (%rbx)
        lock sbbl  $3, (%rbx)
        lock andl  %ecx, (%rbx)
        lock andl  $3, (%rbx)
        lock subl  %ecx, (%rbx)
        lock subl  $3, (%rbx)
        lock xorl  %ecx, (%rbx)
        lock xorl  $3, (%rbx)
        lock incl  (%rbx)
        lock decl  (%rbx)
        lock notl  (%rbx)
        lock btsl  $5, (%rbx)
        lock btsl  %ecx, (%rbx)
        lock btrl  $5, (%rbx)
        lock btrl  %ecx, (%rbx)
        lock btcl  $5, (%rbx)
        lock btcl  %ecx, (%rbx)
        jz      1f
        inc     %rsi
1:
        lock xchgl  %ecx, 61(%rbx)
        lock xaddl  %ecx, 61(%rbx)
        mov     61(%rbx), %rax
        lock cmpxchgl %ecx, 61(%rbx)
        inc     %rax
        lock cmpxchgl %ecx, 61(%rbx)
        lock addl  %ecx, 61(%rbx)
        lock addl  $3, 61(%rbx)
        lock orl  %ecx, 61(%rbx)
        lock orl  $3, 61(%rbx)
        lock adcl  %ecx, 61(%rbx)
        lock adcl  $3, 61(%rbx)
        lock sbbl  %ecx, 61(%rbx)
        lock sbbl  $3, 61(%rbx)
        lock andl  %ecx, 61(%rbx)
        lock andl  $3, 61(%rbx)
        lock subl  %ecx, 61(%rbx)
        lock subl  $3, 61(%rbx)
        lock xorl  %ecx, 61(%rbx)
        lock xorl  $3, 61(%rbx)
        lock incl  61(%rbx)
        lock decl  61(%rbx)
        lock notl  61(%rbx)
        lock btsl  $5, 61(%rbx)
        lock btsl  %ecx, 61(%rbx)
        lock btrl  $5, 61(%rbx)
        lock btrl  %ecx, 61(%rbx)
        lock btcl  $5, 61(%rbx)
        lock btcl  %ecx, 61(%rbx)
        jz      1f
        inc     %rsi
1:
        mov     %r15, %rcx
        lock xchgq  %rcx, (%rbx)
        lock xaddq  %rcx, (%rbx)
        mov     (%rbx), %rax
        lock cmpxchgq %rcx, (%rbx)
        inc     %rax
        lock cmpxchgq %rcx, (%rbx)
        lock addq  %rcx, (%rbx)
        lock addq  $3, (%rbx)
        lock orq  %rcx, (%rbx)
        lock orq  $3, (%rbx)
        lock adcq  %rcx, (%rbx)
        lock adcq  $3, (%rbx)
        lock sbbq  %rcx, (%rbx)
        lock sbbq  $3, (%rbx)
        lock andq  %rcx, (%rbx)
        lock andq  $3, (%rbx)
        lock subq  %rcx, (%rbx)
        lock subq  $3, (%rbx)
        lock xorq  %rcx, (%rbx)
        lock xorq  $3, (%rbx)
        lock incq  (%rbx)
        lock decq  (%rbx)
        lock notq  (%rbx)
        lock btsq  $5, (%rbx)
        lock btsq  %rcx, (%rbx)
        lock btrq  $5, (%rbx)
        lock btrq  %rcx, (%rbx)
        lock btcq  $5, (%rbx)
        lock btcq  %rcx, (%rbx)
        jz      1f
        inc     %rsi
1:
        lock xchgq  %rcx, 61(%rbx)
        lock xaddq  %rcx, 61(%rbx)
        mov     61(%rbx), %rax
        lock cmpxchgq %rcx, 61(%rbx)
        inc     %rax
        lock cmpxchgq %rcx, 61(%rbx)
        lock addq  %rcx, 61(%rbx)
        lock addq  $3, 61(%rbx)
        lock orq  %rcx, 61(%rbx)
        lock orq  $3, 61(%rbx)
        lock adcq  %rcx, 61(%rbx)
        lock adcq  $3, 61(%rbx)
        lock sbbq  %rcx, 61(%rbx)
        lock sbbq  $3, 61(%rbx)
        lock andq  %rcx, 61(%rbx)
        lock andq  $3, 61(%rbx)
        lock subq  %rcx, 61(%rbx)
        lock subq  $3, 61(%rbx)
        lock xorq  %rcx, 61(%rbx)
        lock xorq  $3, 61(%rbx)
        lock incq  61(%rbx)
        lock decq  61(%rbx)
        lock notq  61(%rbx)
        lock btsq  $5, 61(%rbx)
        lock btsq  %rcx, 61(%rbx)
        lock btrq  $5, 61(%rbx)
        lock btrq  %rcx, 61(%rbx)
        lock btcq  $5, 61(%rbx)
        lock btcq  %rcx, 61(%rbx)
        jz      1f
        inc     %rsi
1:
        mov     %r15, %rcx
        mov     (%rbx), %eax
        mov     4(%rbx), %edx
        lock cmpxchg8b (%rbx)
        inc     %eax
        lock cmpxchg8b (%rbx)
        lock cmpxchg8b 60(%rbx)
        mov     64(%rbx), %rax
        mov     72(%rbx), %rdx
        lock cmpxchg16b 64(%rbx)
        inc     %rax
        lock cmpxchg16b 64(%rbx)
        jz      1f
        inc     %rsi
1:
        lock negb  (%rbx)
        lock negb  61(%rbx)
        lock negw  (%rbx)
        lock negw  61(%rbx)
        lock negl  (%rbx)
        lock negl  61(%rbx)
        lock negq  (%rbx)
        lock negq  61(%rbx)
        xchg    %rcx, %rdx
        xchg    %eax, %ecx
        xadd    %rcx, %rdx
        cmpxchg %rcx, %rdx
        xchg    %cl, %dh
        mfence
        lfence
        sfence
        ENDREPEAT
        EXIT
