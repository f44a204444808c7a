// covers: integer-load integer-store integer-extend movabs integer-immediate data-line data-page
// Every width of load, store and extension at every byte of a line and over the end of a page.
#include "rt.h"
        MEMORY  12288
        START
        REPEAT  140
        lea     mem+4096-70(%r15), %rbx
        mov     (%rbx), %al
        mov     (%rbx), %ah
        mov     (%rbx), %cx
        mov     (%rbx), %edx
        mov     (%rbx), %rsi
        movzbl  (%rbx), %eax
        movzwl  (%rbx), %eax
        movsbq  (%rbx), %rax
        movswl  (%rbx), %eax
        movslq  (%rbx), %rax
        mov     %al, 1(%rbx)
        mov     %ch, 2(%rbx)
        mov     %cx, 3(%rbx)
        mov     %edx, 4(%rbx)
        mov     %rsi, 5(%rbx)
        movb    $1, 6(%rbx)
        movw    $1, 7(%rbx)
        movl    $1, 8(%rbx)
        movq    $-1, 9(%rbx)
        ENDREPEAT
        REPEAT  20
        movabs  mem+4093, %al
        movabs  mem+4093, %ax
        movabs  mem+4093, %eax
        movabs  mem+4093, %rax
        movabs  %al, mem+61
        movabs  %ax, mem+61
        movabs  %eax, mem+61
        movabs  %rax, mem+61
        ENDREPEAT
        EXIT
