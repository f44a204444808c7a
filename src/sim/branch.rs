//! Cachegrind's branch predictors (`cg_branchpred.c`; its manual, section 5.7.2): a model of the
//! predictors of about 2004, without a return stack, because returns are never counted.

/// Two-bit counters of the conditional predictor.
const COUNTERS: usize = 16384;
/// Low bits of the history and of the branch address that make up the index.
const INDEX_BITS: u32 = 7;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
/// Entries of the target table of the indirect predictor.
const TARGETS: usize = 512;

/// Bits of a counter, which is as many ones as it counts: the next state is a shift.
pub(crate) const COUNTER_MASK: u8 = 7;
/// The bit of a counter from which on it predicts that the branch is taken.
pub(crate) const PREDICTS_TAKEN_BIT: u32 = 1;

/// Bits of the history where it selects counters.
pub(crate) const HISTORY_MASK: u64 = INDEX_MASK << INDEX_BITS;
/// The latest outcome in the history.
pub(crate) const TAKEN: u64 = 1 << INDEX_BITS;

/// The conditional predictor: one saturating counter per mix of the last seven outcomes of any
/// branch and the low seven bits of this branch's address.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    /// Outcomes, the latest in the lowest of the bits of [`HISTORY_MASK`].
    history: u64,
    counters: Box<[u8; COUNTERS]>,
}

impl Default for Conditional {
    fn default() -> Conditional {
        Conditional::new()
    }
}

impl Conditional {
    /// All counters and the history 0: every branch is first predicted not taken.
    #[must_use]
    pub(crate) fn new() -> Conditional {
        Conditional { history: 0, counters: Box::new([0; COUNTERS]) }
    }

    /// Predicts the branch whose first byte is at `addr`, then learns that it was `taken` (control
    /// did not go to the next instruction in memory). True is a misprediction.
    #[inline]
    pub(crate) fn record(&mut self, addr: u64, taken: bool) -> bool {
        let index = self.history | Conditional::counter_of(addr);
        // In range by construction; the mask lets the compiler see it.
        let counter = &mut self.counters[index as usize % COUNTERS];
        let predicted = *counter >> PREDICTS_TAKEN_BIT & 1 != 0;
        *counter = (*counter << (2 * u32::from(taken)) >> 1 | u8::from(taken)) & COUNTER_MASK;
        self.history = (self.history << 1 | u64::from(taken) << INDEX_BITS) & HISTORY_MASK;
        predicted != taken
    }

    /// Index of the counter of the branch at `addr` among those that a history selects.
    #[inline]
    pub(crate) fn counter_of(addr: u64) -> u64 {
        addr & INDEX_MASK
    }

    /// The history and the counters, by a history and [`Conditional::counter_of`], for generated
    /// code that does what [`Conditional::record`] does. A counter is as many ones as it counts.
    pub(crate) fn parts(&mut self) -> (&mut u64, &mut [u8]) {
        (&mut self.history, &mut self.counters[..])
    }

    /// Becomes a copy of another predictor, in the same memory.
    pub(crate) fn copy_from(&mut self, other: &Conditional) {
        self.history = other.history;
        self.counters.copy_from_slice(&other.counters[..]);
    }
}

/// The indirect predictor: the last target of each branch, by the low nine bits of its address.
#[derive(Clone, Debug)]
pub(crate) struct Indirect {
    targets: Box<[u64; TARGETS]>,
}

impl Default for Indirect {
    fn default() -> Indirect {
        Indirect::new()
    }
}

impl Indirect {
    /// All targets 0.
    #[must_use]
    pub(crate) fn new() -> Indirect {
        Indirect { targets: Box::new([0; TARGETS]) }
    }

    /// Predicts the indirect jump or call at `addr`, then learns that it went to `target`. True is
    /// a misprediction.
    #[inline]
    pub(crate) fn record(&mut self, addr: u64, target: u64) -> bool {
        let entry = &mut self.targets[Indirect::entry_of(addr)];
        std::mem::replace(entry, target) != target
    }

    /// Index of the target of the jump at `addr`.
    #[inline]
    pub(crate) fn entry_of(addr: u64) -> usize {
        addr as usize % TARGETS
    }

    /// The targets, for generated code that does what [`Indirect::record`] does.
    pub(crate) fn targets(&mut self) -> &mut [u64] {
        &mut self.targets[..]
    }

