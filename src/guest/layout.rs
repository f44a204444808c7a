//! Layout of the guest's address space. A value, so that a run can choose another one.

use crate::guest::page::USER_END;

/// First address at which Valgrind looks for room for its client's mappings.
const FLOATING_START: u64 = 0x400_0000;

/// Place of the program interpreter (PT_INTERP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterPlace {
    /// As high as it fits below this address, as Linux allocates downwards.
    Below(u64),
    /// With its first page here, or lower as its alignment asks, as Valgrind allocates upwards;
    /// behind the program where that reaches so far.
    At(u64),
}

/// Place of mappings without a fixed address, mmap(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floating {
    /// As high as they fit below this address.
    Below(u64),
    /// As low as they fit from the first address on, but not between the other two.
    Above(u64, (u64, u64)),
}

/// Place of the heap of brk(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// Behind the program, up to whatever comes next.
    BehindProgram,
    /// A number of bytes is kept free for it: behind the program if that reaches the floating
    /// mappings and is free there, else in the first gap. Its last page is never given.
    Reserved(u64),
}

/// Order of the initial stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackOrder {
    /// As the kernel does.
    Linux,
    /// As Valgrind does for its client.
    Valgrind,
}

/// Fixed addresses of a run. There is no randomization: a profile may not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First page of a position-independent program.
    pub pie_base: u64,
    /// The interpreter.
    pub interpreter: InterpreterPlace,
    /// Mappings without an address.
    pub floating: Floating,
    /// The heap of brk(2).
    pub heap: Heap,
    /// End of the stack; its highest byte is the one before.
    pub stack_top: u64,
    /// Bytes the stack may grow to where it does not follow RLIMIT_STACK.
    pub stack_size: u64,
    /// The stack grows when it is used, as far as RLIMIT_STACK allows; otherwise all of it is
    /// there.
    pub stack_grows: bool,
    /// Order of the initial stack.
    pub stack_order: StackOrder,
}

impl Layout {
    /// Linux's addresses on x86-64 with randomization switched off (`setarch -R`) and a stack limit
    /// of 8 MiB: ELF_ET_DYN_BASE is two thirds of user space, mapped downwards from 128 MiB below
    /// the stack's end. One difference: a static-PIE program is put at `pie_base` too, which Linux
    /// does only if it has an interpreter.
    pub const LINUX: Layout = Layout {
        pie_base: 0x5555_5555_4000,
        interpreter: InterpreterPlace::Below(0x7fff_f7ff_f000),
        floating: Floating::Below(0x7fff_f7ff_f000),
        heap: Heap::BehindProgram,
        stack_top: USER_END,
        stack_size: 8 << 20,
        stack_grows: true,
        stack_order: StackOrder::Linux,
    };

    /// The addresses that Valgrind 3.19 gives its client on amd64-linux, read off `/proc/self/maps`
    /// under it. Valgrind itself lies from 0x58000000 on and never lets a mapping of its client
    /// grow into that.
    pub const VALGRIND: Layout = Layout {
        pie_base: 0x10_8000,
        interpreter: InterpreterPlace::At(FLOATING_START),
        floating: Floating::Above(FLOATING_START, (0x5800_0000, 0x58c3_0000)),
        heap: Heap::Reserved(8 << 20),
        stack_top: 0x1f_ff00_1000,
        stack_size: 8 << 20,
        stack_grows: false,
        stack_order: StackOrder::Valgrind,
    };
}
