//! Has generated code look for counted accesses in the TLB of lines.
//!
//! The engine generates one sequence for every access: it finds an entry by bits of the address,
//! compares, and adds what leads to the host, or goes to the end of the block for a call, where the
//! description of the access is an operand. Of those with a tap, the constants of the sequence are
//! changed when the block's code is done, and the store of a constant that follows it, which is
//! there for that, becomes the store of the time into the entry. The call returns behind it.
#![allow(unsafe_code)]

use std::mem::offset_of;
use std::sync::LazyLock;

use iced_x86::{Decoder, DecoderOptions, Register};
use memchr::memmem::Finder;

use crate::emu::unicorn::line_tlb::{
    CLOCK, GUEST, LineTlb, PAGE_BITS, SPARE, STORES, TABLE, TAP_SHIFT, Tap, fast,
};
use crate::hooks::data_table::DataLine;

/// `shr rdi, 6`, whose last byte is the count.
const SHIFT: [u8; 4] = [0x48, 0xc1, 0xef, 0x06];
/// `and rdi, [rbp + d]` and `add rdi, [rbp + d]`, before the displacement.
const AND_MASK: [u8; 3] = [0x48, 0x23, 0x7d];
const ADD_TABLE: [u8; 3] = [0x48, 0x03, 0x7d];
/// `and rsi, i`, before the constant.
const AND_PAGE: [u8; 3] = [0x48, 0x81, 0xe6];
/// `jne d`, before the displacement.
const JUMP: [u8; 2] = [0x0f, 0x85];
/// `mov rdi, rbp`, in both encodings.
const STATE: [[u8; 3]; 2] = [[0x48, 0x8b, 0xfd], [0x48, 0x89, 0xef]];
/// `mov edx, i` and `mov ecx, i`, before the constant: the third and fourth argument.
const THIRD: u8 = 0xba;
const FOURTH: u8 = 0xb9;
/// `lea`, behind its prefix, with a displacement of a byte.
const LEA: u8 = 0x8d;

/// Bytes from a displacement to the code that it is relative to.
const DISPLACEMENT: usize = 4;

/// The displacements of the parts of a TLB.
const fn parts(mode: usize) -> [u8; 2] {
    [fast(mode) as u8, (fast(mode) + TABLE) as u8]
}

/// Instructions that do nothing, of one to nine bytes.
const PAUSES: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// Writes code over other code, whose rest does nothing then.
pub(super) fn write_over(code: &mut [u8], new: &[u8]) {
    let (start, rest) = code.split_at_mut(new.len());
    start.copy_from_slice(new);
    for part in rest.chunks_mut(PAUSES.len()) {
        part.copy_from_slice(PAUSES[part.len() - 1]);
    }
}

/// A sequence that is not what the engine generates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown;

/// Reads `N` bytes of code.
fn bytes<const N: usize>(code: &[u8], at: usize) -> Result<[u8; N], Unknown> {
    code.get(at..).and_then(|code| code.first_chunk()).copied().ok_or(Unknown)
}

/// The place of `what` within a few bytes from `at`.
fn find(code: &[u8], at: usize, within: usize, what: &[u8]) -> Result<usize, Unknown> {
    let near = code.get(at..(at + within + what.len()).min(code.len())).ok_or(Unknown)?;
    near.windows(what.len()).position(|near| near == what).map(|near| at + near).ok_or(Unknown)
}

/// The description of the access whose call out begins at a place.
fn description(code: &[u8], at: usize) -> Result<u32, Unknown> {
    if !STATE.contains(&bytes(code, at)?) {
        return Err(Unknown);
    }
    let at = at + STATE[0].len();
    // A store has its value in the third argument, unless it is there already.
    let next = match bytes::<1>(code, at)? {
        [THIRD] => at,
        [FOURTH] => at,
        [0x40..=0x4f] => at + 3,
        _ => at + 2,
    };
    match bytes::<1>(code, next)? {
        [THIRD | FOURTH] => Ok(u32::from_le_bytes(bytes(code, next + 1)?)),
        _ => Err(Unknown),
    }
}

