//! Branch predictors that generated code drives itself: those of the current account in one place,
//! and those of the others.

use std::collections::BTreeMap;

use crate::hooks::control::{AccountId, ByAccount, Opening};
use crate::hooks::predictors::{PREDICTOR_BYTES, Predictors};

/// Predictors by account.
#[derive(Debug)]
pub(crate) struct InlinePredictors {
    /// Those that generated code drives; they do not move.
    live: Box<Predictors>,
    /// The account that it belongs to; `None` while what runs is not counted.
    of: Option<AccountId>,
    /// The predictors of the others.
    kept: BTreeMap<AccountId, Box<Predictors>>,
}

/// Predictors of all accounts, for a checkpoint.
pub(super) type SavedPredictors = BTreeMap<AccountId, Box<Predictors>>;

impl InlinePredictors {
    /// Predictors in their initial state for an account.
    pub(super) fn new(account: AccountId) -> InlinePredictors {
        InlinePredictors { live: Box::default(), of: Some(account), kept: BTreeMap::new() }
    }

    /// The predictors that generated code works with.
    pub(crate) fn live(&mut self) -> &mut Predictors {
        &mut self.live
    }

    /// Puts the live predictors away.
    fn put_away(&mut self) {
        if let Some(account) = self.of.take() {
            self.kept.insert(account, self.live.clone());
        }
    }

    /// Gives an account copies of another's predictors.
    fn copy(&mut self, account: AccountId, of: AccountId) {
        let copy = if self.of == Some(of) { Some(self.live.clone()) } else { self.kept.get(&of).cloned() };
        if let Some(copy) = copy {
            self.kept.insert(account, copy);
        }
    }

    /// Bytes that those of the others take.
    pub(super) fn resting_bytes(&self) -> u64 {
        self.kept.len() as u64 * PREDICTOR_BYTES
    }

    /// The predictors of all accounts.
    pub(super) fn save(&self) -> SavedPredictors {
        let live = self.of.map(|account| (account, self.live.clone()));
        self.kept.iter().map(|(&account, kept)| (account, kept.clone())).chain(live).collect()
    }

    /// Restores the predictors of all accounts, and goes on with one as
    /// [`InlinePredictors::switch`] does.
    pub(super) fn restore(&mut self, saved: &SavedPredictors, account: AccountId, counted: bool) {
        self.of = None;
        self.kept.clone_from(saved);
        self.switch(account, counted);
    }
}

impl ByAccount for InlinePredictors {
    fn switch(&mut self, account: AccountId, counted: bool) {
        if self.of == Some(account) && counted {
            return;
        }
        self.put_away();
        if !counted || !account.is_counted() {
            return;
        }
        match self.kept.remove(&account) {
            Some(kept) => self.live.copy_from(&kept),
            None => self.live.copy_from(&Predictors::default()),
        }
        self.of = Some(account);
    }

    fn open(&mut self, account: AccountId, opening: Opening) {
        if let Opening::Copy { of, .. } = opening {
            self.copy(account, of);
        }
    }

    fn reset(&mut self, account: AccountId) {
        self.kept.remove(&account);
        if self.of == Some(account) {
            self.live.copy_from(&Predictors::default());
        }
    }

    fn forget(&mut self, account: AccountId) {
        self.kept.remove(&account);
        if self.of == Some(account) {
            self.of = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains a predictor until it predicts that a branch is taken.
    fn train(predictors: &mut InlinePredictors) {
        for _ in 0..20 {
            predictors.live().conditional.record(5, true);
        }
    }

    fn is_trained(predictors: &mut InlinePredictors) -> bool {
        !predictors.live().clone().conditional.record(5, true)
    }

    #[test]
    fn every_account_has_its_own() {
        let (one, two, three) = (AccountId::FIRST, AccountId::FIRST.next(), AccountId::FIRST.next().next());
        let mut predictors = InlinePredictors::new(one);
        train(&mut predictors);
        predictors.copy(three, one);
        let saved = predictors.save();
        predictors.switch(two, true);
        assert!(!is_trained(&mut predictors));
        predictors.switch(three, true);
        assert!(is_trained(&mut predictors));
        predictors.reset(three);
        assert!(!is_trained(&mut predictors));
        // What is not counted leaves them as they are.
        predictors.switch(two, false);
        train(&mut predictors);
        predictors.switch(two, true);
        assert!(!is_trained(&mut predictors));
        train(&mut predictors);
        predictors.switch(AccountId::NONE, true);
        predictors.switch(two, true);
        assert!(is_trained(&mut predictors));
        predictors.restore(&saved, two, true);
        assert!(!is_trained(&mut predictors));
        predictors.switch(one, true);
        assert!(is_trained(&mut predictors));
    }
}
