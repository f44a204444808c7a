//! Where things go in the guest's address space. A value, so that a run can choose another one.

use crate::emu::guest::USER_END;
use crate::loader::elf::Image;

/// vm.mmap_min_addr: nothing is mapped below it (Linux's default on x86-64).
pub const MMAP_MIN_ADDR: u64 = 0x1_0000;

/// Where Valgrind begins to look for room for its client's mappings.
const FLOATING_START: u64 = 0x400_0000;

/// Where the program interpreter (PT_INTERP) is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterPlace {
    /// As high as it fits below this address, as Linux allocates downwards.
    Below(u64),
    /// With its first page here, or lower as its alignment asks, as Valgrind allocates upwards; behind the program
    /// where that reaches so far.
    At(u64),
}

/// Where mappings go that have no address of their own, mmap(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floating {
    /// As high as they fit below this address.
    Below(u64),
    /// As low as they fit from the first address on, but not between the other two.
    Above(u64, (u64, u64)),
}

/// Where the heap of brk(2) goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// Behind the program, up to whatever comes next.
    BehindProgram,
    /// So many bytes are kept free for it, behind the program if that reaches to where mappings float and they are
    /// free there, else in the first gap. Of them the last page is never given.
    Reserved(u64),
}

/// How the initial stack is laid out.
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
    /// Bytes the stack may grow to: RLIMIT_STACK.
    pub stack_size: u64,
    /// What lies where on it at the start.
    pub stack_order: StackOrder,
}

impl Layout {
    /// Linux's addresses on x86-64 with randomization switched off (`setarch -R`) and a stack limit of 8 MiB:
    /// ELF_ET_DYN_BASE is two thirds of user space, mapped downwards from 128 MiB below the stack's end. One
    /// difference: a static-PIE program is put at `pie_base` too, which Linux does only if it has an interpreter.
    pub const LINUX: Layout = Layout {
        pie_base: 0x5555_5555_4000,
        interpreter: InterpreterPlace::Below(0x7fff_f7ff_f000),
        floating: Floating::Below(0x7fff_f7ff_f000),
        heap: Heap::BehindProgram,
        stack_top: USER_END,
        stack_size: 8 << 20,
        stack_order: StackOrder::Linux,
    };

    /// The addresses that Valgrind 3.19 gives its client on amd64-linux, read off `/proc/self/maps` under it. It itself
    /// lies from 0x58000000 on and never lets a mapping of its client grow into that.
    pub const VALGRIND: Layout = Layout {
        pie_base: 0x10_8000,
        interpreter: InterpreterPlace::At(FLOATING_START),
        floating: Floating::Above(FLOATING_START, (0x5800_0000, 0x58c3_0000)),
        heap: Heap::Reserved(8 << 20),
        stack_top: 0x1f_ff00_1000,
        stack_size: 8 << 20,
        stack_order: StackOrder::Valgrind,
    };

    /// What to add to the addresses of a program; 0 for ET_EXEC.
    pub fn program_bias(&self, image: &Image) -> u64 {
        image.bias_at(self.pie_base)
    }

    /// What to add to the addresses of a program interpreter; 0 for ET_EXEC. `program_end` is the first address behind
    /// the program.
    pub fn interpreter_bias(&self, image: &Image, program_end: u64) -> u64 {
        match self.interpreter {
            InterpreterPlace::Below(top) => image.bias_at(top.saturating_sub(image.span_len())),
            InterpreterPlace::At(base) => image.bias_at(base.max(program_end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::elf::parse;
    use crate::loader::testelf::TestElf;

    #[test]
    fn linux_addresses() {
        // `setarch -R cat /proc/self/maps` shows the program at 555555554000, the stack ending at 7ffffffff000
        // and the highest mapping of a file ending at 7ffff7fff000 or just below.
        let pie = parse(TestElf::pie().bytes().as_slice()).unwrap();
        assert_eq!(Layout::LINUX.program_bias(&pie), 0x5555_5555_4000);
        let bias = Layout::LINUX.interpreter_bias(&pie, 0);
        let end = pie.plan(bias).unwrap().iter().map(|m| m.addr + m.len).max();
        assert_eq!(end, Some(0x7fff_f7ff_f000));
    }

    #[test]
    fn fixed_programs_stay_where_they_are() {
        let exec = parse(TestElf::exec().bytes().as_slice()).unwrap();
        assert_eq!(Layout::LINUX.program_bias(&exec), 0);
        assert_eq!(Layout::LINUX.interpreter_bias(&exec, 0), 0);
    }

    #[test]
    fn another_layout_is_another_value() {
        let pie = parse(TestElf::pie().bytes().as_slice()).unwrap();
        assert_eq!(Layout::VALGRIND.program_bias(&pie), 0x10_8000);
        assert_eq!(Layout::VALGRIND.interpreter_bias(&pie, 0x10_c000), 0x400_0000);
        assert_eq!(Layout::VALGRIND.interpreter_bias(&pie, 0x480_0000), 0x480_0000);
    }

    #[test]
    fn alignment_over_a_page_lowers_the_base() {
        let mut elf = TestElf::pie();
        elf.loads[0].align = 0x20_0000;
        let image = parse(elf.bytes().as_slice()).unwrap();
        assert_eq!(Layout::LINUX.program_bias(&image), 0x5555_5540_0000);
        // 0x7ffff7fff000 less a span of three pages, rounded down to 2 MiB.
        assert_eq!(Layout::LINUX.interpreter_bias(&image, 0), 0x7fff_f7e0_0000);
    }
}
