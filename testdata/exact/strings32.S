// covers: string-addr32 rep-movs rep-stos repe-scas
// String instructions with 32-bit addresses: only ESI, EDI and ECX count.
#include "rt.h"
        MEMORY  8192, 0x20
        START
        REPEAT  10
        mov     $mem+61, %esi
        mov     $mem+4090, %edi
        addr32 movsb
        addr32 movsl
        addr32 lodsq
        addr32 stosw
        addr32 scasb
        mov     kept(%rip), %rcx
        addr32 rep movsw
        mov     %r15d, %ecx
        addr32 rep stosq
        mov     $mem+61, %edi
        mov     %r15d, %ecx
        mov     $0x20, %al
        addr32 repe scasb
        xor     %ecx, %ecx
        addr32 rep movsb
        mov     %r15d, %ecx
1:      inc     %rax
        addr32 loop 1b
        addr32 jrcxz 2f
        ud2
2:
        ENDREPEAT
        EXIT
