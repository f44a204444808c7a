//! State of the translation of a block that drives caches.

use crate::emu::unicorn::line_tlb::Tap;
use crate::emu::unicorn::translator::host_code::{Jump, Place};
use crate::emu::unicorn::translator::tell::Fetch;
use crate::x86::address::Address;
use crate::x86::cost::{self, Access, Cost};

/// Form in which the data events of an instruction are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Data {
    /// Each slot has an event, at its address.
    #[default]
    OneToOne,
    /// All together, when the addresses of all slots are known.
    Together,
}

impl Data {
    pub(super) fn of(cost: &Cost) -> Data {
        let plain = |slot: &cost::Slot| {
            slot.access != Access::None
                && !matches!(slot.address, Address::OperandBit { .. } | Address::Outcome)
        };
        let one_to_one = cost.events.len() == cost.slots.len()
            && cost.slots.iter().all(plain)
            && (0..).zip(&cost.events).all(|(i, event)| {
                event.slot == i && event.offset == 0 && event.size > 0 && event.size <= Tap::LARGEST
            });
        if one_to_one { Data::OneToOne } else { Data::Together }
    }
}

/// Line of I1 that generated code may not find: where it goes then, and where it comes back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct AbsentLine {
    /// Its number.
    pub(super) number: u32,
    pub(super) fetch: Fetch,
    pub(super) jump: Jump,
    pub(super) back: Place,
}

/// State of the translation of a block that drives caches.
#[derive(Debug, Default)]
pub(crate) struct CacheBlock {
    /// Base-2 logarithm of the size of a line of I1.
    pub(super) fetch_shift: u32,
    /// The line that was fetched last.
    pub(super) line: Option<u64>,
    /// Lines fetched at one time.
    pub(super) lines: u64,
    /// Those of the block so far.
    pub(super) absent: Vec<AbsentLine>,
    pub(super) data: Data,
    /// Data events of the block before the instruction.
    pub(super) first_event: usize,
    /// The instruction can fault no more once its last event took place.
    pub(super) ends_with_event: bool,
    /// Room is to be left behind the access at hand.
    pub(super) leaves_room: bool,
}

impl CacheBlock {
    /// A block that has only begun, where lines of I1 have this base-2 logarithm of their size.
    pub(super) fn new(fetch_shift: u32) -> CacheBlock {
        CacheBlock { fetch_shift, ..CacheBlock::default() }
    }
}