/// `mov qword [rbp + d], i`, and `mov byte [rbp + d], i` with a displacement of a byte, before it:
/// with [`PLACE`] and [`NEAR`], and both with [`MARK`], the stores that keep room behind an access.
pub(super) const LONG: [u8; 3] = [0x48, 0xc7, 0x85];
pub(super) const SHORT: [u8; 2] = [0xc6, 0x45];
const ROOM_LEN: usize = 15;
/// Offsets in the state, of a register of AVX-512 and of RAX, and the constant.
pub(super) const PLACE: usize = 0x900;
pub(super) const NEAR: usize = 0;
pub(super) const MARK: u64 = 0x4d1f_3a65;
/// `add rsi, [rdi + d]`, before the displacement of a byte.
const ADD_ADDEND: [u8; 3] = [0x48, 0x03, 0x77];
/// Longest load or store of data.
const LONGEST: usize = 12;
/// `jmp d` and `lea r8, [rip + d]`, before the displacement.
const GO_BACK: [u8; 1] = [0xe9];
const RETURN: [u8; 3] = [0x4c, 0x8d, 0x05];
/// Most bytes of a call out.
const CALL_OUT: usize = 80;

/// Facts by which the code of a block is changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) lines: LineTlb,
    /// Times that pass while it runs.
    pub(super) times: u32,
}

/// A look-up in generated code, by the places of its parts.
struct Lookup {
    /// Its start, the byte after the displacements of the TLB, the constant of the page, and the
    /// code after the jump.
    start: usize,
    parts: usize,
    page: usize,
    end: usize,
    /// The call out.
    out: usize,
}

/// Changes all accesses of a block's code that have a tap. Returns their number.
///
/// # Errors
/// When an access looks otherwise than the engine's.
pub(super) fn change(code: &mut [u8], change: Change) -> Result<usize, Unknown> {
    static START: LazyLock<Finder> = LazyLock::new(|| {
        let [mask, table] = parts(GUEST);
        Finder::new(&[&SHIFT[..], &AND_MASK, &[mask], &ADD_TABLE, &[table]].concat()).into_owned()
    });
    let (mut at, mut changed) = (0, 0);
    while let Some(found) = START.find(&code[at..]).map(|found| at + found) {
        at = found + START.needle().len();
        let page = find(code, at, 8, &AND_PAGE)?;
        let jump = find(code, page + AND_PAGE.len() + DISPLACEMENT, 12, &JUMP)?;
        let end = jump + JUMP.len() + DISPLACEMENT;
        let distance = i32::from_le_bytes(bytes(code, jump + JUMP.len())?);
        let out = end.checked_add_signed(distance as isize).ok_or(Unknown)?;
        let Some(tap) = Tap::of(description(code, out)? >> TAP_SHIFT) else { continue };
        let lookup = Lookup { start: found, parts: at, page, end, out };
        let finds = tap.finds && find_line(code, &lookup, tap, change)?;
        if !finds {
            // The call is always made: `nop; jmp d` in place of `jne d`.
            code[jump..jump + JUMP.len()].copy_from_slice(&[0x90, 0xe9]);
            if let Some(room) = room(code, &lookup) {
                write_over(&mut code[room..room + ROOM_LEN], &[]);
            }
        }
        changed += 1;
    }
    Ok(changed)
}

/// The place of the room behind an access.
fn room(code: &[u8], lookup: &Lookup) -> Option<usize> {
    let mut wanted = LONG.to_vec();
    wanted.extend((PLACE as u32).to_le_bytes());
    wanted.extend((MARK as u32).to_le_bytes());
    wanted.extend(SHORT);
    wanted.extend([NEAR as u8, MARK as u8]);
    find(code, lookup.end, ADD_ADDEND.len() + 1 + LONGEST, &wanted).ok()
}

