//! Calls by which a block tells what takes more than a few instructions.
#![allow(unsafe_code)]

use crate::emu::unicorn::emit::Helper;
use crate::hooks::record::MAX_BLOCK;
use crate::x86::request;

unsafe extern "C" {
    fn helper_bndstx32_x86_64();
}

/// The helper by which a block tells what is listed here: with the state, the plan, which of these
/// it is, and two words. It is one of MPX, which no CPU model has.
pub(crate) const TELL: Helper = helper_bndstx32_x86_64;

/// The retry of a locked operation, by the index of its instruction.
pub(crate) const RETRY: u64 = 0;
/// The branch at its end: whether an outcome of 1 counts as not taken.
pub(crate) const BRANCH: u64 = 1;
/// A repeated string instruction: whether it is repeated if it iterates.
pub(crate) const REPEAT: u64 = 2;
/// The [fetch](Fetch) of an instruction from a line. The second word has the number of the
/// line, and in its high half the counter of the instruction's misses.
pub(crate) const FETCH: u64 = 3;
/// A data event, by its index, at an address.
pub(crate) const DATA: u64 = 4;
/// All data events of the instruction with an index, whose first slot the second word is.
pub(crate) const EVENTS: u64 = 5;

/// Fetch of an instruction from a line, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Index of the instruction in its block.
    pub(crate) insn: u16,
    /// Its address.
    pub(crate) pc: u64,
    /// Its length.
    pub(crate) len: u8,
    /// It ends in the line and began before it.
    pub(crate) ends: bool,
}

/// The lowest bits of the parts behind the index. The address has the bits above it that its
/// highest one is.
const LENGTH: u32 = 10;
const ENDS: u32 = 15;
const PC: u32 = 16;

// A client request is the longest instruction.
const _: () = assert!(MAX_BLOCK < 1 << LENGTH && request::LENGTH < 1 << (ENDS - LENGTH));

impl Fetch {
    /// Packs it.
    pub(crate) fn word(self) -> u64 {
        let Fetch { insn, pc, len, ends } = self;
        u64::from(insn) | u64::from(len) << LENGTH | u64::from(ends) << ENDS | pc << PC
    }

    /// Unpacks a word.
    pub(crate) fn of(word: u64) -> Fetch {
        Fetch {
            insn: word as u16 & ((1 << LENGTH) - 1),
            pc: (word.cast_signed() >> PC).cast_unsigned(),
            len: (word >> LENGTH) as u8 & ((1 << (ENDS - LENGTH)) - 1),
            ends: word >> ENDS & 1 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::decode::MAX_LENGTH;

    #[test]
    fn a_fetch_is_one_word() {
        for (insn, pc) in [(0, 0x40_1000), (MAX_BLOCK as u16, 0x7fff_ffff_eff1), (9, 0xffff_ffff_ff60_0000)] {
            for (len, ends) in
                [(1, false), (MAX_LENGTH, true), (request::LENGTH, true), (request::LENGTH, false)]
            {
                let fetch = Fetch { insn, pc, len: len as u8, ends };
                assert_eq!(Fetch::of(fetch.word()), fetch);
            }
        }
    }
}