    /// Becomes a copy of another predictor, in the same memory.
    pub(crate) fn copy_from(&mut self, other: &Indirect) {
        self.targets.copy_from_slice(&other.targets[..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen not-taken branches at a slot that no test uses bring the history back to zeros.
    fn clear_history(p: &mut Conditional) {
        for _ in 0..16 {
            p.record(0x7f, false);
        }
    }

    #[test]
    fn counter_saturates_at_both_ends() {
        let mut p = Conditional::new();
        let mut at_zero_history = |taken| {
            clear_history(&mut p);
            p.record(0x10, taken)
        };
        // Down from 0 stays 0; two takens are needed to predict taken.
        assert!(!at_zero_history(false));
        assert!(at_zero_history(true)); // 0 -> 1
        assert!(at_zero_history(true)); // 1 -> 2
        assert!(!at_zero_history(true)); // 2 -> 3
        assert!(!at_zero_history(true)); // stays 3
        assert!(at_zero_history(false)); // 3 -> 2
        assert!(!at_zero_history(true)); // 2 -> 3
        assert!(at_zero_history(false)); // 3 -> 2
        assert!(at_zero_history(false)); // 2 -> 1
        assert!(!at_zero_history(false)); // 1 -> 0
        assert!(!at_zero_history(false)); // stays 0
        assert!(at_zero_history(true)); // 0 -> 1
        assert!(!at_zero_history(false)); // 1 -> 0
    }

    #[test]
    fn history_selects_the_counter() {
        // Always taken: each of the seven first histories meets a fresh counter, then all-ones
        // needs two to learn: histories 0, 1, 11, ..., 1111111 (first), 1111111 (second).
        let mut p = Conditional::new();
        let missed: Vec<bool> = (0..12).map(|_| p.record(0x40, true)).collect();
        assert_eq!(missed.iter().filter(|&&m| m).count(), 9);
        assert!(missed[..9].iter().all(|&m| m));
    }

    #[test]
    fn history_is_seven_outcomes_long() {
        // A taken branch eight outcomes ago selects the same counter as none at all.
        let mut p = Conditional::new();
        for _ in 0..2 {
            clear_history(&mut p);
            p.record(1, true);
        }
        clear_history(&mut p);
        p.record(2, true);
        for _ in 0..7 {
            p.record(0x7f, false);
        }
        assert!(!p.record(1, true), "the taken branch has left the history");
        p.record(3, true);
        for _ in 0..6 {
            p.record(0x7f, false);
        }
        assert!(p.record(1, true), "the taken branch is still in the history");
    }

    #[test]
    fn only_seven_address_bits_count() {
        let mut p = Conditional::new();
        for addr in [0x1005, 0x9985] {
            clear_history(&mut p);
            assert!(p.record(addr, true));
        }
        clear_history(&mut p);
        assert!(!p.record(0x05, true), "0x1005, 0x9985 and 0x05 share a counter");
        clear_history(&mut p);
        assert!(p.record(0x45, true), "0x45 does not");
    }

    #[test]
    fn indirect_remembers_one_target_and_aliases() {
        let mut p = Indirect::new();
        assert!(!p.record(0x500, 0), "the table starts with target 0");
        assert!(p.record(0x400, 0x1000));
        assert!(!p.record(0x400, 0x1000));
        assert!(p.record(0x400, 0x2000));
        assert!(p.record(0x400, 0x1000), "only the last target is kept");
        assert!(!p.record(0x600, 0x1000), "0x400 and 0x600 share an entry");
        assert!(p.record(0x401, 0x1000), "0x401 has its own");
        assert!(p.record(u64::MAX, u64::MAX));
        assert!(!p.record(0x1ff, u64::MAX));
    }

    #[test]
    fn clones_are_independent() {
        let mut a = Conditional::new();
        a.record(7, true);
        let mut b = a.clone();
        for _ in 0..20 {
            a.record(7, true);
        }
        assert!(!a.record(7, true));
        assert!(b.record(7, true));
    }

    /// The rules once more, written with comparisons; a fixed pseudo-random sequence.
    #[test]
    fn agrees_with_a_plain_model() {
        let mut p = Conditional::new();
        let mut i = Indirect::new();
        let (mut counters, mut history) = (vec![0_i32; 16384], 0_u64);
        let mut targets = vec![0_u64; 512];
        let mut seed = 88_172_645_463_325_252_u64;
        for step in 0..200_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let addr = (seed >> 20) & 0x3ff;
            let taken = seed & 7 < (addr & 7);
            let at = ((history & 127) << 7 | (addr & 127)) as usize;
            let expected = (counters[at] >= 2) != taken;
            counters[at] = if taken { (counters[at] + 1).min(3) } else { (counters[at] - 1).max(0) };
            history = history << 1 | u64::from(taken);
            assert_eq!(p.record(addr, taken), expected, "step {step}");
            let target = (seed >> 40) & 3;
            let entry = (addr & 511) as usize;
            assert_eq!(i.record(addr, target), targets[entry] != target, "step {step}");
            targets[entry] = target;
        }
    }
}
