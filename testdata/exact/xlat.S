// covers: xlat
// by hand: Valgrind 3.19 does not decode XLAT
// XLAT loads one byte at RBX + AL (Intel SDM, XLAT): a read of one byte, like any load.
#include "rt.h"
        MEMORY  4096, 3
        START                           //= Ir 1: LEA
        lea     mem(%rip), %rbx         //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        mov     $127, %eax              //= Ir 10: no memory
        xlat                            //= Ir 10 Dr 10 D1mr 1 DLmr 1: its byte is the last of the second line
        mov     64(%rbx), %rax          //= Ir 10 Dr 10 D1mr 0 DLmr 0: the line that XLAT brought
        mov     128(%rbx), %rax         //= Ir 10 Dr 10 D1mr 1 DLmr 1: the line after was not touched
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
