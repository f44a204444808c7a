// covers: rt_sigaction rt_sigprocmask rt_sigpending rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack kill tgkill tkill
// covers: rt_sigsuspend rt_sigtimedwait timer_create timer_settime timer_getoverrun pause prlimit64
/* Signals: their calls' errors, flags of actions, the order in which they come, and what handlers may change. */
#include "cases.h"
#include <sys/time.h>
#include <ucontext.h>

static volatile int order[64], count;
static void note(int signo)
{
    order[count++ & 63] = signo;
}
static void noted(const char *what)
{
    printf("%s:", what);
    for (int i = 0; i < count; i++)
        printf(" %d", order[i] >= SIGRTMIN ? order[i] - SIGRTMIN + 100 : order[i]);
    printf("\n");
    count = 0;
}
static void handle(int signo, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signo, &action, NULL);
}
static sigset_t all_blocked(void)
{
    sigset_t set, old;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, &old);
    return old;
}
static void unblock(sigset_t old)
{
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void lowest_number_first(void)
{
    const int signals[] = {SIGTERM, SIGUSR2, SIGHUP, SIGRTMIN + 3, SIGUSR1, SIGRTMIN + 1};
    for (unsigned i = 0; i < 6; i++) {
        struct sigaction action = {.sa_handler = note};
        sigfillset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    sigset_t old = all_blocked();
    for (unsigned i = 0; i < 6; i++)
        kill(getpid(), signals[i]);
    unblock(old);
    noted("delivered");
}

static void nested_without_a_mask(void)
{
    /* Each frame is on top of the one before: the last one found runs first. */
    handle(SIGUSR1, note, 0);
    handle(SIGUSR2, note, 0);
    handle(SIGHUP, note, 0);
    sigset_t old = all_blocked();
    kill(getpid(), SIGUSR2);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGUSR1);
    unblock(old);
    noted("delivered");
}

static void own_before_the_process(void)
{
    handle(SIGUSR1, note, SA_NODEFER);
    struct sigaction action = {.sa_handler = note};
    sigfillset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigset_t old = all_blocked();
    kill(getpid(), SIGHUP);
    tgkill(getpid(), (int)S(gettid), SIGUSR2);
    unblock(old);
    noted("delivered");
}

static void standard_signals_wait_once(void)
{
    handle(SIGUSR1, note, 0);
    handle(SIGRTMIN, note, 0);
    sigset_t old = all_blocked();
    for (int i = 0; i < 3; i++) {
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGRTMIN);
    }
    unblock(old);
    noted("delivered");
}

static void values(int signo, siginfo_t *info, void *context)
{
    (void)context, (void)signo;
    order[count++ & 63] = info->si_value.sival_int;
}
static void queued_in_order(void)
{
    struct sigaction action = {.sa_sigaction = values, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigaction(SIGRTMIN + 2, &action, NULL);
    sigset_t old = all_blocked();
    for (int i = 1; i <= 4; i++) {
        sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = i});
        sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 10 + i});
    }
    unblock(old);
    noted("values");
}

static void a_fault_comes_first(void)
{
    /* A synchronous signal goes before a lower number that waits. */
    const int signals[] = {SIGHUP, SIGTRAP};
    for (int i = 0; i < 2; i++) {
        struct sigaction action = {.sa_handler = note};
        sigfillset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    sigset_t old = all_blocked();
    S(tgkill, getpid(), S(gettid), SIGHUP);
    S(tgkill, getpid(), S(gettid), SIGTRAP);
    unblock(old);
    noted("delivered");

}

static void the_limit_of_queued_signals(void)
{
    struct rlimit none = {0, 0};
    sigset_t old = all_blocked(), pending;
    setrlimit(RLIMIT_SIGPENDING, &none);
    check(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 1}));
    T(tgkill, getpid(), S(gettid), SIGRTMIN);
    /* kill is never refused, and a standard signal waits in any case. */
    check(kill(getpid(), SIGUSR1));
    check(kill(getpid(), SIGRTMIN + 1));
    sigpending(&pending);
    num(sigismember(&pending, SIGUSR1));
    num(sigismember(&pending, SIGRTMIN));
    num(sigismember(&pending, SIGRTMIN + 1));
    signal(SIGUSR1, SIG_IGN);
    signal(SIGRTMIN + 1, SIG_IGN);
    unblock(old);
}

