//! Code of the host in place of operations, where the engine would make twice as many instructions
//! of those.
//!
//! A piece is emitted as stores of a constant, which are as long together. When the code of the
//! block is done, the piece is written over them. Around it no register of the host is in use but
//! RBP, which holds the CPU's state, and RSP.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::Op;
use crate::emu::unicorn::line_lookups::{LONG, NEAR, SHORT, Unknown, write_over};
use crate::emu::unicorn::translator::patches::{Later, Patches};

/// Registers of the host, by their numbers.
pub(super) const RAX: u8 = 0;
pub(super) const RCX: u8 = 1;
pub(super) const RDX: u8 = 2;
const RBP: u8 = 5;
pub(super) const RSI: u8 = 6;
pub(super) const R8: u8 = 8;
pub(super) const R10: u8 = 10;
pub(super) const R11: u8 = 11;

/// Operand in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    base: u8,
    index: Option<u8>,
    displacement: i32,
}

impl Memory {
    /// Memory that a register points to.
    pub(super) fn at(base: u8) -> Memory {
        Memory { base, index: None, displacement: 0 }
    }

    /// A member of the CPU's state, or of what is beside it.
    pub(super) fn of_state(offset: i32) -> Memory {
        Memory { displacement: offset, ..Memory::at(RBP) }
    }

    /// The same, so many bytes further on.
    pub(super) fn plus(self, bytes: usize) -> Memory {
        Memory { displacement: self.displacement + bytes as i32, ..self }
    }

    /// The same, further on by what a register holds.
    pub(super) fn indexed(self, index: u8) -> Memory {
        Memory { index: Some(index), ..self }
    }
}

/// `mov byte [rbp + d], i`, before the displacement: with [`LONG`] and [`SHORT`] the stores that
/// leave room, of 11, 7 and 4 bytes.
const MIDDLE: [u8; 2] = [0xc6, 0x85];
const LONG_LEN: usize = 11;
const MIDDLE_LEN: usize = 7;
const SHORT_LEN: usize = 4;
/// Offset in the state of where the longer ones would store, a register of AVX-512, and the
/// constant of the first piece.
const PLACE: usize = 0x908;
const FIRST: u32 = 0x4d20_0000;
const MOST_PIECES: usize = 1 << 16;

/// Bytes of the displacement of a jump, or of memory.
const DISPLACEMENT: usize = 4;

/// The stores that leave room for a piece.
fn room(len: usize) -> impl Iterator<Item = usize> {
    let rest = match len.saturating_sub(LONG_LEN) % LONG_LEN {
        0 => None,
        1..=SHORT_LEN => Some(SHORT_LEN),
        rest if rest <= MIDDLE_LEN => Some(MIDDLE_LEN),
        _ => Some(LONG_LEN),
    };
    let long = 1 + len.saturating_sub(LONG_LEN) / LONG_LEN;
    std::iter::repeat_n(LONG_LEN, long).chain(rest)
}

/// Bytes from the CPU's state `env` to an address of the host, if an operand can have what is
/// there, or a little further on in the same object.
pub(super) fn beside(address: u64, env: *const u64) -> Option<i32> {
    let distance = i32::try_from(address.wrapping_sub(env as u64) as i64).ok()?;
    distance.checked_add(1 << 20).and(Some(distance))
}

/// Place in a piece: its number, and bytes from its start.
pub(super) type Place = (usize, usize);

/// Pieces of code of the block that is translated.
#[derive(Default)]
pub(super) struct HostCode {
    bytes: Vec<u8>,
    /// The pieces that have been emitted, of these.
    pieces: Vec<Range<usize>>,
    /// Displacements of jumps, and where they lead.
    jumps: Vec<(Place, Place)>,
}

/// Jump whose target is not known yet, by its index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump(usize);

