// covers: sse-convert sse-convert-split
// Conversions from memory, of which some read their operand in parts.
#include "rt.h"
        MEMORY  8192, 0
        START
        REPEAT  30
        .irp    at, 0, 57, 61, 4092
        lea     mem+\at(%rip), %rbx
        cvtsi2ss (%rbx), %xmm0
        cvtsi2ssq (%rbx), %xmm0
        cvtsi2sd (%rbx), %xmm0
        cvtsi2sdq (%rbx), %xmm0
        cvtss2si (%rbx), %eax
        cvttss2si (%rbx), %rax
        cvtsd2si (%rbx), %rax
        cvttsd2si (%rbx), %eax
        cvtss2sd (%rbx), %xmm1
        cvtsd2ss (%rbx), %xmm1
        cvtps2pd (%rbx), %xmm2
        cvtdq2pd (%rbx), %xmm2
        cvtpi2ps (%rbx), %xmm3
        cvtpi2pd (%rbx), %xmm3
        cvtps2pi (%rbx), %mm0
        cvttps2pi (%rbx), %mm1
        .endr
        .irp    at, 0, 48, 4080
        lea     mem+\at(%rip), %rbx
        cvtdq2ps (%rbx), %xmm4
        cvtps2dq (%rbx), %xmm4
        cvttps2dq (%rbx), %xmm4
        cvtpd2ps (%rbx), %xmm5
        cvtpd2dq (%rbx), %xmm5
        cvttpd2dq (%rbx), %xmm5
        cvtpd2pi (%rbx), %mm2
        cvttpd2pi (%rbx), %mm3
        .endr
        emms
        ENDREPEAT
        EXIT
