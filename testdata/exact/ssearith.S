// covers: sse-packed sse-convert sse-scalar
/* Vector arithmetic with operands in memory: the width of each access. */
#include "rt.h"

        .data
safe:   .long   0x1f80
        .balign 4096
mem:    .skip   8192, 0x3f

        START
        lea     mem(%rip), %rbx
        REPEAT  12
        addps (%rbx), %xmm1
        addpd (%rbx), %xmm1
        subps (%rbx), %xmm1
        subpd (%rbx), %xmm1
        mulps (%rbx), %xmm1
        mulpd (%rbx), %xmm1
        divps (%rbx), %xmm1
        divpd (%rbx), %xmm1
        minps (%rbx), %xmm1
        maxpd (%rbx), %xmm1
        sqrtps (%rbx), %xmm1
        sqrtpd (%rbx), %xmm1
        rcpps (%rbx), %xmm1
        rsqrtps (%rbx), %xmm1
        andps (%rbx), %xmm1
        andnps (%rbx), %xmm1
        orps (%rbx), %xmm1
        xorpd (%rbx), %xmm1
        unpcklps (%rbx), %xmm1
        unpckhpd (%rbx), %xmm1
        haddps (%rbx), %xmm1
        hsubpd (%rbx), %xmm1
        addsubps (%rbx), %xmm1
        paddb (%rbx), %xmm1
        paddw (%rbx), %xmm1
        paddd (%rbx), %xmm1
        paddq (%rbx), %xmm1
        psubb (%rbx), %xmm1
        psubusw (%rbx), %xmm1
        paddsb (%rbx), %xmm1
        paddusw (%rbx), %xmm1
        pmullw (%rbx), %xmm1
        pmulhw (%rbx), %xmm1
        pmulhuw (%rbx), %xmm1
        pmuludq (%rbx), %xmm1
        pmaddwd (%rbx), %xmm1
        psadbw (%rbx), %xmm1
        pavgb (%rbx), %xmm1
        pminub (%rbx), %xmm1
        pmaxsw (%rbx), %xmm1
        pand (%rbx), %xmm1
        pandn (%rbx), %xmm1
        por (%rbx), %xmm1
        pxor (%rbx), %xmm1
        pcmpeqb (%rbx), %xmm1
        pcmpgtd (%rbx), %xmm1
        packsswb (%rbx), %xmm1
        packuswb (%rbx), %xmm1
        packssdw (%rbx), %xmm1
        punpcklbw (%rbx), %xmm1
        punpckhwd (%rbx), %xmm1
        punpckldq (%rbx), %xmm1
        punpcklqdq (%rbx), %xmm1
        phaddw (%rbx), %xmm1
        phaddsw (%rbx), %xmm1
        pmaddubsw (%rbx), %xmm1
        pmulhrsw (%rbx), %xmm1
        pshufb (%rbx), %xmm1
        psignb (%rbx), %xmm1
        pabsb (%rbx), %xmm1
        pabsd (%rbx), %xmm1
        pmulld (%rbx), %xmm1
        pmuldq (%rbx), %xmm1
        pminsb (%rbx), %xmm1
        pmaxud (%rbx), %xmm1
        pminuw (%rbx), %xmm1
        pcmpeqq (%rbx), %xmm1
        pcmpgtq (%rbx), %xmm1
        packusdw (%rbx), %xmm1
        phminposuw (%rbx), %xmm1
        ptest (%rbx), %xmm1
        cvtdq2ps (%rbx), %xmm1
        cvtps2dq (%rbx), %xmm1
        cvttps2dq (%rbx), %xmm1
        cvtpd2dq (%rbx), %xmm1
        cvttpd2dq (%rbx), %xmm1
        cvtpd2ps (%rbx), %xmm1
        psllw (%rbx), %xmm1
        pslld (%rbx), %xmm1
        psllq (%rbx), %xmm1
        psrlw (%rbx), %xmm1
        psrld (%rbx), %xmm1
        psrlq (%rbx), %xmm1
        psraw (%rbx), %xmm1
        psrad (%rbx), %xmm1
        shufps $3, (%rbx), %xmm1
        shufpd $3, (%rbx), %xmm1
        pshufd $3, (%rbx), %xmm1
        pshufhw $3, (%rbx), %xmm1
        pshuflw $3, (%rbx), %xmm1
        palignr $3, (%rbx), %xmm1
        pblendw $3, (%rbx), %xmm1
        blendps $3, (%rbx), %xmm1
        blendpd $3, (%rbx), %xmm1
        mpsadbw $3, (%rbx), %xmm1
        dpps $3, (%rbx), %xmm1
        dppd $3, (%rbx), %xmm1
        cmpps $3, (%rbx), %xmm1
        cmppd $3, (%rbx), %xmm1
        pcmpistri $3, (%rbx), %xmm1
        pcmpistrm $3, (%rbx), %xmm1
        pblendvb %xmm0, (%rbx), %xmm1
        blendvps %xmm0, (%rbx), %xmm1
        blendvpd %xmm0, (%rbx), %xmm1
        addps 48(%rbx), %xmm1
        addpd 48(%rbx), %xmm1
        subps 48(%rbx), %xmm1
        subpd 48(%rbx), %xmm1
        mulps 48(%rbx), %xmm1
        mulpd 48(%rbx), %xmm1
        divps 48(%rbx), %xmm1
        divpd 48(%rbx), %xmm1
        minps 48(%rbx), %xmm1
        maxpd 48(%rbx), %xmm1
        sqrtps 48(%rbx), %xmm1
        sqrtpd 48(%rbx), %xmm1
        rcpps 48(%rbx), %xmm1
        rsqrtps 48(%rbx), %xmm1
        andps 48(%rbx), %xmm1
        andnps 48(%rbx), %xmm1
        orps 48(%rbx), %xmm1
        xorpd 48(%rbx), %xmm1
        unpcklps 48(%rbx), %xmm1
        unpckhpd 48(%rbx), %xmm1
        haddps 48(%rbx), %xmm1
        hsubpd 48(%rbx), %xmm1
        addsubps 48(%rbx), %xmm1
        paddb 48(%rbx), %xmm1
        paddw 48(%rbx), %xmm1
        paddd 48(%rbx), %xmm1
        paddq 48(%rbx), %xmm1
        psubb 48(%rbx), %xmm1
        psubusw 48(%rbx), %xmm1
        paddsb 48(%rbx), %xmm1
        paddusw 48(%rbx), %xmm1
        pmullw 48(%rbx), %xmm1
        pmulhw 48(%rbx), %xmm1
        pmulhuw 48(%rbx), %xmm1
        pmuludq 48(%rbx), %xmm1
        pmaddwd 48(%rbx), %xmm1
        psadbw 48(%rbx), %xmm1
        pavgb 48(%rbx), %xmm1
        pminub 48(%rbx), %xmm1
        pmaxsw 48(%rbx), %xmm1
        pand 48(%rbx), %xmm1
        pandn 48(%rbx), %xmm1
        por 48(%rbx), %xmm1
        pxor 48(%rbx), %xmm1
        pcmpeqb 48(%rbx), %xmm1
        pcmpgtd 48(%rbx), %xmm1
        packsswb 48(%rbx), %xmm1
        packuswb 48(%rbx), %xmm1
        packssdw 48(%rbx), %xmm1
        punpcklbw 48(%rbx), %xmm1
        punpckhwd 48(%rbx), %xmm1
        punpckldq 48(%rbx), %xmm1
        punpcklqdq 48(%rbx), %xmm1
        phaddw 48(%rbx), %xmm1
        phaddsw 48(%rbx), %xmm1
        pmaddubsw 48(%rbx), %xmm1
        pmulhrsw 48(%rbx), %xmm1
        pshufb 48(%rbx), %xmm1
        psignb 48(%rbx), %xmm1
        pabsb 48(%rbx), %xmm1
        pabsd 48(%rbx), %xmm1
        pmulld 48(%rbx), %xmm1
        pmuldq 48(%rbx), %xmm1
        pminsb 48(%rbx), %xmm1
        pmaxud 48(%rbx), %xmm1
        pminuw 48(%rbx), %xmm1
        pcmpeqq 48(%rbx), %xmm1
        pcmpgtq 48(%rbx), %xmm1
        packusdw 48(%rbx), %xmm1
        phminposuw 48(%rbx), %xmm1
        ptest 48(%rbx), %xmm1
        cvtdq2ps 48(%rbx), %xmm1
        cvtps2dq 48(%rbx), %xmm1
        cvttps2dq 48(%rbx), %xmm1
        cvtpd2dq 48(%rbx), %xmm1
        cvttpd2dq 48(%rbx), %xmm1
        cvtpd2ps 48(%rbx), %xmm1
        psllw 48(%rbx), %xmm1
        pslld 48(%rbx), %xmm1
        psllq 48(%rbx), %xmm1
        psrlw 48(%rbx), %xmm1
        psrld 48(%rbx), %xmm1
        psrlq 48(%rbx), %xmm1
        psraw 48(%rbx), %xmm1
        psrad 48(%rbx), %xmm1
        shufps $3, 48(%rbx), %xmm1
        shufpd $3, 48(%rbx), %xmm1
        pshufd $3, 48(%rbx), %xmm1
        pshufhw $3, 48(%rbx), %xmm1
        pshuflw $3, 48(%rbx), %xmm1
        palignr $3, 48(%rbx), %xmm1
        pblendw $3, 48(%rbx), %xmm1
        blendps $3, 48(%rbx), %xmm1
        blendpd $3, 48(%rbx), %xmm1
        mpsadbw $3, 48(%rbx), %xmm1
        dpps $3, 48(%rbx), %xmm1
        dppd $3, 48(%rbx), %xmm1
        cmpps $3, 48(%rbx), %xmm1
        cmppd $3, 48(%rbx), %xmm1
        pcmpistri $3, 48(%rbx), %xmm1
        pcmpistrm $3, 48(%rbx), %xmm1
        pblendvb %xmm0, 48(%rbx), %xmm1
        blendvps %xmm0, 48(%rbx), %xmm1
        blendvpd %xmm0, 48(%rbx), %xmm1
        addps 4096(%rbx), %xmm1
        addpd 4096(%rbx), %xmm1
        subps 4096(%rbx), %xmm1
        subpd 4096(%rbx), %xmm1
        mulps 4096(%rbx), %xmm1
        mulpd 4096(%rbx), %xmm1
        divps 4096(%rbx), %xmm1
        divpd 4096(%rbx), %xmm1
        minps 4096(%rbx), %xmm1
        maxpd 4096(%rbx), %xmm1
        sqrtps 4096(%rbx), %xmm1
        sqrtpd 4096(%rbx), %xmm1
        rcpps 4096(%rbx), %xmm1
        rsqrtps 4096(%rbx), %xmm1
        andps 4096(%rbx), %xmm1
        andnps 4096(%rbx), %xmm1
        orps 4096(%rbx), %xmm1
        xorpd 4096(%rbx), %xmm1
        unpcklps 4096(%rbx), %xmm1
        unpckhpd 4096(%rbx), %xmm1
        haddps 4096(%rbx), %xmm1
        hsubpd 4096(%rbx), %xmm1
        addsubps 4096(%rbx), %xmm1
        paddb 4096(%rbx), %xmm1
        paddw 4096(%rbx), %xmm1
        paddd 4096(%rbx), %xmm1
        paddq 4096(%rbx), %xmm1
        psubb 4096(%rbx), %xmm1
        psubusw 4096(%rbx), %xmm1
        paddsb 4096(%rbx), %xmm1
        paddusw 4096(%rbx), %xmm1
        pmullw 4096(%rbx), %xmm1
        pmulhw 4096(%rbx), %xmm1
        pmulhuw 4096(%rbx), %xmm1
        pmuludq 4096(%rbx), %xmm1
        pmaddwd 4096(%rbx), %xmm1
        psadbw 4096(%rbx), %xmm1
        pavgb 4096(%rbx), %xmm1
        pminub 4096(%rbx), %xmm1
        pmaxsw 4096(%rbx), %xmm1
        pand 4096(%rbx), %xmm1
        pandn 4096(%rbx), %xmm1
        por 4096(%rbx), %xmm1
        pxor 4096(%rbx), %xmm1
        pcmpeqb 4096(%rbx), %xmm1
        pcmpgtd 4096(%rbx), %xmm1
        packsswb 4096(%rbx), %xmm1
        packuswb 4096(%rbx), %xmm1
        packssdw 4096(%rbx), %xmm1
        punpcklbw 4096(%rbx), %xmm1
        punpckhwd 4096(%rbx), %xmm1
        punpckldq 4096(%rbx), %xmm1
        punpcklqdq 4096(%rbx), %xmm1
        phaddw 4096(%rbx), %xmm1
        phaddsw 4096(%rbx), %xmm1
        pmaddubsw 4096(%rbx), %xmm1
        pmulhrsw 4096(%rbx), %xmm1
        pshufb 4096(%rbx), %xmm1
        psignb 4096(%rbx), %xmm1
        pabsb 4096(%rbx), %xmm1
        pabsd 4096(%rbx), %xmm1
        pmulld 4096(%rbx), %xmm1
        pmuldq 4096(%rbx), %xmm1
        pminsb 4096(%rbx), %xmm1
        pmaxud 4096(%rbx), %xmm1
        pminuw 4096(%rbx), %xmm1
        pcmpeqq 4096(%rbx), %xmm1
        pcmpgtq 4096(%rbx), %xmm1
        packusdw 4096(%rbx), %xmm1
        phminposuw 4096(%rbx), %xmm1
        ptest 4096(%rbx), %xmm1
        cvtdq2ps 4096(%rbx), %xmm1
        cvtps2dq 4096(%rbx), %xmm1
        cvttps2dq 4096(%rbx), %xmm1
        cvtpd2dq 4096(%rbx), %xmm1
        cvttpd2dq 4096(%rbx), %xmm1
        cvtpd2ps 4096(%rbx), %xmm1
        psllw 4096(%rbx), %xmm1
        pslld 4096(%rbx), %xmm1
        psllq 4096(%rbx), %xmm1
        psrlw 4096(%rbx), %xmm1
        psrld 4096(%rbx), %xmm1
        psrlq 4096(%rbx), %xmm1
        psraw 4096(%rbx), %xmm1
        psrad 4096(%rbx), %xmm1
        shufps $3, 4096(%rbx), %xmm1
        shufpd $3, 4096(%rbx), %xmm1
        pshufd $3, 4096(%rbx), %xmm1
        pshufhw $3, 4096(%rbx), %xmm1
        pshuflw $3, 4096(%rbx), %xmm1
        palignr $3, 4096(%rbx), %xmm1
        pblendw $3, 4096(%rbx), %xmm1
        blendps $3, 4096(%rbx), %xmm1
        blendpd $3, 4096(%rbx), %xmm1
        mpsadbw $3, 4096(%rbx), %xmm1
        dpps $3, 4096(%rbx), %xmm1
        dppd $3, 4096(%rbx), %xmm1
        cmpps $3, 4096(%rbx), %xmm1
        cmppd $3, 4096(%rbx), %xmm1
        pcmpistri $3, 4096(%rbx), %xmm1
        pcmpistrm $3, 4096(%rbx), %xmm1
        pblendvb %xmm0, 4096(%rbx), %xmm1
        blendvps %xmm0, 4096(%rbx), %xmm1
        blendvpd %xmm0, 4096(%rbx), %xmm1
        addss (%rbx), %xmm1
        addsd (%rbx), %xmm1
        mulss (%rbx), %xmm1
        mulsd (%rbx), %xmm1
        divss (%rbx), %xmm1
        divsd (%rbx), %xmm1
        sqrtss (%rbx), %xmm1
        sqrtsd (%rbx), %xmm1
        minss (%rbx), %xmm1
        maxsd (%rbx), %xmm1
        rcpss (%rbx), %xmm1
        rsqrtss (%rbx), %xmm1
        ucomiss (%rbx), %xmm1
        ucomisd (%rbx), %xmm1
        comiss (%rbx), %xmm1
        comisd (%rbx), %xmm1
        cvtss2sd (%rbx), %xmm1
        cvtsd2ss (%rbx), %xmm1
        cmpss $2, (%rbx), %xmm1
        cmpsd $2, (%rbx), %xmm1
        cvtsi2ssl (%rbx), %xmm1
        cvtsi2sdq (%rbx), %xmm1
        cvtsi2ssq (%rbx), %xmm1
        cvttss2si (%rbx), %eax
        cvttsd2si (%rbx), %rax
        cvtss2si (%rbx), %rax
        cvtsd2si (%rbx), %eax
        paddb (%rbx), %mm1
        pmullw (%rbx), %mm1
        pand (%rbx), %mm1
        packsswb (%rbx), %mm1
        punpckldq (%rbx), %mm1
        pshufb (%rbx), %mm1
        pabsw (%rbx), %mm1
        psllw (%rbx), %mm1
        psrld (%rbx), %mm1
        paddq (%rbx), %mm1
        pmuludq (%rbx), %mm1
        psadbw (%rbx), %mm1
        pmaxub (%rbx), %mm1
        pshufw  $3, (%rbx), %mm1
        palignr $3, (%rbx), %mm1
        pinsrw  $2, (%rbx), %mm1
        cvtpi2ps (%rbx), %xmm1
        cvtpi2pd (%rbx), %xmm1
        addss 60(%rbx), %xmm1
        addsd 60(%rbx), %xmm1
        mulss 60(%rbx), %xmm1
        mulsd 60(%rbx), %xmm1
        divss 60(%rbx), %xmm1
        divsd 60(%rbx), %xmm1
        sqrtss 60(%rbx), %xmm1
        sqrtsd 60(%rbx), %xmm1
        minss 60(%rbx), %xmm1
        maxsd 60(%rbx), %xmm1
        rcpss 60(%rbx), %xmm1
        rsqrtss 60(%rbx), %xmm1
        ucomiss 60(%rbx), %xmm1
        ucomisd 60(%rbx), %xmm1
        comiss 60(%rbx), %xmm1
        comisd 60(%rbx), %xmm1
        cvtss2sd 60(%rbx), %xmm1
        cvtsd2ss 60(%rbx), %xmm1
        cmpss $2, 60(%rbx), %xmm1
        cmpsd $2, 60(%rbx), %xmm1
        cvtsi2ssl 60(%rbx), %xmm1
        cvtsi2sdq 60(%rbx), %xmm1
        cvtsi2ssq 60(%rbx), %xmm1
        cvttss2si 60(%rbx), %eax
        cvttsd2si 60(%rbx), %rax
        cvtss2si 60(%rbx), %rax
        cvtsd2si 60(%rbx), %eax
        paddb 60(%rbx), %mm1
        pmullw 60(%rbx), %mm1
        pand 60(%rbx), %mm1
        packsswb 60(%rbx), %mm1
        punpckldq 60(%rbx), %mm1
        pshufb 60(%rbx), %mm1
        pabsw 60(%rbx), %mm1
        psllw 60(%rbx), %mm1
        psrld 60(%rbx), %mm1
        paddq 60(%rbx), %mm1
        pmuludq 60(%rbx), %mm1
        psadbw 60(%rbx), %mm1
        pmaxub 60(%rbx), %mm1
        pshufw  $3, 60(%rbx), %mm1
        palignr $3, 60(%rbx), %mm1
        pinsrw  $2, 60(%rbx), %mm1
        cvtpi2ps 60(%rbx), %xmm1
        cvtpi2pd 60(%rbx), %xmm1
        addss 61(%rbx), %xmm1
        addsd 61(%rbx), %xmm1
        mulss 61(%rbx), %xmm1
        mulsd 61(%rbx), %xmm1
        divss 61(%rbx), %xmm1
        divsd 61(%rbx), %xmm1
        sqrtss 61(%rbx), %xmm1
        sqrtsd 61(%rbx), %xmm1
        minss 61(%rbx), %xmm1
        maxsd 61(%rbx), %xmm1
        rcpss 61(%rbx), %xmm1
        rsqrtss 61(%rbx), %xmm1
        ucomiss 61(%rbx), %xmm1
        ucomisd 61(%rbx), %xmm1
        comiss 61(%rbx), %xmm1
        comisd 61(%rbx), %xmm1
        cvtss2sd 61(%rbx), %xmm1
        cvtsd2ss 61(%rbx), %xmm1
        cmpss $2, 61(%rbx), %xmm1
        cmpsd $2, 61(%rbx), %xmm1
        cvtsi2ssl 61(%rbx), %xmm1
        cvtsi2sdq 61(%rbx), %xmm1
        cvtsi2ssq 61(%rbx), %xmm1
        cvttss2si 61(%rbx), %eax
        cvttsd2si 61(%rbx), %rax
        cvtss2si 61(%rbx), %rax
        cvtsd2si 61(%rbx), %eax
        paddb 61(%rbx), %mm1
        pmullw 61(%rbx), %mm1
        pand 61(%rbx), %mm1
        packsswb 61(%rbx), %mm1
        punpckldq 61(%rbx), %mm1
        pshufb 61(%rbx), %mm1
        pabsw 61(%rbx), %mm1
        psllw 61(%rbx), %mm1
        psrld 61(%rbx), %mm1
        paddq 61(%rbx), %mm1
        pmuludq 61(%rbx), %mm1
        psadbw 61(%rbx), %mm1
        pmaxub 61(%rbx), %mm1
        pshufw  $3, 61(%rbx), %mm1
        palignr $3, 61(%rbx), %mm1
        pinsrw  $2, 61(%rbx), %mm1
        cvtpi2ps 61(%rbx), %xmm1
        cvtpi2pd 61(%rbx), %xmm1
        addss 4093(%rbx), %xmm1
        addsd 4093(%rbx), %xmm1
        mulss 4093(%rbx), %xmm1
        mulsd 4093(%rbx), %xmm1
        divss 4093(%rbx), %xmm1
        divsd 4093(%rbx), %xmm1
        sqrtss 4093(%rbx), %xmm1
        sqrtsd 4093(%rbx), %xmm1
        minss 4093(%rbx), %xmm1
        maxsd 4093(%rbx), %xmm1
        rcpss 4093(%rbx), %xmm1
        rsqrtss 4093(%rbx), %xmm1
        ucomiss 4093(%rbx), %xmm1
        ucomisd 4093(%rbx), %xmm1
        comiss 4093(%rbx), %xmm1
        comisd 4093(%rbx), %xmm1
        cvtss2sd 4093(%rbx), %xmm1
        cvtsd2ss 4093(%rbx), %xmm1
        cmpss $2, 4093(%rbx), %xmm1
        cmpsd $2, 4093(%rbx), %xmm1
        cvtsi2ssl 4093(%rbx), %xmm1
        cvtsi2sdq 4093(%rbx), %xmm1
        cvtsi2ssq 4093(%rbx), %xmm1
        cvttss2si 4093(%rbx), %eax
        cvttsd2si 4093(%rbx), %rax
        cvtss2si 4093(%rbx), %rax
        cvtsd2si 4093(%rbx), %eax
        paddb 4093(%rbx), %mm1
        pmullw 4093(%rbx), %mm1
        pand 4093(%rbx), %mm1
        packsswb 4093(%rbx), %mm1
        punpckldq 4093(%rbx), %mm1
        pshufb 4093(%rbx), %mm1
        pabsw 4093(%rbx), %mm1
        psllw 4093(%rbx), %mm1
        psrld 4093(%rbx), %mm1
        paddq 4093(%rbx), %mm1
        pmuludq 4093(%rbx), %mm1
        psadbw 4093(%rbx), %mm1
        pmaxub 4093(%rbx), %mm1
        pshufw  $3, 4093(%rbx), %mm1
        palignr $3, 4093(%rbx), %mm1
        pinsrw  $2, 4093(%rbx), %mm1
        cvtpi2ps 4093(%rbx), %xmm1
        cvtpi2pd 4093(%rbx), %xmm1
        roundps $3, (%rbx), %xmm1
        roundpd $3, (%rbx), %xmm1
        roundps $3, 48(%rbx), %xmm1
        roundpd $3, 48(%rbx), %xmm1
        roundps $3, 4096(%rbx), %xmm1
        roundpd $3, 4096(%rbx), %xmm1
        roundss $2, (%rbx), %xmm1
        roundsd $2, (%rbx), %xmm1
        cvtdq2pd (%rbx), %xmm1
        cvtps2pd (%rbx), %xmm1
        cvtps2pi (%rbx), %mm1
        cvttps2pi (%rbx), %mm1
        roundss $2, 60(%rbx), %xmm1
        roundsd $2, 60(%rbx), %xmm1
        cvtdq2pd 60(%rbx), %xmm1
        cvtps2pd 60(%rbx), %xmm1
        cvtps2pi 60(%rbx), %mm1
        cvttps2pi 60(%rbx), %mm1
        roundss $2, 61(%rbx), %xmm1
        roundsd $2, 61(%rbx), %xmm1
        cvtdq2pd 61(%rbx), %xmm1
        cvtps2pd 61(%rbx), %xmm1
        cvtps2pi 61(%rbx), %mm1
        cvttps2pi 61(%rbx), %mm1
        roundss $2, 4093(%rbx), %xmm1
        roundsd $2, 4093(%rbx), %xmm1
        cvtdq2pd 4093(%rbx), %xmm1
        cvtps2pd 4093(%rbx), %xmm1
        cvtps2pi 4093(%rbx), %mm1
        cvttps2pi 4093(%rbx), %mm1
        cvtpd2pi (%rbx), %mm1
        cvttpd2pi 48(%rbx), %mm1
        emms
        stmxcsr 61(%rbx)
        ldmxcsr safe(%rip)
        stmxcsr 8(%rbx)
        pmovmskb %xmm1, %eax
        movmskps %xmm1, %ecx
        ucomisd %xmm1, %xmm2
        jp      1f
        ja      1f
        inc     %rdx
1:
        ENDREPEAT
        EXIT