static volatile int depth, deepest;
static void again(int signo)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (depth < 3)
        raise(signo);
    depth--;
}
static void nodefer_nests(void)
{
    handle(SIGUSR1, again, SA_NODEFER);
    raise(SIGUSR1);
    num(deepest);
}
static void without_nodefer_it_waits(void)
{
    handle(SIGUSR1, note, 0);
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    raise(SIGUSR1);
    noted("delivered");
}
static void resethand_is_once(void)
{
    handle(SIGUSR1, note, SA_RESETHAND);
    raise(SIGUSR1);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    is(now.sa_handler == SIG_DFL);
    printf("flags kept: %d\n", (now.sa_flags & SA_RESETHAND) != 0);
    fflush(stdout);
    raise(SIGUSR1);
}
static void unknown_flags_are_dropped(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = 0x00000400 /* SA_UNSUPPORTED */ | SA_RESTART};
    check(sigaction(SIGUSR1, &action, NULL));
    sigaction(SIGUSR1, NULL, &action);
    printf("flags %#x\n", action.sa_flags & ~0x04000000);
}
static void actions_that_are_refused(void)
{
    struct sigaction action = {.sa_handler = note};
    check(sigaction(SIGKILL, &action, NULL));
    check(sigaction(SIGSTOP, &action, NULL));
    check(sigaction(0, &action, NULL));
    check(sigaction(65, NULL, NULL));
    T(rt_sigaction, SIGKILL, NULL, NULL, 8);
    T(rt_sigaction, SIGUSR1, NULL, NULL, 4);
    T(rt_sigaction, SIGUSR1, BAD, NULL, 8);
    T(rt_sigaction, SIGUSR1, NULL, BAD, 8);
}
static void masks_that_are_refused(void)
{
    unsigned long set = ~0ul;
    T(rt_sigprocmask, 3, &set, NULL, 8);
    T(rt_sigprocmask, 3, NULL, &set, 8);
    T(rt_sigprocmask, SIG_BLOCK, &set, NULL, 16);
    T(rt_sigprocmask, SIG_BLOCK, BAD, NULL, 8);
    T(rt_sigprocmask, SIG_BLOCK, NULL, BAD, 8);
    set = ~0ul;
    T(rt_sigprocmask, SIG_SETMASK, &set, NULL, 8);
    T(rt_sigprocmask, SIG_SETMASK, NULL, &set, 8);
    printf("unblockable: %#lx\n", ~set);
    T(rt_sigpending, BAD, 8);
    T(rt_sigpending, &set, 16);
    T(rt_sigpending, &set, 4);
    T(rt_sigsuspend, &set, 4);
    T(rt_sigsuspend, BAD, 8);
    T(rt_sigtimedwait, &set, NULL, &((struct timespec){0, -1}), 8);
    T(rt_sigtimedwait, &set, NULL, &((struct timespec){-1, 0}), 8);
    T(rt_sigtimedwait, &set, NULL, &((struct timespec){0, 0}), 8);
    T(rt_sigtimedwait, &set, NULL, BAD, 8);
    T(rt_sigtimedwait, BAD, NULL, NULL, 8);
}
static void kills_that_are_refused(void)
{
    T(kill, getpid(), 65);
    T(kill, getpid(), -1);
    T(kill, getpid(), 0);
    T(kill, 0x3ffffe, 0);
    T(kill, -0x3ffffe, 0);
    T(kill, (int)0x80000000, 0);
    T(tgkill, getpid(), S(gettid), 65);
    T(tgkill, 0, S(gettid), 0);
    T(tgkill, getpid(), 0, 0);
    T(tgkill, getpid(), -1, 0);
    T(tgkill, getpid(), 0x3ffffe, 0);
    T(tgkill, 0x3ffffe, S(gettid), 0);
    T(tkill, 0, 0);
    T(tkill, -1, 0);
    T(tkill, 0x3ffffe, SIGUSR1);
    T(tkill, S(gettid), 0);
}
static void queueing_to_others(void)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    /* Only a process itself may say that the kernel or kill sent it. */
    const int codes[] = {SI_USER, SI_KERNEL, SI_TKILL, SI_QUEUE, SI_TIMER, SI_MESGQ, -60, 1};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        info.si_code = codes[i];
        printf("code %d: ", codes[i]);
        show("rt_sigqueueinfo", S(rt_sigqueueinfo, child, 0, &info));
        show("  rt_tgsigqueueinfo", S(rt_tgsigqueueinfo, child, child, 0, &info));
    }
    info.si_code = SI_QUEUE;
    T(rt_sigqueueinfo, child, 65, &info);
    T(rt_sigqueueinfo, 0x3ffffe, 0, &info);
    T(rt_sigqueueinfo, child, 0, BAD);
    T(rt_tgsigqueueinfo, child, getpid(), 0, &info);
    T(rt_tgsigqueueinfo, -1, child, 0, &info);
    T(rt_tgsigqueueinfo, child, 0, 0, &info);
    kill(child, SIGKILL);
    reap("child", child, 0);
}
static void queueing_to_itself(void)
{
    siginfo_t info, got;
    memset(&info, 0, sizeof info);
    all_blocked();
    info.si_code = SI_KERNEL;
    info.si_value.sival_int = 77;
    check(S(rt_sigqueueinfo, getpid(), SIGUSR1, &info));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    num(sigwaitinfo(&set, &got));
    printf("code %#x value %d\n", got.si_code, got.si_value.sival_int);
}

