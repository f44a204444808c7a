//! Has generated code look for counted accesses in the TLB of lines.
//!
//! The engine generates one sequence for every access: it finds an entry by bits of the address,
//! compares, and adds what leads to the host, or goes to the end of the block for a call, where the
//! description of the access is an operand. Of those with a tap, the constants of the sequence are
//! changed when the block's code is done.
#![allow(unsafe_code)]

use crate::emu::unicorn::line_tlb::{GUEST, LineTlb, PAGE_BITS, SPARE, TABLE, TAP_SHIFT, Tap, fast};

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

/// Changes all accesses of a block's code that have a tap. Returns their number.
///
/// # Errors
/// When an access looks otherwise than the engine's.
pub(super) fn change(code: &mut [u8], lines: &LineTlb) -> Result<usize, Unknown> {
    let [mask, table] = parts(GUEST);
    let start = [&SHIFT[..], &AND_MASK, &[mask], &ADD_TABLE, &[table]].concat();
    let (mut at, mut changed) = (0, 0);
    while let Some(found) = find_from(code, at, &start) {
        at = found + start.len();
        let page = find(code, at, 8, &AND_PAGE)?;
        let jump = find(code, page + AND_PAGE.len() + DISPLACEMENT, 12, &JUMP)?;
        let end = jump + JUMP.len() + DISPLACEMENT;
        let distance = i32::from_le_bytes(bytes(code, jump + JUMP.len())?);
        let out = end.checked_add_signed(distance as isize).ok_or(Unknown)?;
        let Some(tap) = Tap::of(description(code, out)? >> TAP_SHIFT) else { continue };
        // The last byte of the access is looked for, unless alignment says that it is in the line.
        if bytes::<2>(code, at)?[1] == LEA {
            code[page - 1] = (tap.size - 1) as u8;
        }
        let lines_mask = (-1_i64 << lines.line_bits()) as i32;
        let pages_mask = i32::from_le_bytes(bytes(code, page + AND_PAGE.len())?);
        let mask = lines_mask | pages_mask & ((1 << PAGE_BITS) - 1);
        code[page + AND_PAGE.len()..][..4].copy_from_slice(&mask.to_le_bytes());
        let [mask, table] = parts(SPARE);
        code[found + SHIFT.len() - 1] = lines.shift() as u8;
        code[found + SHIFT.len() + AND_MASK.len()] = mask;
        code[at - 1] = table;
        changed += 1;
    }
    Ok(changed)
}

/// The next place of `what`, whose first bytes are rare.
fn find_from(code: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = code.get(from..)?;
    rest.windows(what.len()).position(|at| at == what).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::stripped::Shape;

    /// A load of eight bytes at RBX, as the engine generates it, and its call out.
    fn access(description: u32) -> Vec<u8> {
        let mut code = vec![0x90, 0x48, 0x8b, 0xfb];
        code.extend([0x48, 0xc1, 0xef, 0x06, 0x48, 0x23, 0x7d, 0xe0, 0x48, 0x03, 0x7d, 0xe8]);
        code.extend([0x48, 0x8d, 0x73, 0x07, 0x48, 0x81, 0xe6, 0x00, 0xf0, 0xff, 0xff]);
        code.extend([0x48, 0x3b, 0x37, 0x48, 0x8b, 0xf3, 0x0f, 0x85, 4, 0, 0, 0, 0x48, 0x03, 0x77, 0x20]);
        code.extend([0x48, 0x8b, 0xfd, 0xba]);
        code.extend(description.to_le_bytes());
        code
    }

    #[test]
    fn accesses_with_a_tap_look_for_lines() {
        let lines = LineTlb::new(Shape { line_bits: 6, set_bits: 6 }, std::ptr::null_mut());
        let plain = access(0x31);
        let mut code = plain.clone();
        assert_eq!(change(&mut code, &lines), Ok(0));
        assert_eq!(code, plain);
        let tap = Tap { index: 3, size: 16 };
        let mut code = access(0x31 | tap.pack() << TAP_SHIFT);
        assert_eq!(change(&mut code, &lines), Ok(1));
        let changed: Vec<u8> = vec![
            0x48, 0xc1, 0xef, 0x00, 0x48, 0x23, 0x7d, 0xd0, 0x48, 0x03, 0x7d, 0xd8, 0x48, 0x8d, 0x73, 15,
            0x48, 0x81, 0xe6, 0xc0, 0xff, 0xff, 0xff,
        ];
        assert_eq!(code[4..4 + changed.len()], changed);
    }

    #[test]
    fn another_sequence_is_noticed() {
        let lines = LineTlb::new(Shape { line_bits: 6, set_bits: 6 }, std::ptr::null_mut());
        let mut code = access(0x31);
        code.truncate(code.len() - 2);
        assert_eq!(change(&mut code, &lines), Err(Unknown));
    }
}