/// Has an access find its line and store the time. False if it cannot.
fn find_line(code: &mut [u8], lookup: &Lookup, tap: Tap, change: Change) -> Result<bool, Unknown> {
    let Change { lines, times } = change;
    let Some(room) = room(code, lookup) else { return Ok(false) };
    let data = lookup.end + ADD_ADDEND.len() + 1;
    if bytes(code, lookup.end)? != ADD_ADDEND || !keeps_entry(code.get(data..room).unwrap_or_default()) {
        return Ok(false);
    }
    // Where the call returns to: behind the room.
    let Some((way, skips)) = find_return(code, lookup.out, room) else { return Ok(false) };
    code[way..way + DISPLACEMENT].copy_from_slice(&(skips + ROOM_LEN as i32).to_le_bytes());
    // The last byte of the access is looked for, unless alignment says that it is in the line.
    if bytes::<2>(code, lookup.parts)?[1] == LEA {
        code[lookup.page - 1] = (tap.size - 1) as u8;
    }
    let lines_mask = (-1_i64 << lines.line_bits) as i32;
    let page = lookup.page + AND_PAGE.len();
    let pages_mask = i32::from_le_bytes(bytes(code, page)?);
    let mask = lines_mask | pages_mask & ((1 << PAGE_BITS) - 1);
    code[page..page + DISPLACEMENT].copy_from_slice(&mask.to_le_bytes());
    let [mask, table] = parts(SPARE);
    // What will be stored to must be writable from the first: its entry is looked at from there on.
    let (table, from) = if tap.modifies { (STORES as u8, offset_of!(DataLine, write)) } else { (table, 0) };
    code[lookup.start + SHIFT.len() - 1] = lines.shift() as u8;
    code[lookup.start + SHIFT.len() + AND_MASK.len()] = mask;
    code[lookup.parts - 1] = table;
    code[data - 1] = (offset_of!(DataLine, addend) - from) as u8;
    let time = (offset_of!(DataLine, time) - from) as u8;
    // mov esi, [rbp + CLOCK]; sub esi, back; mov rdi, [rdi + time]; mov [rdi], esi
    let back = (times - 1 - u32::from(tap.index)).to_le_bytes();
    let load = [0x8b, 0x75, CLOCK as u8, 0x81, 0xee];
    let store = [0x48, 0x8b, 0x7f, time, 0x89, 0x37];
    write_over(&mut code[room..room + ROOM_LEN], &[&load[..], &back, &store].concat());
    Ok(true)
}

/// Tests whether the data of an access, one instruction, leaves the register with its entry and the
/// one beside it alone.
fn keeps_entry(data: &[u8]) -> bool {
    let instruction = Decoder::new(64, data, DecoderOptions::NONE).decode();
    let written = instruction.op0_register().full_register();
    !instruction.is_invalid()
        && instruction.len() == data.len()
        && !matches!(written, Register::RDI | Register::RSI)
}

