use std::collections::BTreeMap;

use super::*;
use crate::symbols::testkit::{Workshop, alone, elf};
use crate::symbols::valgrind::debug_info::{DebugInfo, Wanted};

/// Three functions with call frame information and three without.
const CALLS: &str = "
    .text
    .globl main
    .type main,@function
main:
    .cfi_startproc
    .cfi_undefined rip
    call middle
main_back:
    hlt
    .cfi_endproc
    .size main,.-main
    .type middle,@function
middle:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset rbx, -16
    sub $16,%rsp
    .cfi_adjust_cfa_offset 16
    call leaf
middle_back:
    add $16,%rsp
    .cfi_adjust_cfa_offset -16
    pop %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size middle,.-middle
    .type leaf,@function
leaf:
    .cfi_startproc
    nop
    ret
    .cfi_endproc
    .size leaf,.-leaf
    .type restore,@function
restore:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa rsp, 0
    .cfi_offset rip, 8
    .cfi_offset rsp, 16
    .cfi_offset rbx, 24
    .cfi_offset rax, 32
    mov $15,%eax
    syscall
    .cfi_endproc
    .size restore,.-restore
    .type framed,@function
framed:
    .cfi_startproc
    .cfi_def_cfa rbp, 16
    .cfi_offset rbp, -16
    nop
framed_back:
    nop
    .cfi_endproc
    .size framed,.-framed
    .type plain,@function
plain:
    push %rbp
plain_pushed:
    mov %rsp,%rbp
plain_ready:
    call *%rax
plain_back:
    pop %rbp
plain_ret:
    ret
    .size plain,.-plain
    .type bare,@function
bare:
    push %rbx
    sub $16,%rsp
    call *%rax
bare_back:
    add $16,%rsp
    pop %rbx
    ret
    .size bare,.-bare
    .macro L name
    .type \\name,@function
    .size \\name,1
    .endm
    L main_back
    L middle_back
    L plain_pushed
    L plain_ready
    L plain_back
    L plain_ret
    L framed_back
    L bare_back
";

/// The program, its places by name, and a stack.
struct World {
    cfi: Arc<Cfi>,
    code: Vec<u8>,
    places: BTreeMap<String, u64>,
    stack: BTreeMap<u64, u64>,
    /// True if the beginnings of functions are known.
    functions: bool,
}

const BIAS: u64 = 0x5000_0000;

impl World {
    fn new() -> Self {
        let shop = Workshop::new();
        shop.assemble("calls", CALLS);
        let bytes = shop.read("calls");
        let info = DebugInfo::read(&alone(&bytes), Wanted::All);
        let places =
            info.symbols().iter().map(|symbol| (symbol.name.to_string(), symbol.start + BIAS)).collect();
        let elf = elf(&bytes);
        let text = elf.section(".text").expect("a section");
        let code = elf.contents(text).expect("code");
        let cfi = Arc::new(Cfi::read(&alone(&bytes)));
        Self { cfi, code, places, stack: BTreeMap::new(), functions: false }
    }

    fn at(&self, name: &str) -> u64 {
        self.places[name]
    }

    /// Puts words on the stack from `address` on.
    fn put(&mut self, address: u64, words: &[u64]) {
        for (at, word) in (address..).step_by(8).zip(words) {
            self.stack.insert(at, *word);
        }
    }

    fn unwind(&self, pc: u64, rsp: u64, rbp: u64, limit: usize) -> (Vec<(String, u64, bool, Found)>, End) {
        let mut registers: Registers = [Some(7); REGISTERS];
        (registers[RIP], registers[RSP], registers[RBP]) = (Some(pc), Some(rsp), Some(rbp));
        let stack = self.walk(&registers, limit);
        let name = |frame: &Frame| {
            let before = self.places.iter().filter(|(_, at)| **at <= frame.pc());
            let name = before.max_by_key(|(_, at)| **at).map_or("nowhere".to_owned(), |(name, start)| {
                let past = frame.pc() - start;
                if past == 0 { name.clone() } else { format!("{name}+{past}") }
            });
            (name, frame.registers[RSP].unwrap_or(0), frame.exact, frame.found)
        };
        (stack.frames.iter().map(name).collect(), stack.end)
    }

