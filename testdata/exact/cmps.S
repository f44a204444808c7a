// covers: cmps
// by hand: Valgrind 3.19 does not decode CMPS without REPE
// VEX after 3.19 reads the byte at RDI, then the one at RSI: two reads, as in a round of REPE CMPS.
#include "rt.h"
        MEMORY  4096, 5
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        lea     mem+60(%rip), %rsi      //= Ir 10: no memory
        lea     mem+252(%rip), %rdi     //= Ir 10: no memory
        cmpsb                           //= Ir 10 Dr 20 D1mr 2 DLmr 2: two lines that are new
        cmpsw                           //= Ir 10 Dr 20 D1mr 0 DLmr 0: bytes 61, 62 and 253, 254
        cmpsl                           //= Ir 10 Dr 20 D1mr 2 DLmr 2: both go over the end of their lines
        cmpsq                           //= Ir 10 Dr 20 D1mr 0 DLmr 0: both in the new lines
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
