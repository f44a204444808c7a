// covers: mmx
// MMX with operands in memory, at every place.
#include "rt.h"
        MEMORY  8192
        START
        REPEAT  30
        .irp    at, 0, 57, 61, 4093
        lea     mem+\at(%rip), %rbx
        movq    (%rbx), %mm0
        movd    (%rbx), %mm1
        paddb   (%rbx), %mm0
        psubusw (%rbx), %mm1
        pmullw  (%rbx), %mm2
        pmaddwd (%rbx), %mm3
        pand    (%rbx), %mm4
        pcmpgtd (%rbx), %mm5
        packsswb (%rbx), %mm6
        punpcklbw (%rbx), %mm6
        punpckhdq (%rbx), %mm7
        psadbw  (%rbx), %mm1
        pshufw  $3, (%rbx), %mm2
        pabsb   (%rbx), %mm3
        pshufb  (%rbx), %mm4
        phaddw  (%rbx), %mm5
        palignr $3, (%rbx), %mm6
        movq    %mm0, (%rbx)
        movd    %mm1, (%rbx)
        movntq  %mm2, 8(%rbx)
        movq2dq %mm0, %xmm0
        movdq2q %xmm0, %mm7
        .endr
        emms
        ENDREPEAT
        EXIT