    fn walk(&self, registers: &Registers, limit: usize) -> Stack {
        let text = self.at("main")..self.at("main") + self.code.len() as u64;
        let mut find = |address: u64| {
            let begins = self.places.iter().filter(|(name, at)| !name.contains('_') && **at <= address);
            let function = begins.map(|(_, at)| *at).max().filter(|_| self.functions);
            let cfi = Some(Arc::clone(&self.cfi));
            text.contains(&address).then_some(Module { cfi, bias: BIAS, function })
        };
        let mut memory = |address: u64| {
            let at = address.wrapping_sub(text.start) as usize;
            let byte = |at: usize| self.code.get(at).copied();
            if text.contains(&address) || text.contains(&address.wrapping_add(7)) {
                // Before the code and behind it are zeros, as the rest of the page has.
                let bytes: [u8; 8] = std::array::from_fn(|k| byte(at.wrapping_add(k)).unwrap_or(0));
                return Some(u64::from_le_bytes(bytes));
            }
            self.stack.get(&address).copied()
        };
        unwind(registers, limit, &mut find, &mut memory)
    }
}

fn frame(name: &str, rsp: u64, exact: bool, found: Found) -> (String, u64, bool, Found) {
    (name.to_owned(), rsp, exact, found)
}

#[test]
fn calls_with_information() {
    let mut world = World::new();
    // Locals of `middle`, the RBX that it saved, the return address.
    world.put(0x1000, &[world.at("middle_back"), 1, 2, 0x77, world.at("main_back")]);
    let leaf = world.at("leaf") + 1;
    let (frames, end) = world.unwind(leaf, 0x1000, 0, 100);
    let expected = [
        frame("leaf+1", 0x1000, true, Found::Innermost),
        frame("middle_back", 0x1008, false, Found::Cfi),
        frame("main_back", 0x1028, false, Found::Cfi),
    ];
    assert_eq!((frames.as_slice(), end), (&expected[..], End::Complete));
    let mut registers: Registers = [None; REGISTERS];
    (registers[RIP], registers[RSP], registers[3]) = (Some(leaf), Some(0x1000), Some(5));
    let rbx: Vec<_> = world.walk(&registers, 100).frames.iter().map(|frame| frame.registers[3]).collect();
    assert_eq!(rbx, [Some(5), Some(5), Some(0x77)]);
    assert_eq!(world.unwind(leaf, 0x1000, 0, 2).1, End::Limit);
    assert!(world.unwind(leaf, 0x1000, 0, 0).0.is_empty());
    // Past the call of `middle` the stack ends.
    let (frames, end) = world.unwind(leaf, 0x1020 - 8, 0, 100);
    assert_eq!((frames[1].0.as_str(), frames.len(), end), ("nowhere", 2, End::Stopped(Stopped::NoRules)));
}

#[test]
fn a_signal_between_frames() {
    let mut world = World::new();
    // A handler at the bottom of its own stack, above; it interrupted `middle` at its first
    // instruction.
    world.put(0x9000, &[world.at("restore"), 0, world.at("middle"), 0x1020, 0x33, 0x44]);
    world.put(0x1020, &[world.at("main_back")]);
    let (frames, end) = world.unwind(world.at("leaf"), 0x9000, 0, 100);
    let expected = [
        frame("leaf", 0x9000, true, Found::Innermost),
        frame("restore", 0x9008, false, Found::Cfi),
        frame("middle", 0x1020, true, Found::Cfi),
        frame("main_back", 0x1028, false, Found::Cfi),
    ];
    assert_eq!((frames.as_slice(), end), (&expected[..], End::Complete));
    let mut registers: Registers = [Some(1); REGISTERS];
    (registers[RIP], registers[RSP]) = (Some(world.at("leaf")), Some(0x9000));
    let stack = world.walk(&registers, 100);
    let signals: Vec<bool> = stack.frames.iter().map(|frame| frame.signal).collect();
    assert_eq!(signals, [false, true, false, false]);
    assert_eq!((stack.frames[2].registers[0], stack.frames[2].registers[3]), (Some(0x44), Some(0x33)));
}

