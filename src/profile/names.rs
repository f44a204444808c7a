//! Interned names.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The name of a file or function that is not known, as Cachegrind writes it.
pub const UNKNOWN: &str = "???";

/// A name in one [`Names`]: cheap to copy and to compare. The order is that in which names were
/// interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The place in that order, from 1 on.
    #[must_use]
    pub fn number(self) -> u64 {
        u64::from(self.0) + 1
    }
}

/// The places of names in the order of their bytes.
#[derive(Clone, Debug)]
pub struct Ranks(Vec<u32>);

impl Ranks {
    /// The place of a name; `None` if it was interned later.
    #[must_use]
    pub fn get(&self, id: NameId) -> Option<u32> {
        self.0.get(id.0 as usize).copied()
    }
}

/// Interned names, each distinct one once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: FxHashMap<Arc<[u8]>, NameId>,
    texts: Vec<Arc<[u8]>>,
}

impl Names {
    /// The identity of a name, which may be new.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.find(name) {
            return id;
        }
        // Each name takes more than a byte of a file; four thousand million do not fit into memory.
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<[u8]> = name.into();
        self.ids.insert(Arc::clone(&text), id);
        self.texts.push(text);
        id
    }

    /// The identity of a name that has been interned.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// The name itself.
    #[must_use]
    pub fn text(&self, id: NameId) -> &[u8] {
        self.texts.get(id.0 as usize).map_or(UNKNOWN.as_bytes(), |text| text)
    }

    /// All names, in the order in which they were first met.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &[u8])> {
        (0..).map(NameId).zip(self.texts.iter().map(|text| &**text))
    }

    /// The names' places in the order of their bytes.
    #[must_use]
    pub fn ranks(&self) -> Ranks {
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.sort_unstable_by_key(|&id| self.texts.get(id));
        let mut ranks = vec![0; order.len()];
        for (rank, id) in (0..).zip(order) {
            if let Some(place) = ranks.get_mut(id) {
                *place = rank;
            }
        }
        Ranks(ranks)
    }
}
