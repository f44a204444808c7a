// covers: x87-float x87-integer x87-extended
// Every x87 load and store at every byte of a line and over the end of a page.
#include "rt.h"
        MEMORY  12288, 0
        START
        fninit
        REPEAT  80
        lea     mem+4096-70(%r15), %rbx
        fldz
        fsts    (%rbx)
        fstps   4(%rbx)
        flds    (%rbx)
        fstl    (%rbx)
        fstpl   8(%rbx)
        fldl    (%rbx)
        fstpt   (%rbx)
        fldt    (%rbx)
        fists   (%rbx)
        fistps  2(%rbx)
        filds   (%rbx)
        fistl   (%rbx)
        fistpl  4(%rbx)
        fildl   (%rbx)
        fistpll (%rbx)
        fildll  (%rbx)
        fisttps (%rbx)
        filds   (%rbx)
        fisttpl (%rbx)
        fildl   (%rbx)
        fisttpll (%rbx)
        ENDREPEAT
        EXIT
