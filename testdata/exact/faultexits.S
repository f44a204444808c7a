// covers: fault signal
// What is before an exit from the superblock is not forgotten: the queue is flushed there.
#include "rt.h"
        MEMORY  8192, 0
        .set    AT, 0x20000000
        .data
control: .short 0x37f
        .balign 4
vector: .long 0x1f80
        .balign 4096
        START
        PAGES
        lea     mem(%rip), %r14
        REPEAT  10
        FAULTS  "nop; jrcxz 1f; nop; add (%rbp), %rdx; 1:"
        FAULTS  "mov $7, %ecx; jrcxz 1f; nop; add (%rbp), %rdx; 1:"
        FAULTS  "mov (%r14), %rcx; inc %rcx; loop 1f; nop; 1: nop; add (%rbp), %rdx"
        FAULTS  "nop; lock incl (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; xchg %rdx, (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; lock cmpxchg %rdx, (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; lock cmpxchg16b (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; lock cmpxchg8b (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; movaps (%r14), %xmm1; nop; add (%rbp), %rdx"
        FAULTS  "nop; movaps %xmm1, 16(%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; movaps mem+16(%rip), %xmm1; nop; add (%rbp), %rdx"
        FAULTS  "nop; movaps (%rbp), %xmm1"
        FAULTS  "nop; movaps %xmm1, (%rbp)"
        FAULTS  "nop; movaps 1(%r14), %xmm1"
        FAULTS  "nop; movups (%r14), %xmm1; nop; add (%rbp), %rdx"
        FAULTS  "nop; ldmxcsr vector(%rip); nop; add (%rbp), %rdx"
        FAULTS  "nop; stmxcsr vector(%rip); nop; add (%rbp), %rdx"
        FAULTS  "nop; fldcw control(%rip); nop; add (%rbp), %rdx"
        FAULTS  "nop; fnstcw control(%rip); nop; add (%rbp), %rdx"
        FAULTS  "nop; fnstenv 1024(%r14); nop; fldenv 1024(%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; fnsave 1024(%r14); nop; frstor 1024(%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; fxsave 1024(%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; fxrstor 1024(%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; pushfq; popfq; nop; add (%rbp), %rdx"
        FAULTS  "nop; cld; nop; sahf; add (%rbp), %rdx"
        FAULTS  "nop; mfence; nop; add (%rbp), %rdx"
        FAULTS  "nop; cpuid; nop; add (%rbp), %rdx"
        FAULTS  "nop; rdtsc; nop; add (%rbp), %rdx"
        FAULTS  "nop; rdtscp; nop; add (%rbp), %rdx"
        FAULTS  "nop; fninit; nop; add (%rbp), %rdx"
        FAULTS  "nop; finit; wait; nop; add (%rbp), %rdx"
        FAULTS  "nop; and $7, %ecx; bt %rcx, (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; bts %rcx, %rdx; nop; add (%rbp), %rdx"
        FAULTS  "nop; emms; nop; add (%rbp), %rdx"
        FAULTS  "nop; prefetcht0 (%rbp); nop; add (%rbp), %rdx"
        FAULTS  "nop; pcmpistri $0, (%r14), %xmm1; nop; add (%rbp), %rdx"
        FAULTS  "nop; clflush (%r14); nop; add (%rbp), %rdx"
        FAULTS  "nop; pause; nop; add (%rbp), %rdx"
        FAULTS  "nop; mov %r14, %rsi; mov %rbp, %rdi; mov (%r14), %rcx; inc %rcx; rep movsb"
        FAULTS  "nop; mov %r14, %rdi; mov %rbp, %rsi; mov (%r14), %rcx; inc %rcx; rep movsb"
        FAULTS  "nop; mov %rbp, %rsi; mov $5, %ecx; rep movsb"
        FAULTS  "nop; mov %rbp, %rdi; mov $5, %ecx; rep stosb"
        FAULTS  "nop; mov %rbp, %rdi; mov (%r14), %rcx; inc %rcx; rep stosq"
        FAULTS  "nop; lea 4092(%r13), %rsi; mov %r14, %rdi; mov (%r14), %rcx; add $9, %rcx; rep movsb"
        FAULTS  "nop; mov %rbp, %rdi; mov (%r14), %rcx; inc %rcx; repne scasb"
        FAULTS  "nop; lea 4092(%r13), %rdi; mov (%r14), %rcx; add $9, %rcx; xor %eax, %eax; repe scasb"
        FAULTS  "nop; lea 4092(%r13), %rdi; mov %r14, %rsi; mov (%r14), %rcx; add $9, %rcx; repe cmpsb"
        FAULTS  "nop; lea 4092(%r13), %rsi; mov %r14, %rdi; mov (%r14), %rcx; add $9, %rcx; repe cmpsb"
        FAULTS  "nop; mov %rbp, %rsi; mov %r14, %rdi; movsb"
        FAULTS  "nop; mov %rbp, %rdi; mov %r14, %rsi; movsb"
        FAULTS  "nop; mov %rbp, %rdi; stosb"
        FAULTS  "nop; mov %rbp, %rsi; lodsb; mov %al, (%r14)"
        ENDREPEAT
        FAULTED
