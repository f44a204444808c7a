use std::path::Path;
use std::process::Command;

use super::*;
use crate::symbols::testkit::{Workshop, alone, elf};
use crate::symbols::valgrind::debug_info::{DebugInfo, Wanted};

/// The columns of readelf, by DWARF number.
const NAMES: [&str; REGISTERS] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "ra",
];

/// Compares the rules at every row that `readelf --debug-dump=frames-interp` prints, at its first
/// and its last byte, and returns how many rows that were.
fn compare(file: &Path) -> usize {
    let bytes = std::fs::read(file).expect("an object");
    let cfi = Cfi::read(&alone(&bytes));
    let output = Command::new("readelf").args(["--debug-dump=frames-interp", "--wide"]).arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("readelf: {error}; install binutils"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let (mut columns, mut end, mut rows) = (Vec::new(), 0, Vec::new());
    let mut count = 0;
    // Behind each entry is an empty line.
    for line in text.lines().chain([""]) {
        let mut fields: Vec<&str> = Vec::new();
        for field in line.split_whitespace() {
            // A register stands as `r1 (rdx)`.
            match (field.strip_prefix('(').and_then(|name| name.strip_suffix(')')), fields.last_mut()) {
                (Some(name), Some(last)) => *last = name,
                _ => fields.push(field),
            }
        }
        if let Some((_, range)) = line.split_once(" pc=") {
            end = number(range.split("..").nth(1).expect("a range"));
        } else if fields.first() == Some(&"LOC") {
            columns = fields[2..].to_vec();
        } else if fields.len() == columns.len() + 2 && end != 0 && fields[0].len() == 16 {
            rows.push((number(fields[0]), fields[1..].to_vec()));
        } else if fields.is_empty() {
            let ends: Vec<u64> = rows.iter().skip(1).map(|row| row.0).chain([end]).collect();
            for ((start, cells), end) in rows.drain(..).zip(ends).filter(|(row, end)| row.0 < *end) {
                for vaddr in [start, end - 1] {
                    let rules = cfi.rules(vaddr).unwrap_or_else(|error| panic!("{vaddr:x}: {error}"));
                    let expected = (
                        cells[0],
                        columns.iter().copied().zip(cells[1..].iter().copied()).collect::<Vec<_>>(),
                    );
                    let found = columns.iter().copied().zip(columns.iter().map(|name| shown(&rules, name)));
                    let found: Vec<(&str, String)> = found.collect();
                    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (*a, b.as_str())).collect();
                    assert_eq!((cfa(&rules).as_str(), found), expected, "{} at {vaddr:x}", file.display());
                }
                count += 1;
            }
            columns.clear();
            end = 0;
        }
    }
    count
}

fn cfa(rules: &Rules) -> String {
    match &rules.cfa {
        CfaRule::RegisterAndOffset { register, offset } => {
            format!("{}{offset:+}", NAMES[usize::from(register.0)])
        }
        CfaRule::Expression(_) => "exp".to_owned(),
    }
}

/// As readelf shows it: a register without a rule is undefined to it.
fn shown(rules: &Rules, name: &str) -> String {
    let number = NAMES.iter().position(|other| *other == name).expect("a register");
    match &rules.registers[number] {
        None | Some(RegisterRule::Undefined) => "u".to_owned(),
        Some(RegisterRule::SameValue) => "s".to_owned(),
        Some(RegisterRule::Offset(offset)) => format!("c{offset:+}"),
        Some(RegisterRule::ValOffset(offset)) => format!("v{offset:+}"),
        Some(RegisterRule::Register(other)) => NAMES[usize::from(other.0)].to_owned(),
        Some(RegisterRule::Expression(_)) => "exp".to_owned(),
        Some(RegisterRule::ValExpression(_)) => "vexp".to_owned(),
        Some(other) => format!("{other:?}"),
    }
}

