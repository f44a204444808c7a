// covers: enter-level
// by hand: Valgrind 3.19 does not decode ENTER of level 1 and more
// ENTER pushes RBP, copies LEVEL - 1 frame pointers from below the old RBP, and pushes the new one (Intel SDM, ENTER):
// one write, LEVEL - 1 pairs of a read and a write, one write. A copy is not a modify, for its two places differ.
#include "rt.h"
        START                           //= Ir 1: LEA
        lea     -4096(%rsp), %rbx       //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        mov     %rbx, %rsp              //= Ir 10: no memory
        lea     1024(%rbx), %rbp        //= Ir 10: no memory
        enter   $16, $1                 //= Ir 10 Dw 20 D1mw 1 DLmw 1: two pushes, into one line
        mov     %rbx, %rsp              //= Ir 10: no memory
        lea     1024(%rbx), %rbp        //= Ir 10: no memory
        enter   $0, $3                  //= Ir 10 Dr 20 Dw 40 D1mr 1 DLmr 1 D1mw 0 DLmw 0: two copies between two pushes
        leave                           //= Ir 10 Dr 10 D1mr 0 DLmr 0: RBP as it was pushed
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
