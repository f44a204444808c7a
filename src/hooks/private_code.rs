//! Bytes of code that is in no file, as it was when it was translated, by account. Translations are
//! shared, so what one process has translated another may execute.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::hooks::control::AccountId;

/// Instructions by address.
type Insns = FxHashMap<u64, Box<[u8]>>;

/// Layers of an account after which they are made one.
const LAYERS: usize = 16;

/// The code of an account.
#[derive(Clone, Debug, Default)]
struct Layers {
    /// Layers in common with others or with checkpoints, the newest at the end.
    shared: Vec<Arc<Insns>>,
    own: Insns,
}

impl Layers {
    /// Makes a copy, which shares what there is.
    fn share(&mut self) -> Layers {
        if !self.own.is_empty() {
            self.shared.push(Arc::new(std::mem::take(&mut self.own)));
        }
        if self.shared.len() > LAYERS {
            let mut all = Insns::default();
            for layer in self.shared.drain(..) {
                all.extend(layer.iter().map(|(&pc, bytes)| (pc, bytes.clone())));
            }
            self.shared.push(Arc::new(all));
        }
        self.clone()
    }

    fn get(&self, pc: u64) -> Option<&[u8]> {
        let layers = self.shared.iter().map(|layer| &**layer);
        layers.chain([&self.own]).rev().find_map(|layer| layer.get(&pc)).map(|bytes| &**bytes)
    }
}

/// Code in no file of all accounts.
#[derive(Debug, Default)]
pub(crate) struct CodeInNoFile {
    accounts: BTreeMap<AccountId, Layers>,
    /// Translated last at each address, whoever ran. Going back does not change it, because
    /// translations stay.
    latest: Insns,
}

/// Code of the accounts at a checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedCode(BTreeMap<AccountId, Layers>);

impl CodeInNoFile {
    /// Notes an instruction that has been translated.
    pub(super) fn note(&mut self, account: AccountId, pc: u64, bytes: &[u8]) {
        if self.latest.get(&pc).is_none_or(|known| **known != *bytes) {
            self.latest.insert(pc, bytes.into());
        }
        self.accounts.entry(account).or_default().own.insert(pc, bytes.into());
    }

    /// Gives a new account the code of another one.
    pub(super) fn copy(&mut self, account: AccountId, of: AccountId) {
        if let Some(layers) = self.accounts.get_mut(&of) {
            let copy = layers.share();
            self.accounts.insert(account, copy);
        }
    }

    /// Forgets the code of an account.
    pub(super) fn forget(&mut self, account: AccountId) {
        self.accounts.remove(&account);
    }

    /// The instruction that was translated at `pc` for these accounts. Where several have other
    /// code, that of the first counts.
    pub(crate) fn get(&self, accounts: &[AccountId], pc: u64) -> Option<&[u8]> {
        let own = accounts.iter().filter_map(|account| self.accounts.get(account));
        own.filter_map(|layers| layers.get(pc)).next().or_else(|| self.latest.get(&pc).map(|bytes| &**bytes))
    }

    /// Saves the code of the accounts.
    pub(super) fn save(&mut self) -> SavedCode {
        SavedCode(self.accounts.iter_mut().map(|(&id, layers)| (id, layers.share())).collect())
    }

    /// Restores what was saved.
    pub(super) fn restore(&mut self, saved: &SavedCode) {
        self.accounts.clone_from(&saved.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_that_of_its_account() {
        let mut code = CodeInNoFile::default();
        let one = AccountId::FIRST;
        let two = one.next();
        let at = |code: &CodeInNoFile, accounts: &[AccountId]| {
            [8, 16, 24].map(|pc| code.get(accounts, pc).map(<[u8]>::to_vec))
        };
        code.note(one, 8, &[1]);
        code.note(one, 16, &[2, 2]);
        code.copy(two, one);
        let saved = code.save();
        code.note(two, 8, &[3]);
        code.note(AccountId::NONE, 24, &[4]);
        // What is translated once is executed by all that map it.
        assert_eq!(at(&code, &[one]), [Some(vec![1]), Some(vec![2, 2]), Some(vec![4])]);
        assert_eq!(at(&code, &[two]), [Some(vec![3]), Some(vec![2, 2]), Some(vec![4])]);
        assert_eq!(at(&code, &[one, two]), at(&code, &[one]));
        code.restore(&saved);
        assert_eq!(at(&code, &[two])[0], Some(vec![1]));
        code.forget(two);
        // The latest translation stays where there is nothing better.
        assert_eq!(at(&code, &[two])[0], Some(vec![3]));
    }

    #[test]
    fn layers_stay_few() {
        let (mut code, mut last) = (CodeInNoFile::default(), AccountId::FIRST);
        for pc in 0..1000 {
            code.note(last, pc, &[pc as u8]);
            let next = last.next();
            code.copy(next, last);
            last = next;
        }
        assert!(code.accounts[&last].shared.len() <= LAYERS);
        assert!((0..1000).all(|pc| code.accounts[&last].get(pc) == Some(&[pc as u8])));
    }
}