static char other[65536];
static volatile int on_stack, flags_inside, disarmed;
static void where(int signo)
{
    stack_t now;
    char here;
    (void)signo;
    on_stack = &here >= other && &here < other + sizeof other;
    sigaltstack(NULL, &now);
    flags_inside = now.ss_flags;
    stack_t same = {.ss_sp = other, .ss_size = sizeof other};
    disarmed = now.ss_flags & SS_DISABLE ? 0 : sigaltstack(&same, NULL) == 0 ? 0 : errno;
}
static void alternate_stack(void)
{
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other}, old;
    check(sigaltstack(&stack, NULL));
    handle(SIGUSR1, where, SA_ONSTACK);
    raise(SIGUSR1);
    printf("on it %d, flags %d, change inside: %s\n", on_stack, flags_inside, disarmed ? strerrorname_np(disarmed) : "ok");
    sigaltstack(NULL, &old);
    printf("after: flags %d\n", old.ss_flags);
    handle(SIGUSR1, where, 0);
    raise(SIGUSR1);
    printf("without SA_ONSTACK: on it %d\n", on_stack);
}
static void alternate_stack_autodisarm(void)
{
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other, .ss_flags = (int)(1u << 31)}, old;
    check(sigaltstack(&stack, NULL));
    handle(SIGUSR1, where, SA_ONSTACK);
    raise(SIGUSR1);
    printf("on it %d, flags %#x, change inside: %s\n", on_stack, flags_inside, disarmed ? strerrorname_np(disarmed) : "ok");
    sigaltstack(NULL, &old);
    printf("after: flags %#x\n", old.ss_flags);
}
static void alternate_stacks_that_are_refused(void)
{
    stack_t stack = {.ss_sp = other, .ss_size = 2047}, old;
    T(sigaltstack, &stack, NULL);
    stack.ss_size = sizeof other;
    stack.ss_flags = 4;
    T(sigaltstack, &stack, NULL);
    stack.ss_flags = SS_ONSTACK | SS_DISABLE;
    T(sigaltstack, &stack, NULL);
    stack.ss_flags = SS_ONSTACK;
    T(sigaltstack, &stack, NULL);
    T(sigaltstack, NULL, &old);
    printf("flags %d\n", old.ss_flags);
    stack.ss_flags = SS_DISABLE;
    T(sigaltstack, &stack, &old);
    T(sigaltstack, NULL, &old);
    printf("flags %d sp %d size %zu\n", old.ss_flags, old.ss_sp == NULL, old.ss_size);
    T(sigaltstack, BAD, NULL);
    T(sigaltstack, NULL, BAD);
}