/// The place of the displacement by which a call out returns to `to`, and its value.
fn find_return(code: &[u8], out: usize, to: usize) -> Option<(usize, i32)> {
    let ways = [&GO_BACK[..], &RETURN];
    (out..(out + CALL_OUT).min(code.len())).find_map(|at| {
        let way = ways.iter().find(|way| code[at..].starts_with(way))?;
        let place = at + way.len();
        let distance = i32::from_le_bytes(bytes(code, place).ok()?);
        let target = (place + DISPLACEMENT).checked_add_signed(distance as isize)?;
        (target == to).then_some((place, distance))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: LineTlb = LineTlb { table: std::ptr::null_mut(), line_bits: 6 };

    /// A load of eight bytes at RBX as the engine generates it, with the `mov` that loads its data,
    /// room behind it, and its call out.
    fn access(tap: Option<Tap>, data: [u8; 3]) -> Vec<u8> {
        let mut code = vec![0x48, 0x8b, 0xfb, 0x48, 0xc1, 0xef, 0x06, 0x48, 0x23, 0x7d, 0xe0];
        code.extend([0x48, 0x03, 0x7d, 0xe8, 0x48, 0x8d, 0x73, 0x07, 0x48, 0x81, 0xe6, 0, 0xf0, 0xff, 0xff]);
        code.extend([0x48, 0x3b, 0x37, 0x48, 0x8b, 0xf3, 0x0f, 0x85]);
        code.extend((4 + data.len() as i32 + ROOM_LEN as i32).to_le_bytes());
        code.extend([0x48, 0x03, 0x77, 0x20]);
        code.extend(data);
        code.extend(LONG);
        code.extend((PLACE as u32).to_le_bytes());
        code.extend((MARK as u32).to_le_bytes());
        code.extend(SHORT);
        code.extend([NEAR as u8, MARK as u8]);
        // mov rdi, rbp; mov edx, description; jmp to the room.
        code.extend([0x48, 0x8b, 0xfd, 0xba]);
        code.extend((0x32 | tap.map_or(0, Tap::pack) << TAP_SHIFT).to_le_bytes());
        code.push(0xe9);
        code.extend(BACK);
        code
    }

    /// The displacement of that jump.
    const BACK: [u8; 4] = (-(ROOM_LEN as i32) - 13).to_le_bytes();
    const TAP: Tap = Tap { index: 1, size: 16, finds: true, modifies: false };
    /// `mov r12, [rsi]`
    const TO_R12: [u8; 3] = [0x4c, 0x8b, 0x26];
    const CHANGE: Change = Change { lines: LINES, times: 5 };

    fn contains(code: &[u8], part: &[u8]) -> bool {
        code.windows(part.len()).any(|near| near == part)
    }

    #[test]
    fn accesses_without_a_tap_stay() {
        let plain = access(None, TO_R12);
        let mut code = plain.clone();
        assert_eq!(change(&mut code, CHANGE), Ok(0));
        assert_eq!(code, plain);
    }

    #[test]
    fn accesses_with_a_tap_find_their_line() {
        let mut code = access(Some(TAP), TO_R12);
        assert_eq!(change(&mut code, CHANGE), Ok(1));
        let lookup = [
            0x48, 0xc1, 0xef, 0x01, 0x48, 0x23, 0x7d, 0xd0, 0x48, 0x03, 0x7d, 0xd8, 0x48, 0x8d, 0x73, 15,
            0x48, 0x81, 0xe6, 0xc0, 0xff, 0xff, 0xff,
        ];
        assert_eq!(code[3..3 + lookup.len()], lookup);
        // add rsi, [rdi + 16]; mov r12, [rsi]; mov esi, [rbp - 12]; sub esi, 3;
        // mov rdi, [rdi + 24]; mov [rdi], esi
        let data = [
            0x48, 0x03, 0x77, 0x10, 0x4c, 0x8b, 0x26, 0x8b, 0x75, 0xf4, 0x81, 0xee, 3, 0, 0, 0, 0x48, 0x8b,
            0x7f, 0x18, 0x89, 0x37,
        ];
        let at = code.windows(data.len()).position(|near| near == data).expect("the data of the access");
        // The call returns behind the room.
        let back = i32::from_le_bytes(code[code.len() - 4..].try_into().expect("four bytes"));
        assert_eq!(code.len() as i32 + back, (at + 7 + ROOM_LEN) as i32);
    }

    /// A store follows, so the entry is looked at from the address for stores on.
    #[test]
    fn modifications_look_for_what_is_writable() {
        let mut code = access(Some(Tap { modifies: true, ..TAP }), TO_R12);
        assert_eq!(change(&mut code, CHANGE), Ok(1));
        for part in [[0x48, 0x03, 0x7d, 0xf8], [0x48, 0x03, 0x77, 0x08], [0x48, 0x8b, 0x7f, 0x10]] {
            assert!(contains(&code, &part), "{part:x?}");
        }
    }

    /// Accesses whose instruction may fault later, or whose data goes to where the entry is.
    #[test]
    fn other_accesses_always_call() {
        let to_rdi = [0x48, 0x8b, 0x3e];
        for (tap, data) in [(Tap { finds: false, ..TAP }, TO_R12), (TAP, to_rdi)] {
            let mut code = access(Some(tap), data);
            assert_eq!(change(&mut code, CHANGE), Ok(1));
            assert!(contains(&code, &[0x90, 0xe9]) && code.ends_with(&BACK));
            assert!(contains(&code, &[PAUSES[8], PAUSES[5]].concat()));
        }
    }

    #[test]
    fn another_sequence_is_noticed() {
        let mut code = access(Some(TAP), TO_R12);
        code.truncate(code.len() - 7);
        assert_eq!(change(&mut code, CHANGE), Err(Unknown));
    }
}
