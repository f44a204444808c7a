// covers: repne-cmps
// by hand: Valgrind 3.19 does not decode REPNE CMPS
// VEX after 3.19 does it as REPE CMPS with the condition the other way round: with RCX zero one instruction and one branch;
// each comparison is an instruction with two reads and two branches, and a last test of RCX is one more of each.
#include "rt.h"
        MEMORY  4096, 5
        .data
        .balign 64
other:  .byte   9, 9, 9, 5
        .skip   124, 9
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        lea     mem(%rip), %rsi         //= Ir 10: no memory
        lea     other(%rip), %rdi       //= Ir 10: no memory
        xor     %ecx, %ecx              //= Ir 10: no memory
        repne cmpsb                     //= Ir 10 Bc 10: one test of RCX
        mov     $20, %ecx               //= Ir 10: no memory
        repne cmpsb                     //= Ir 40 Dr 80 D1mr 2 DLmr 2 Bc 80: the fourth bytes are equal
        mov     $20, %ecx               //= Ir 10: no memory
        repne cmpsb                     //= Ir 210 Dr 400 D1mr 0 DLmr 0 Bc 410: none of twenty is equal
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