#[test]
fn guesses() {
    let mut world = World::new();
    // `plain` called from itself, called from `middle`.
    world.put(
        0x1000,
        &[0x1010, world.at("plain_back"), 0, world.at("middle_back"), 1, 2, 3, world.at("main_back")],
    );
    let rest =
        [frame("middle_back", 0x1020, false, Found::Guess), frame("main_back", 0x1040, false, Found::Cfi)];
    let outer = [&[frame("plain_back", 0x1010, false, Found::Guess)][..], &rest].concat();
    for (pc, rsp, rbp, frames) in [
        // At the entry RSP points to the return address, behind the push to the saved RBP.
        ("plain", 0x1008, 0x1010, &outer),
        ("plain_pushed", 0x1000, 0x1010, &outer),
        ("plain_ready", 0x1000, 0x1000, &outer),
        ("plain_back", 0xff0, 0x1000, &outer),
        ("plain_ret", 0x1008, 0x1010, &outer),
        ("plain_ret", 0x1018, 0x1000, &rest.to_vec()),
    ] {
        let (found, end) = world.unwind(world.at(pc), rsp, rbp, 100);
        assert_eq!(found[0], frame(pc, rsp, true, Found::Innermost));
        assert_eq!((&found[1..], end), (&frames[..], End::Complete), "{pc}");
    }
    // A call of what is no code.
    world.put(0xff8, &[world.at("plain_back")]);
    let mut registers: Registers = [None; REGISTERS];
    (registers[RIP], registers[RSP], registers[RBP]) = (Some(0), Some(0xff8), Some(0x1000));
    let stack = world.walk(&registers, 100);
    assert_eq!(
        (stack.frames.len(), stack.frames[1].pc(), stack.end),
        (5, world.at("plain_back"), End::Complete)
    );
}

#[test]
fn guesses_from_where_functions_begin() {
    let mut world = World::new();
    // `bare`, which has no frame pointer, called from itself, called from `middle`.
    let (bare, middle) = (world.at("bare_back"), world.at("middle_back"));
    world.put(0x1000, &[1, 2, 3, bare, 1, 2, 3, middle, 1, 2, 3, world.at("main_back")]);
    let start = world.at("bare");
    let at = |past: u64| start + past;
    // Behind push (1 byte), sub (4), call (2), add (4), pop (1).
    let stops = [(at(0), 0x1018), (at(1), 0x1010), (at(5), 0x1000), (at(11), 0x1010), (at(12), 0x1018)];
    for (pc, rsp) in stops {
        world.functions = true;
        let (frames, end) = world.unwind(pc, rsp, 0x77, 100);
        let expected = [
            frame("bare_back", 0x1020, false, Found::Guess),
            frame("middle_back", 0x1040, false, Found::Guess),
            frame("main_back", 0x1060, false, Found::Cfi),
        ];
        assert_eq!((&frames[1..], end), (&expected[..], End::Complete), "{pc:x}");
        world.functions = false;
        assert_eq!(world.unwind(at(5), 0x1000, 0x77, 100).0.len(), 1);
    }
}

#[test]
fn damaged_stacks_end() {
    let mut world = World::new();
    // Chains of frame pointers that lead back to themselves.
    world.put(0x1000, &[0x1000, world.at("plain_back")]);
    let (frames, end) = world.unwind(world.at("plain_ready"), 0x1000, 0x1000, 1000);
    assert_eq!((frames.len(), end), (2, End::Stopped(Stopped::NoRules)));
    world.put(0x1000, &[0x1000, world.at("framed_back")]);
    let (frames, end) = world.unwind(world.at("framed_back"), 0x1000, 0x1000, 1000);
    assert_eq!((frames.len(), end), (2, End::NoProgress));
    // What is no return address ends the guessing.
    world.put(0x1000, &[0x1010, world.at("main")]);
    let (frames, end) = world.unwind(world.at("plain_ready"), 0x1000, 0x1000, 1000);
    assert_eq!((frames.len(), end), (1, End::Stopped(Stopped::NoRules)));
    let (_, end) = world.unwind(world.at("leaf"), 0x5000, 0, 1000);
    assert_eq!(end, End::Stopped(Stopped::Memory(0x5000)));
    // Signals that return to themselves are bounded by the limit.
    let restore = world.at("restore");
    world.put(0x9000, &[0, restore, 0x9000]);
    assert_eq!(world.unwind(restore, 0x9000, 0, 50).0.len(), 50);
}