static void edit(int signo, siginfo_t *info, void *arg)
{
    ucontext_t *context = arg;
    (void)signo, (void)info;
    sigaddset(&context->uc_sigmask, SIGUSR2);
    sigaddset(&context->uc_sigmask, SIGKILL);
    context->uc_mcontext.gregs[REG_R12] = 0x1234;
    /* Register 7 of XMM, which the program compares afterwards. */
    context->uc_mcontext.fpregs->_xmm[7].element[0] = 0xabcdef;
    context->uc_mcontext.fpregs->mxcsr = 0x1f80 | 1;
}
static void an_edited_context_takes_effect(void)
{
    struct sigaction action = {.sa_sigaction = edit, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    unsigned long r12, low;
    unsigned mxcsr;
    long pid = getpid(), result;
    __asm__ volatile("xor %%r12, %%r12\n pxor %%xmm7, %%xmm7\n syscall\n mov %%r12, %1\n movq %%xmm7, %2\n stmxcsr %3"
                     : "=a"(result), "=&r"(r12), "=&r"(low), "=m"(mxcsr)
                     : "a"(SYS_kill), "D"(pid), "S"((long)SIGUSR1)
                     : "rcx", "r11", "r12", "xmm7", "memory");
    printf("result %ld r12 %#lx xmm7 %#lx mxcsr %#x\n", result, r12, low, mxcsr);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    printf("USR2 %d KILL %d\n", sigismember(&now, SIGUSR2), sigismember(&now, SIGKILL));
}
static void bad_mxcsr(int signo, siginfo_t *info, void *arg)
{
    (void)signo, (void)info;
    ((ucontext_t *)arg)->uc_mcontext.fpregs->mxcsr = ~0u;
}
static void reserved_bits_of_mxcsr(void)
{
    struct sigaction action = {.sa_sigaction = bad_mxcsr, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    printf("returned\n");
}
static void no_fpstate(int signo, siginfo_t *info, void *arg)
{
    (void)signo, (void)info;
    ((ucontext_t *)arg)->uc_mcontext.fpregs = NULL;
}
static void a_frame_without_fpstate(void)
{
    struct sigaction action = {.sa_sigaction = no_fpstate, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    unsigned long low = 1;
    long pid = getpid(), result;
    __asm__ volatile("mov $55, %%r8\n movq %%r8, %%xmm7\n syscall\n movq %%xmm7, %1"
                     : "=a"(result), "=&r"(low) : "a"(SYS_kill), "D"(pid), "S"((long)SIGUSR1)
                     : "rcx", "r8", "r11", "xmm7", "memory");
    printf("result %ld xmm7 %ld\n", result, low);
}
static void no_magic(int signo, siginfo_t *info, void *arg)
{
    (void)signo, (void)info;
    ucontext_t *context = arg;
    /* The words after 464 bytes say what follows; without them only the FXSAVE area counts. */
    memset((char *)context->uc_mcontext.fpregs + 464, 0, 48);
    context->uc_mcontext.fpregs->_xmm[7].element[0] = 99;
}
static void a_frame_without_xsave_magic(void)
{
    struct sigaction action = {.sa_sigaction = no_magic, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    unsigned long low = 1;
    long pid = getpid(), result;
    __asm__ volatile("pxor %%xmm7, %%xmm7\n syscall\n movq %%xmm7, %1"
                     : "=a"(result), "=&r"(low) : "a"(SYS_kill), "D"(pid), "S"((long)SIGUSR1)
                     : "rcx", "r11", "xmm7", "memory");
    printf("result %ld xmm7 %ld\n", result, low);
}
static void odd_address(int signo, siginfo_t *info, void *arg)
{
    (void)signo, (void)info;
    ucontext_t *context = arg;
    context->uc_mcontext.fpregs = (void *)((char *)context->uc_mcontext.fpregs + 8);
}
static void a_frame_with_misplaced_fpstate(void)
{
    struct sigaction action = {.sa_sigaction = odd_address, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    printf("returned\n");
}
static void faraway(int signo, siginfo_t *info, void *arg)
{
    (void)signo, (void)info;
    ((ucontext_t *)arg)->uc_mcontext.gregs[REG_RIP] = (long)0x8000000000000000;
}
static void a_return_to_no_address(void)
{
    struct sigaction action = {.sa_sigaction = faraway, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    printf("returned\n");
}

static void timers_overrun(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 5};
    sigset_t old = all_blocked(), set;
    (void)old;
    check(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec time = {{0, 1000000}, {0, 1000000}};
    check(timer_settime(timer, 0, &time, NULL));
    struct timespec sleep = {0, 20500000};
    while (nanosleep(&sleep, &sleep))
        ;
    time.it_interval.tv_nsec = time.it_value.tv_nsec = 0;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    num(sigwaitinfo(&set, &info) - SIGRTMIN);
    printf("code %d value %d overrun many %d\n", info.si_code, info.si_value.sival_int, info.si_overrun >= 10);
    is(timer_getoverrun(timer) == info.si_overrun);
    check(timer_settime(timer, 0, &time, NULL));
    check(timer_delete(timer));
    check(timer_delete(timer));
    check(timer_getoverrun(timer));
}
static void timers_that_are_refused(void)
{
    int id;
    struct sigevent event = {.sigev_notify = 7, .sigev_signo = SIGUSR1};
    T(timer_create, CLOCK_MONOTONIC, &event, &id);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = 65;
    T(timer_create, CLOCK_MONOTONIC, &event, &id);
    event.sigev_signo = 0;
    T(timer_create, CLOCK_MONOTONIC, &event, &id);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = 1;
    T(timer_create, CLOCK_MONOTONIC, &event, &id);
    T(timer_create, 99, NULL, &id);
    T(timer_create, CLOCK_MONOTONIC, BAD, &id);
    T(timer_create, CLOCK_MONOTONIC, NULL, BAD);
    T(timer_settime, 1000, 0, BAD, NULL);
    struct itimerspec time = {{0, 0}, {0, 1000000000}};
    T(timer_settime, 1000, 0, &time, NULL);
    T(timer_gettime, 1000, &time);
    T(timer_delete, 1000);
}
static void cpu_timers_count_this_process(void)
{
    handle(SIGRTMIN, note, 0);
    timer_t process, thread;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    check(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &process));
    check(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &thread));
    struct itimerspec time = {{0, 0}, {0, 2000000}};
    check(timer_settime(process, 0, &time, NULL));
    for (volatile long i = 0; count < 1 && i < 4000000000; i++)
        ;
    num(count);
    check(timer_settime(thread, 0, &time, NULL));
    for (volatile long i = 0; count < 2 && i < 4000000000; i++)
        ;
    num(count);
}
static void virtual_and_profiling_timers(void)
{
    handle(SIGVTALRM, note, 0);
    handle(SIGPROF, note, 0);
    struct itimerval time = {{0, 0}, {0, 2000}};
    check(setitimer(ITIMER_VIRTUAL, &time, NULL));
    for (volatile long i = 0; count < 1 && i < 4000000000; i++)
        ;
    check(setitimer(ITIMER_PROF, &time, NULL));
    for (volatile long i = 0; count < 2 && i < 4000000000; i++)
        ;
    noted("delivered");
}
static void a_blocked_fault_kills(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    handle(SIGSEGV, note, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *(volatile int *)BAD = 1;
}
static void an_ignored_fault_kills(void)
{
    signal(SIGFPE, SIG_IGN);
    volatile int zero = 0;
    printf("%d\n", 7 / zero);
}
static void a_sent_fault_can_be_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    check(kill(getpid(), SIGSEGV));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGILL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    check(kill(getpid(), SIGILL));
    sigset_t pending;
    sigpending(&pending);
    num(sigismember(&pending, SIGILL));
}
static void ignoring_drops_what_waits(void)
{
    sigset_t set, pending;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGCHLD);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigpending(&pending);
    printf("USR1 %d CHLD %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGCHLD));
}
static void stops_and_continue_cancel(void)
{
    sigset_t set, pending;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGTSTP);
    kill(getpid(), SIGTTIN);
    kill(getpid(), SIGCONT);
    sigpending(&pending);
    printf("TSTP %d TTIN %d CONT %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGTTIN), sigismember(&pending, SIGCONT));
    kill(getpid(), SIGTTOU);
    sigpending(&pending);
    printf("TTOU %d CONT %d\n", sigismember(&pending, SIGTTOU), sigismember(&pending, SIGCONT));
}

int main(void)
{
    CASE(lowest_number_first);
    CASE(nested_without_a_mask);
    CASE(own_before_the_process);
    CASE(standard_signals_wait_once);
    CASE(queued_in_order);
    CASE(a_fault_comes_first);
    CASE(the_limit_of_queued_signals);
    CASE(nodefer_nests);
    CASE(without_nodefer_it_waits);
    CASE(resethand_is_once);
    CASE(unknown_flags_are_dropped);
    CASE(actions_that_are_refused);
    CASE(masks_that_are_refused);
    CASE(kills_that_are_refused);
    CASE(queueing_to_others);
    CASE(queueing_to_itself);
    CASE(alternate_stack);
    CASE(alternate_stack_autodisarm);
    CASE(alternate_stacks_that_are_refused);
    CASE(an_edited_context_takes_effect);
    CASE(reserved_bits_of_mxcsr);
    CASE(a_frame_without_fpstate);
    CASE(a_frame_without_xsave_magic);
    CASE(a_frame_with_misplaced_fpstate);
    CASE(a_return_to_no_address);
    CASE(timers_overrun);
    CASE(timers_that_are_refused);
    CASE(cpu_timers_count_this_process);
    CASE(virtual_and_profiling_timers);
    CASE(a_blocked_fault_kills);
    CASE(an_ignored_fault_kills);
    CASE(a_sent_fault_can_be_ignored);
    CASE(ignoring_drops_what_waits);
    CASE(stops_and_continue_cancel);
    return 0;
}
