// covers: random
// by hand: the host that Valgrind shows may have no RDRAND and RDSEED
// They write a register and the flags (Intel SDM, RDRAND).
#include "rt.h"
        START                           //= Ir 1: LEA
        REPEAT  10                      //= Ir 1: MOV
        rdrand  %eax                    //= Ir 10: no memory
        rdrand  %rcx                    //= Ir 10: no memory
        rdseed  %rdx                    //= Ir 10: no memory
        jc      1f                      //= Ir 10 Bc 10: one branch
        ud2
1:
        ENDREPEAT                       //= Ir 20 Bc 10: DEC and JNZ
        EXIT                            //= Ir 3: MOV, XOR, SYSCALL
