//! Branch predictors of an account, and what generated code that drives them has to know of them.

pub(crate) use crate::sim::{COUNTER_MASK, Conditional, HISTORY_MASK, Indirect, PREDICTS_TAKEN_BIT, TAKEN};

/// Bytes of the predictors.
pub(super) const PREDICTOR_BYTES: u64 = 20 << 10;

/// Branch predictors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predictors {
    /// Predictor of conditional branches.
    pub(crate) conditional: Conditional,
    /// Predictor of indirect branches.
    pub(crate) indirect: Indirect,
}

impl Predictors {
    /// Become copies of others, in the same memory.
    pub(crate) fn copy_from(&mut self, other: &Predictors) {
        self.conditional.copy_from(&other.conditional);
        self.indirect.copy_from(&other.indirect);
    }
}
