//! Load biases: where a layout puts a program and its interpreter.

use crate::guest::layout::{InterpreterPlace, Layout};
use crate::loader::elf::Image;

impl Image {
    /// What to add to the addresses of a program; 0 for ET_EXEC.
    pub fn program_bias(&self, layout: &Layout) -> u64 {
        self.bias_at(layout.pie_base)
    }

    /// What to add to the addresses of a program interpreter; 0 for ET_EXEC. `program_end` is the first address behind
    /// the program.
    pub fn interpreter_bias(&self, layout: &Layout, program_end: u64) -> u64 {
        match layout.interpreter {
            InterpreterPlace::Below(top) => self.bias_at(top.saturating_sub(self.span_len())),
            InterpreterPlace::At(base) => self.bias_at(base.max(program_end)),
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
        assert_eq!(pie.program_bias(&Layout::LINUX), 0x5555_5555_4000);
        let bias = pie.interpreter_bias(&Layout::LINUX, 0);
        let end = pie.plan(bias).unwrap().iter().map(|m| m.addr + m.len).max();
        assert_eq!(end, Some(0x7fff_f7ff_f000));
    }

    #[test]
    fn fixed_programs_stay_where_they_are() {
        let exec = parse(TestElf::exec().bytes().as_slice()).unwrap();
        assert_eq!(exec.program_bias(&Layout::LINUX), 0);
        assert_eq!(exec.interpreter_bias(&Layout::LINUX, 0), 0);
    }

    #[test]
    fn another_layout_is_another_value() {
        let pie = parse(TestElf::pie().bytes().as_slice()).unwrap();
        assert_eq!(pie.program_bias(&Layout::VALGRIND), 0x10_8000);
        assert_eq!(pie.interpreter_bias(&Layout::VALGRIND, 0x10_c000), 0x400_0000);
        assert_eq!(pie.interpreter_bias(&Layout::VALGRIND, 0x480_0000), 0x480_0000);
    }

    #[test]
    fn alignment_over_a_page_lowers_the_base() {
        let mut elf = TestElf::pie();
        elf.loads[0].align = 0x20_0000;
        let image = parse(elf.bytes().as_slice()).unwrap();
        assert_eq!(image.program_bias(&Layout::LINUX), 0x5555_5540_0000);
        // 0x7ffff7fff000 less a span of three pages, rounded down to 2 MiB.
        assert_eq!(image.interpreter_bias(&Layout::LINUX, 0), 0x7fff_f7e0_0000);
    }
}