const PROGRAM: &str = "
#include <alloca.h>
#include <stdarg.h>
int seen[8];
__attribute__((noinline)) int leaf(int a) { return seen[a & 7]++; }
__attribute__((noinline)) int deep(int n) { return n < 1 ? leaf(n) : deep(n - 1) + leaf(n) * deep(n - 2); }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    int sum = 0;
    for (int i = 0; i < a; i++)
        sum += leaf(b + i) * c + leaf(d) * e + leaf(f + sum) * g + h;
    return sum;
}
__attribute__((noinline)) int moving(int n) { char *p = alloca(n); p[0] = n; return leaf(p[0]) + many(1, 2, 3, 4, 5, 6, 7, n); }
__attribute__((noinline)) int tail(int n) { return leaf(n + 1); }
__attribute__((noinline)) int various(int n, ...)
{
    va_list list; va_start(list, n); int a = va_arg(list, int); va_end(list); return deep(a) + tail(n);
}
__attribute__((noinline)) int aligned(int n) { _Alignas(64) int p[16]; p[n & 15] = n; return leaf(p[3]) + moving(n) + various(n, 3); }
int main(int argc, char **argv) { return aligned(argc); }
";

#[test]
fn rules_are_those_that_readelf_shows() {
    let shop = Workshop::new();
    shop.write("p.c", PROGRAM);
    for flags in [
        &["-O0"][..],
        &["-O2"],
        &["-O2", "-fomit-frame-pointer"],
        &["-O1", "-fno-omit-frame-pointer"],
        &["-Os", "-mno-push-args"],
        // Only .debug_frame for the program's own code, only .eh_frame for the start-up code.
        &["-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
        &["-O2", "-fcf-protection=full", "-Wl,-z,ibtplt", "-Wl,-z,lazy"],
        &["-O2", "-static-pie"],
    ] {
        shop.run("gcc", &[flags, &["-o", "p", "p.c"]].concat());
        let rows = compare(&shop.path("p"));
        assert!(rows > 30, "{flags:?}: {rows}");
    }
}

/// The C library has signal trampolines, expressions, and functions that restore registers in odd
/// ways.
#[test]
fn rules_of_the_c_library() {
    let output = Command::new("gcc").arg("-print-file-name=libc.so.6").output();
    let output = output.unwrap_or_else(|error| panic!("gcc: {error}; install gcc"));
    let path = String::from_utf8(output.stdout).expect("a path");
    let rows = compare(Path::new(path.trim()));
    assert!(rows > 10_000, "{rows}");
}

/// One function with rules of every kind. Its frame: CFA at 0x2000.
const ODD: &str = "
    .text
    .globl main
    .type main,@function
main:
    .cfi_startproc
    nop
    .cfi_def_cfa rsp, 32
    .cfi_offset rbx, -16
    .cfi_val_offset r12, -8
    .cfi_register r13, r14
    .cfi_undefined r15
    .cfi_same_value rax
    # DW_CFA_expression rcx: DW_OP_lit8 DW_OP_minus
    .cfi_escape 0x10, 2, 2, 0x38, 0x1c
    # DW_CFA_val_expression rdx: DW_OP_breg3 (rbx) 5 DW_OP_plus
    .cfi_escape 0x16, 1, 3, 0x73, 5, 0x22
    # DW_CFA_val_expression rsi: DW_OP_breg7 (rsp) 0 DW_OP_deref_size 2
    .cfi_escape 0x16, 4, 4, 0x77, 0, 0x94, 2
    # DW_CFA_val_expression rdi: DW_OP_addr main
    .cfi_escape 0x16, 5, 9, 0x03
    .cfi_escape 0x00, 0x10, 0, 0, 0, 0, 0, 0
    # DW_CFA_val_expression r8: DW_OP_skip to itself
    .cfi_escape 0x16, 8, 3, 0x2f, 0xfd, 0xff
    # DW_CFA_val_expression r9: DW_OP_drop of what is not there
    .cfi_escape 0x16, 9, 2, 0x13, 0x13
    nop
    .cfi_undefined rip
    nop
    .cfi_restore rip
    # DW_CFA_def_cfa_expression: DW_OP_breg7 (rsp) 0 DW_OP_deref
    .cfi_escape 0x0f, 3, 0x77, 0, 0x06
    nop
    .cfi_endproc
    .size main,.-main
    .type trampoline,@function
trampoline:
    .cfi_startproc
    .cfi_signal_frame
    nop
    .cfi_endproc
";

#[test]
fn every_kind_of_rule() {
    let shop = Workshop::new();
    shop.assemble("odd", ODD);
    let bytes = shop.read("odd");
    let cfi = Cfi::read(&alone(&bytes));
    let info = DebugInfo::read(&alone(&bytes), Wanted::All);
    let main = info.symbols().iter().find(|symbol| &*symbol.name == "main").expect("a symbol").start;
    // Each word of the stack holds its address and a mark.
    let mut memory = |address: u64| (0x1f00..0x2100).contains(&address).then_some(address | 0xabc_0000);
    let mut registers: Registers = std::array::from_fn(|number| Some(0x100 + number as u64));
    registers[RSP] = Some(0x2000 - 32);
    let stack = |address: u64| Some(address | 0xabc_0000);
    let caller = cfi.caller(main + 1, &registers, 0x7000_0000, &mut memory).expect("a caller");
    let expected: [(&str, Option<u64>); REGISTERS] = [
        ("rax", Some(0x100)),
        ("rdx", Some(0x103 + 5 + 0x2000)),
        ("rcx", stack(0x2000 - 8)),
        ("rbx", stack(0x2000 - 16)),
        ("rsi", Some(0x1fe0)),
        ("rdi", Some(0x7000_1000)),
        ("rbp", Some(0x106)),
        ("rsp", Some(0x2000)),
        ("r8", None),
        ("r9", None),
        ("r10", None),
        ("r11", None),
        ("r12", Some(0x2000 - 8)),
        ("r13", Some(0x10e)),
        ("r14", Some(0x10e)),
        ("r15", None),
        ("rip", stack(0x2000 - 8)),
    ];
    let found: Vec<_> = expected.iter().map(|row| row.0).zip(caller.registers).collect();
    assert_eq!(found, expected);
    assert_eq!((caller.cfa, caller.signal), (0x2000, false));
    let mut at = |vaddr, registers: &Registers| cfi.caller(vaddr, registers, 0, &mut memory);
    assert_eq!(at(main + 2, &registers), Err(Stopped::Outermost));
    assert_eq!(
        at(main + 3, &registers).map(|caller| caller.cfa),
        Ok(0x1fe0 | 0xabc_0000).and(Err(Stopped::Memory(0xabc_1fd8)))
    );
    assert_eq!(at(main + 100, &registers), Err(Stopped::NoRules));
    // The trampoline: nothing on the stack but the return address.
    assert_eq!(at(main + 4, &registers).map(|caller| (caller.cfa, caller.signal)), Ok((0x1fe8, true)));
    let mut lost = registers;
    lost[RSP] = None;
    assert_eq!(at(main + 1, &lost), Err(Stopped::Register));
    lost[RSP] = Some(0x9000);
    assert_eq!(at(main + 1, &lost), Err(Stopped::Memory(0x9000 + 24)));
}

#[test]
fn damage_is_survived() {
    let shop = Workshop::new();
    shop.assemble("odd", ODD);
    let good = shop.read("odd");
    let elf = elf(&good);
    let section = elf.section(".eh_frame").expect("a section");
    let (start, end) = (section.sh_offset as usize, (section.sh_offset + section.sh_size) as usize);
    let mut memory = |address: u64| (address < 1 << 40).then_some(address ^ 0x55);
    let registers: Registers = [Some(0x1000); REGISTERS];
    for at in start..end {
        for value in [0, 1, 0x7f, 0x80, 0xff, good[at] ^ 0x10] {
            let mut bad = good.clone();
            bad[at] = value;
            let cfi = Cfi::read(&alone(&bad));
            for range in cfi.ranges.clone() {
                for vaddr in [range.start, range.start + 1, range.start + 3, range.end - 1] {
                    let _ = cfi.caller(vaddr, &registers, 0, &mut memory);
                }
            }
        }
    }
}
