//! Interned names.

use rustc_hash::FxHashMap;

/// A name in one [`Names`]: cheap to copy and to compare. The order is that in which names were interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

/// Each distinct name once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: FxHashMap<Box<[u8]>, NameId>,
    texts: Vec<Box<[u8]>>,
}

impl Names {
    /// The identity of a name, which may be new.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        // Each name takes more than a byte of a file; four thousand million do not fit into memory.
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The name itself.
    #[must_use]
    pub fn text(&self, id: NameId) -> &[u8] {
        self.texts.get(id.0 as usize).map_or(b"???", |text| text)
    }

    /// All names, in the order in which they were first met.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &[u8])> {
        (0..).map(NameId).zip(self.texts.iter().map(|text| &**text))
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
