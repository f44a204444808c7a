//! Programs as one static ELF file. Each instruction has a function symbol of its own,
//! `pPROGRAM_INSTRUCTION`, so that a profile has its counts apart.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::choose::{AREA, FREE};
use super::program::Program;
use crate::common::{stderr, tool};

fn function(text: &mut String, name: &str, body: &str) {
    let _ = writeln!(text, ".type {name}, @function\n{name}: {body}\n.size {name}, . - {name}");
}

/// The assembly of one program; `Err` if it cannot be laid out.
fn assemble(text: &mut String, number: usize, program: &Program) -> Option<()> {
    let instructions = program.lay_out()?;
    let _ = writeln!(text, ".skip {}, 0x90", program.padding);
    let mut set = String::new();
    for (register, value) in FREE.iter().zip(&program.values) {
        let _ = writeln!(set, "movabs ${value:#x}, %{}", format!("{register:?}").to_lowercase());
    }
    let _ = writeln!(set, "mov ${}, %r14d\nmov ${}, %r15d", program.index, program.rounds);
    function(text, &format!("p{number}_in"), &set);
    let top = "lea stack_top(%rip), %rsp\nlea data(%rip), %rbx\nlea data+2048(%rip), %r12\n\
               lea floats(%rip), %rbp\nlea floats+57(%rip), %rdi\ncmp %rsp, %rsp";
    function(text, &format!("p{number}_top"), top);
    for (i, (_, bytes)) in instructions.iter().enumerate() {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
        function(text, &format!("p{number}_{i}"), &format!(".byte {}", bytes.join(",")));
    }
    function(text, &format!("p{number}_end"), &format!("dec %r15d\njnz p{number}_top"));
    Some(())
}

/// Builds a file with these programs, one after another.
pub fn build(directory: &Path, programs: &[Program]) -> PathBuf {
    let mut text = String::from(
        ".text\n.globl _start\n.type _start, @function\n_start: fninit\n.size _start, . - _start\n",
    );
    for (number, program) in programs.iter().enumerate() {
        assemble(&mut text, number, program).expect("programs are laid out when they are made");
    }
    let _ = write!(
        text,
        "mov $231, %eax\nxor %edi, %edi\nsyscall\n.data\n.balign 4096\ndata: .fill {}, 8, 0x1234567\n\
         .balign 4096\nfloats: .fill {}, 8, 0x3ff00000\n.bss\n.balign 4096\n.skip 65536\nstack_top: .skip 4096\n\
         .section .note.GNU-stack, \"\", @progbits\n",
        (AREA + 4096) / 8,
        (AREA + 1024) / 8
    );
    let (source, binary) = (directory.join("programs.s"), directory.join("programs"));
    fs::write(&source, text).expect("write");
    let words = ["-static", "-nostdlib", "-no-pie", "-o"];
    let mut words: Vec<&str> = words.to_vec();
    words.extend([binary.to_str().expect("text"), source.to_str().expect("text")]);
    let out = tool("gcc", directory, "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    binary
}
