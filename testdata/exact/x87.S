// covers: x87-float x87-integer x87-extended x87-control
/* x87 loads, stores, arithmetic and control of every size, across lines and pages. */
#include "rt.h"

        .data
        .balign 4096
mem:    .skip   8192, 0

        START
        lea     mem(%rip), %rbx
        fninit
        REPEAT  20
        fld1
        fstps  (%rbx)
        flds  (%rbx)
        fstps  (%rbx)
        fld1
        fstpl  (%rbx)
        fldl  (%rbx)
        fstpl  (%rbx)
        fld1
        fstpt  (%rbx)
        fldt  (%rbx)
        fstpt  (%rbx)
        fld1
        fistps  (%rbx)
        filds  (%rbx)
        fistps  (%rbx)
        fld1
        fistpl  (%rbx)
        fildl  (%rbx)
        fistpl  (%rbx)
        fld1
        fistpll  (%rbx)
        fildll  (%rbx)
        fistpll  (%rbx)
        fld1
        fsts    (%rbx)
        fstl    (%rbx)
        fists   (%rbx)
        fistl   (%rbx)
        fisttps (%rbx)
        fld1
        fisttpl (%rbx)
        fld1
        fisttpll (%rbx)
        fld1
        fstpl   (%rbx)
        fld1
        fld1
        fstl    (%rbx)
        faddl  (%rbx)
        fsts    (%rbx)
        fadds  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fiaddl (%rbx)
        fists   (%rbx)
        fiadds (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fmull  (%rbx)
        fsts    (%rbx)
        fmuls  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fimull (%rbx)
        fists   (%rbx)
        fimuls (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fcoml  (%rbx)
        fsts    (%rbx)
        fcoms  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fists   (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubl  (%rbx)
        fsts    (%rbx)
        fsubs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubl (%rbx)
        fists   (%rbx)
        fisubs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubrl  (%rbx)
        fsts    (%rbx)
        fsubrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubrl (%rbx)
        fists   (%rbx)
        fisubrs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivl  (%rbx)
        fsts    (%rbx)
        fdivs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivl (%rbx)
        fists   (%rbx)
        fidivs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivrl  (%rbx)
        fsts    (%rbx)
        fdivrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivrl (%rbx)
        fists   (%rbx)
        fidivrs (%rbx)
        fstp    %st(0)
        fcomps  (%rbx)
        fld1
        fcompl  (%rbx)
        fnstcw  (%rbx)
        fnstsw  (%rbx)
        fnstsw  %ax
        fld1
        fstps  59(%rbx)
        flds  59(%rbx)
        fstps  59(%rbx)
        fld1
        fstpl  59(%rbx)
        fldl  59(%rbx)
        fstpl  59(%rbx)
        fld1
        fstpt  59(%rbx)
        fldt  59(%rbx)
        fstpt  59(%rbx)
        fld1
        fistps  59(%rbx)
        filds  59(%rbx)
        fistps  59(%rbx)
        fld1
        fistpl  59(%rbx)
        fildl  59(%rbx)
        fistpl  59(%rbx)
        fld1
        fistpll  59(%rbx)
        fildll  59(%rbx)
        fistpll  59(%rbx)
        fld1
        fsts    59(%rbx)
        fstl    59(%rbx)
        fists   59(%rbx)
        fistl   59(%rbx)
        fisttps 59(%rbx)
        fld1
        fisttpl 59(%rbx)
        fld1
        fisttpll 59(%rbx)
        fld1
        fstpl   (%rbx)
        fld1
        fld1
        fstl    (%rbx)
        faddl  (%rbx)
        fsts    (%rbx)
        fadds  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fiaddl (%rbx)
        fists   (%rbx)
        fiadds (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fmull  (%rbx)
        fsts    (%rbx)
        fmuls  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fimull (%rbx)
        fists   (%rbx)
        fimuls (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fcoml  (%rbx)
        fsts    (%rbx)
        fcoms  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fists   (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubl  (%rbx)
        fsts    (%rbx)
        fsubs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubl (%rbx)
        fists   (%rbx)
        fisubs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubrl  (%rbx)
        fsts    (%rbx)
        fsubrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubrl (%rbx)
        fists   (%rbx)
        fisubrs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivl  (%rbx)
        fsts    (%rbx)
        fdivs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivl (%rbx)
        fists   (%rbx)
        fidivs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivrl  (%rbx)
        fsts    (%rbx)
        fdivrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivrl (%rbx)
        fists   (%rbx)
        fidivrs (%rbx)
        fstp    %st(0)
        fcomps  (%rbx)
        fld1
        fcompl  (%rbx)
        fnstcw  59(%rbx)
        fnstsw  59(%rbx)
        fnstsw  %ax
        fld1
        fstps  63(%rbx)
        flds  63(%rbx)
        fstps  63(%rbx)
        fld1
        fstpl  63(%rbx)
        fldl  63(%rbx)
        fstpl  63(%rbx)
        fld1
        fstpt  63(%rbx)
        fldt  63(%rbx)
        fstpt  63(%rbx)
        fld1
        fistps  63(%rbx)
        filds  63(%rbx)
        fistps  63(%rbx)
        fld1
        fistpl  63(%rbx)
        fildl  63(%rbx)
        fistpl  63(%rbx)
        fld1
        fistpll  63(%rbx)
        fildll  63(%rbx)
        fistpll  63(%rbx)
        fld1
        fsts    63(%rbx)
        fstl    63(%rbx)
        fists   63(%rbx)
        fistl   63(%rbx)
        fisttps 63(%rbx)
        fld1
        fisttpl 63(%rbx)
        fld1
        fisttpll 63(%rbx)
        fld1
        fstpl   (%rbx)
        fld1
        fld1
        fstl    (%rbx)
        faddl  (%rbx)
        fsts    (%rbx)
        fadds  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fiaddl (%rbx)
        fists   (%rbx)
        fiadds (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fmull  (%rbx)
        fsts    (%rbx)
        fmuls  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fimull (%rbx)
        fists   (%rbx)
        fimuls (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fcoml  (%rbx)
        fsts    (%rbx)
        fcoms  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fists   (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubl  (%rbx)
        fsts    (%rbx)
        fsubs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubl (%rbx)
        fists   (%rbx)
        fisubs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubrl  (%rbx)
        fsts    (%rbx)
        fsubrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubrl (%rbx)
        fists   (%rbx)
        fisubrs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivl  (%rbx)
        fsts    (%rbx)
        fdivs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivl (%rbx)
        fists   (%rbx)
        fidivs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivrl  (%rbx)
        fsts    (%rbx)
        fdivrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivrl (%rbx)
        fists   (%rbx)
        fidivrs (%rbx)
        fstp    %st(0)
        fcomps  (%rbx)
        fld1
        fcompl  (%rbx)
        fnstcw  63(%rbx)
        fnstsw  63(%rbx)
        fnstsw  %ax
        fld1
        fstps  4090(%rbx)
        flds  4090(%rbx)
        fstps  4090(%rbx)
        fld1
        fstpl  4090(%rbx)
        fldl  4090(%rbx)
        fstpl  4090(%rbx)
        fld1
        fstpt  4090(%rbx)
        fldt  4090(%rbx)
        fstpt  4090(%rbx)
        fld1
        fistps  4090(%rbx)
        filds  4090(%rbx)
        fistps  4090(%rbx)
        fld1
        fistpl  4090(%rbx)
        fildl  4090(%rbx)
        fistpl  4090(%rbx)
        fld1
        fistpll  4090(%rbx)
        fildll  4090(%rbx)
        fistpll  4090(%rbx)
        fld1
        fsts    4090(%rbx)
        fstl    4090(%rbx)
        fists   4090(%rbx)
        fistl   4090(%rbx)
        fisttps 4090(%rbx)
        fld1
        fisttpl 4090(%rbx)
        fld1
        fisttpll 4090(%rbx)
        fld1
        fstpl   (%rbx)
        fld1
        fld1
        fstl    (%rbx)
        faddl  (%rbx)
        fsts    (%rbx)
        fadds  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fiaddl (%rbx)
        fists   (%rbx)
        fiadds (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fmull  (%rbx)
        fsts    (%rbx)
        fmuls  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fimull (%rbx)
        fists   (%rbx)
        fimuls (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fcoml  (%rbx)
        fsts    (%rbx)
        fcoms  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fists   (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubl  (%rbx)
        fsts    (%rbx)
        fsubs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubl (%rbx)
        fists   (%rbx)
        fisubs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fsubrl  (%rbx)
        fsts    (%rbx)
        fsubrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fisubrl (%rbx)
        fists   (%rbx)
        fisubrs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivl  (%rbx)
        fsts    (%rbx)
        fdivs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivl (%rbx)
        fists   (%rbx)
        fidivs (%rbx)
        fstp    %st(0)
        fld1
        fstl    (%rbx)
        fdivrl  (%rbx)
        fsts    (%rbx)
        fdivrs  (%rbx)
        fstp    %st(0)
        fld1
        fistl   (%rbx)
        fidivrl (%rbx)
        fists   (%rbx)
        fidivrs (%rbx)
        fstp    %st(0)
        fcomps  (%rbx)
        fld1
        fcompl  (%rbx)
        fnstcw  4090(%rbx)
        fnstsw  4090(%rbx)
        fnstsw  %ax
        fnstcw  (%rbx)
        fldcw   (%rbx)
        fnstenv 61(%rbx)
        fldenv  61(%rbx)
        fnstenv 4090(%rbx)
        fldenv  4090(%rbx)
        fldpi
        fld1
        fnsave  128(%rbx)
        frstor  128(%rbx)
        fnsave  4000(%rbx)
        frstor  4000(%rbx)
        fxch
        fucomi  %st(1)
        ja      1f
        inc     %rdx
1:
        faddp
        fsqrt
        fabs
        fchs
        frndint
        fldz
        fxtract
        fstp    %st(0)
        fstp    %st(0)
        fldl2e
        fmulp
        fprem
        f2xm1
        fstp    %st(0)
        fldz
        fptan
        fpatan
        fstp    %st(0)
        ffree   %st(0)
        fincstp
        fnclex
        fninit
        wait
        ENDREPEAT
        EXIT
