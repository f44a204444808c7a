//! PCMPESTRI, PCMPESTRM, PCMPISTRI and PCMPISTRM (Intel SDM vol. 2, section 4.1). The engine's read
//! past their registers for some lengths, and get ranges of odd length and substrings at the end
//! wrong.

use crate::emu::unicorn::helpers::env::{Env, Lanes, V, read, write};
use crate::emu::unicorn::wrapped::replace;

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;

/// Elements that a length register allows, up to `slots`; its sign does not matter.
fn explicit(value: u64, wide: bool, slots: usize) -> usize {
    let length =
        if wide { value.cast_signed().unsigned_abs() } else { u64::from((value as i32).unsigned_abs()) };
    length.min(slots as u64) as usize
}

/// Elements of an operand, signed or not as the immediate has it, and their number.
fn elements(v: V, imm: u32) -> ([i32; 16], usize) {
    let bytes: [u8; 16] = std::array::from_fn(|i| (v[i / 8] >> (8 * (i % 8))) as u8);
    let slots = if imm & 1 == 0 { 16 } else { 8 };
    let element = |i: usize| match imm & 3 {
        0 => i32::from(bytes[i]),
        2 => i32::from(bytes[i].cast_signed()),
        _ if i >= 8 => 0,
        1 => i32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])),
        _ => i32::from(i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])),
    };
    (std::array::from_fn(element), slots)
}

/// The comparison's bit mask, after polarity, and the flags.
fn compare(first: V, second: V, lengths: Option<(usize, usize)>, imm: u32) -> (u32, u64) {
    let (a, slots) = elements(first, imm);
    let (b, _) = elements(second, imm);
    let up_to_zero = |of: &[i32; 16]| of[..slots].iter().position(|e| *e == 0).unwrap_or(slots);
    let (in_a, in_b) = lengths.unwrap_or_else(|| (up_to_zero(&a), up_to_zero(&b)));
    let hit = |i: usize| match imm >> 2 & 3 {
        // Equal any: the element is in the set.
        0 => i < in_b && a[..in_a].contains(&b[i]),
        // Ranges: it is between the two of a pair; half a pair is none.
        1 => i < in_b && a[..in_a].chunks_exact(2).any(|pair| (pair[0]..=pair[1]).contains(&b[i])),
        // Equal each: past both ends they are equal.
        2 => match (i < in_a, i < in_b) {
            (true, true) => a[i] == b[i],
            (false, false) => true,
            _ => false,
        },
        // Equal ordered: the first string begins here, as far as the register goes.
        _ => (0..in_a.min(slots - i)).all(|k| i + k < in_b && a[k] == b[i + k]),
    };
    let mut mask = (0..slots).filter(|i| hit(*i)).fold(0u32, |mask, i| mask | 1 << i);
    match imm >> 4 & 3 {
        1 => mask ^= (1 << slots) - 1,
        3 => mask ^= (1u32 << in_b) - 1,
        _ => {}
    }
    let flags = u64::from(mask != 0)
        | u64::from(in_b < slots) << 6
        | u64::from(in_a < slots) << 7
        | u64::from(mask & 1) << 11;
    (mask, flags)
}

/// Stores the index of the first or last element in RCX.
fn index(env: Env, mask: u32, imm: u32) {
    let index = match (mask, imm & 0x40) {
        (0, _) => 16 >> (imm & 1),
        (_, 0) => mask.trailing_zeros(),
        _ => 31 - mask.leading_zeros(),
    };
    env.set_gpr(RCX, u64::from(index));
}

/// Stores the mask in XMM0, one bit or all bits per element.
fn spread(env: Env, mask: u32, imm: u32) {
    let value = if imm & 0x40 == 0 {
        [u64::from(mask), 0]
    } else {
        let (bits, slots) = if imm & 1 == 0 { (8, 16) } else { (16, 8) };
        let all = (1u64 << bits) - 1;
        (0..slots).fold([0; 2], |mut v: V, i| {
            let at = i * bits;
            v[at / 64] |= (all * u64::from(mask >> i & 1)) << (at % 64);
            v
        })
    };
    // SAFETY: XMM0 is a register.
    unsafe { write(env.xmm(0), value) };
}

macro_rules! compares {
    ($($symbol:ident: $explicit:expr, $answer:ident;)*) => { $(
        replace! {
            fn $symbol(env: Env, to: *const Lanes, from: *const Lanes, imm: u32) {
                // SAFETY: the engine calls its helper with its state, a register and an operand.
                let (first, second) = unsafe { (read(to), read(from)) };
                let slots = if imm & 1 == 0 { 16 } else { 8 };
                // REX.W, which the engine puts above the immediate, makes the lengths 64 bits wide.
                let wide = imm >> 8 != 0;
                let length = |register| explicit(env.gpr(register), wide, slots);
                let lengths = $explicit.then(|| (length(RAX), length(RDX)));
                let (mask, flags) = compare(first, second, lengths, imm);
                env.set_flags(flags);
                $answer(env, mask, imm);
            }
        }
    )* };
}

compares! {
    helper_pcmpestri_xmm: true, index;
    helper_pcmpestrm_xmm: true, spread;
    helper_pcmpistri_xmm: false, index;
    helper_pcmpistrm_xmm: false, spread;
}