impl HostCode {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        self.jumps.clear();
    }

    /// The code of all pieces.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Start of the piece that is written.
    fn start(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// The place of what is written next.
    pub(super) fn here(&self) -> Place {
        (self.pieces.len(), self.bytes.len() - self.start())
    }

    /// Tests whether nothing has been written since the last piece was emitted.
    pub(super) fn is_emitted(&self) -> bool {
        self.bytes.len() == self.start()
    }

    /// Emits what has been written since the last piece, where no register of the host has a value
    /// but for those named above. Returns the first operation.
    pub(super) fn emit(&mut self, emit: Emit) -> *const Op {
        let piece = self.start()..self.bytes.len();
        let mark = emit.constant(u64::from(FIRST) + (self.pieces.len() % MOST_PIECES) as u64);
        let mut sizes = room(piece.len());
        sizes.next();
        self.pieces.push(piece);
        let first = emit.store_op(mark, emit.env(), PLACE);
        for len in sizes {
            match len {
                LONG_LEN => emit.store(mark, emit.env(), PLACE),
                MIDDLE_LEN => emit.store_byte(mark, emit.env(), PLACE),
                _ => emit.store_byte(mark, emit.env(), NEAR),
            }
        }
        emit.free(mark);
        first
    }

    /// Writes the pieces over the room that was left for them.
    ///
    /// # Errors
    /// When the room of one looks otherwise than expected, or is not there.
    pub(super) fn write(&mut self, code: &mut [u8]) -> Result<(), Unknown> {
        static ROOM: LazyLock<Finder> = LazyLock::new(|| {
            let mut store = LONG.to_vec();
            store.extend((PLACE as u32).to_le_bytes());
            Finder::new(&store).into_owned()
        });
        let mut starts = vec![None; self.pieces.len()];
        let mut at = 0;
        while let Some(found) = ROOM.find(&code[at..]) {
            let start = at + found;
            at = start + ROOM.needle().len();
            let Some(mark) = code.get(at..).and_then(|rest| rest.first_chunk()) else { break };
            let number = u32::from_le_bytes(*mark).wrapping_sub(FIRST) as usize;
            let Some(piece) = self.pieces.get(number).cloned() else { continue };
            let mut end = start;
            for len in room(piece.len()) {
                let store: &[u8] = match len {
                    LONG_LEN => &LONG,
                    MIDDLE_LEN => &MIDDLE,
                    _ => &SHORT,
                };
                if !code.get(end..).is_some_and(|rest| rest.starts_with(store) && rest.len() >= len) {
                    return Err(Unknown);
                }
                end += len;
            }
            write_over(&mut code[start..end], &self.bytes[piece]);
            starts[number] = Some(start);
            at = end;
        }
        let starts: Vec<usize> = starts.into_iter().collect::<Option<_>>().ok_or(Unknown)?;
        let address = |(piece, bytes): Place| starts.get(piece).map(|start| start + bytes);
        for &(place, target) in &self.jumps {
            let place = address(place).ok_or(Unknown)?;
            let from = place + DISPLACEMENT;
            let distance = address(target).ok_or(Unknown)?.wrapping_sub(from) as i32;
            code[place..from].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(())
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a constant that follows from the plan of the block, or of an exit after `complete`
    /// instructions.
    fn push_later(&mut self, patches: &mut Patches, value: Later, exit: Option<u16>) {
        patches.add_code(self.bytes.len(), value, exit);
        self.bytes.resize(self.bytes.len() + value.bytes(), 0);
    }

    /// Appends an instruction up to its operands: `opcode`, with a register or the rest of the
    /// opcode, and memory. It is `wide` if it has 64 bits.
    fn push_operands(&mut self, wide: bool, opcode: &[u8], register: u8, memory: Memory, long: bool) {
        let Memory { base, index, displacement } = memory;
        let extend = |register: u8, bit: u32| u8::from(register >= 8) << bit;
        let rex = u8::from(wide) << 3 | extend(register, 2) | extend(index.unwrap_or(0), 1) | extend(base, 0);
        if rex != 0 {
            self.push(&[0x40 | rex]);
        }
        self.push(opcode);
        let near = i8::try_from(displacement).ok().filter(|_| !long);
        let form = if near.is_some() { 0x40 } else { 0x80 } | (register & 7) << 3;
        match index {
            None => self.push(&[form | base & 7]),
            Some(index) => self.push(&[form | 4, (index & 7) << 3 | base & 7]),
        }
        match near {
            Some(near) => self.push(&near.to_le_bytes()),
            None => self.push(&displacement.to_le_bytes()),
        }
    }

    /// Appends an instruction with a register, or the rest of its opcode, and memory.
    pub(super) fn with_memory(&mut self, wide: bool, opcode: &[u8], register: u8, memory: Memory) {
        self.push_operands(wide, opcode, register, memory, false);
    }

    /// The same, with an opcode of a byte and so many bytes on from what a register points to as
    /// follows from the plan of the block, or of an exit.
    pub(super) fn with_later(
        &mut self,
        wide: bool,
        (opcode, register): (u8, u8),
        base: u8,
        (patches, value, exit): (&mut Patches, Later, Option<u16>),
    ) {
        self.push_operands(wide, &[opcode], register, Memory::at(base), true);
        self.bytes.truncate(self.bytes.len() - DISPLACEMENT);
        self.push_later(patches, value, exit);
    }

    /// Appends `mov` of memory to a register.
    pub(super) fn load(&mut self, wide: bool, register: u8, memory: Memory) {
        self.with_memory(wide, &[0x8b], register, memory);
    }

    /// Appends `mov` of a register to memory.
    pub(super) fn store(&mut self, wide: bool, memory: Memory, register: u8) {
        self.with_memory(wide, &[0x89], register, memory);
    }

    /// Appends `mov`, `add` or another instruction with memory and a constant of 32 bits that
    /// follows from the plan, by the parts of its opcode.
    pub(super) fn constant_later(
        &mut self,
        wide: bool,
        (opcode, more): (u8, u8),
        memory: Memory,
        (patches, value, exit): (&mut Patches, Later, Option<u16>),
    ) {
        self.push_operands(wide, &[opcode], more, memory, false);
        self.push_later(patches, value, exit);
    }

    /// Appends a conditional jump, by the condition, to a place that [`HostCode::bind`] tells.
    pub(super) fn jump_if(&mut self, condition: u8) -> Jump {
        self.push(&[0x0f, 0x80 | condition]);
        self.push_jump((usize::MAX, 0));
        Jump(self.jumps.len() - 1)
    }

    /// Has a jump lead to what is written next.
    pub(super) fn bind(&mut self, jump: Jump) {
        let here = self.here();
        self.jumps[jump.0].1 = here;
    }

    /// Appends a jump to a place.
    pub(super) fn jump(&mut self, target: Place) {
        self.push(&[0xe9]);
        self.push_jump(target);
    }

    fn push_jump(&mut self, target: Place) {
        self.jumps.push((self.here(), target));
        self.push(&[0; DISPLACEMENT]);
    }

    /// Appends a call of the function that a word of memory points to.
    pub(super) fn call(&mut self, function: Memory) {
        self.with_memory(false, &[0xff], 2, function);
    }

    /// Appends `mov` of a constant to a register.
    pub(super) fn load_constant(&mut self, register: u8, value: u64) {
        let narrow = u32::try_from(value);
        self.begin_load(narrow.is_err(), register);
        match narrow {
            Ok(value) => self.push(&value.to_le_bytes()),
            Err(_) => self.push(&value.to_le_bytes()),
        }
    }

    /// Appends `mov` of a constant that follows from the plan of the block to a register.
    pub(super) fn load_later(
        &mut self,
        register: u8,
        (patches, value, exit): (&mut Patches, Later, Option<u16>),
    ) {
        self.begin_load(value.is_wide(), register);
        self.push_later(patches, value, exit);
    }

    /// Appends `mov` of a constant to a register up to the constant, which is `wide` if it has 64
    /// bits.
    fn begin_load(&mut self, wide: bool, register: u8) {
        let rex = u8::from(wide) << 3 | u8::from(register >= 8);
        if rex != 0 {
            self.push(&[0x40 | rex]);
        }
        self.push(&[0xb8 | register & 7]);
    }

    /// An operand at an address of the host: beside the CPU's state `env`, or at what a register
    /// points to, which is loaded then.
    pub(super) fn at(&mut self, address: u64, env: *const u64, register: u8) -> Memory {
        beside(address, env).map(Memory::of_state).unwrap_or_else(|| {
            self.load_constant(register, address);
            Memory::at(register)
        })
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

    use super::*;

    /// The instructions of some code, at address 0.
    fn disassembled(code: &[u8]) -> Vec<String> {
        let mut formatter = IntelFormatter::new();
        let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let text = |instruction| {
            let mut text = String::new();
            formatter.format(&instruction, &mut text);
            text
        };
        decoder.into_iter().map(text).collect()
    }

    /// The stores that leave room for piece `number` of so many bytes.
    fn stores(number: u32, len: usize) -> Vec<u8> {
        let mark = (FIRST + number).to_le_bytes();
        let place = (PLACE as u32).to_le_bytes();
        room(len)
            .flat_map(|len| match len {
                LONG_LEN => [&LONG[..], &place, &mark].concat(),
                MIDDLE_LEN => [&MIDDLE[..], &place, &mark[..1]].concat(),
                _ => [&SHORT[..], &[NEAR as u8], &mark[..1]].concat(),
            })
            .collect()
    }

    /// Ends the piece that is written, as emitting it does.
    fn end(host: &mut HostCode) -> Vec<u8> {
        let piece = host.start()..host.bytes.len();
        let room = stores(host.pieces.len() as u32, piece.len());
        host.pieces.push(piece);
        room
    }

    #[test]
    fn room_is_as_long_as_a_piece_or_little_longer() {
        for len in 1..200 {
            let all: usize = room(len).sum();
            assert!(all >= len && (len < LONG_LEN || all < len + 4), "{len} {all}");
            assert_eq!(stores(0, len).len(), all);
        }
    }

    #[test]
    fn operands_are_encoded() {
        let mut host = HostCode::default();
        let mut patches = Patches::default();
        host.load(true, RAX, Memory::of_state(-0x1234));
        host.load(false, RCX, Memory::at(RAX).plus(8));
        host.store(true, Memory::at(R11).plus(0x1000), RDX);
        host.with_memory(false, &[0x0f, 0xb6], RDX, Memory::at(R11).plus(5).indexed(RCX));
        host.with_later(false, (0xff, 0), RAX, (&mut patches, Later::Count, None));
        host.constant_later(true, (0x81, 5), Memory::of_state(8), (&mut patches, Later::Size, None));
        host.load_constant(RSI, 7);
        host.load_constant(R8, 1 << 40);
        host.load_later(RSI, (&mut patches, Later::Plan, None));
        host.load_later(R8, (&mut patches, Later::Fetch(1, 2), None));
        host.call(Memory::of_state(-0x1234));
        let expected = [
            "mov rax,[rbp-1234h]",
            "mov ecx,[rax+8]",
            "mov [r11+1000h],rdx",
            "movzx edx,byte ptr [r11+rcx+5]",
            "inc dword ptr [rax]",
            "sub qword ptr [rbp+8],0",
            "mov esi,7",
            "mov r8,10000000000h",
            "mov esi,0",
            "mov r8,0",
            "call qword ptr [rbp-1234h]",
        ];
        assert_eq!(disassembled(&host.bytes), expected);
    }

    #[test]
    fn what_is_near_the_state_needs_no_register() {
        let state = [0_u64; 2];
        let at = |address: u64| {
            let mut host = HostCode::default();
            let memory = host.at(address, state.as_ptr(), R11);
            host.load(true, RAX, memory);
            disassembled(&host.bytes)
        };
        let state = state.as_ptr() as u64;
        assert_eq!(at(state - 64), ["mov rax,[rbp-40h]"]);
        let far = state ^ 1 << 46;
        assert_eq!(at(far), [format!("mov r11,{far:X}h"), "mov rax,[r11]".into()]);
    }

    #[test]
    fn pieces_are_written_over_their_room() {
        let mut host = HostCode::default();
        host.push(&[0x90]);
        host.load(false, RAX, Memory::of_state(0x1000));
        host.load(false, RCX, Memory::of_state(0x1000));
        let jump = host.jump_if(5);
        let back = host.here();
        let mut code = [vec![0x90], end(&mut host), vec![0xc3]].concat();
        host.bind(jump);
        host.push(&[0x90; 11]);
        host.jump(back);
        code.extend(end(&mut host));
        host.write(&mut code).expect("the room is as expected");
        let code = disassembled(&code);
        let expected = [
            "nop",
            "nop",
            "mov eax,[rbp+1000h]",
            "mov ecx,[rbp+1000h]",
            "jne 0000000000000018h",
            "nop [rax]",
            "ret",
        ];
        assert_eq!(code[..expected.len()], expected);
        assert_eq!(code[expected.len()..][..11], ["nop"; 11]);
        assert_eq!(code[expected.len() + 11], "jmp 0000000000000014h");
    }

    #[test]
    fn other_room_is_noticed() {
        let mut host = HostCode::default();
        host.push(&[0x90; 20]);
        let mut code = end(&mut host);
        code[LONG_LEN] = 0;
        assert_eq!(host.write(&mut code), Err(Unknown));
        assert_eq!(host.write(&mut []), Err(Unknown));
    }
}
