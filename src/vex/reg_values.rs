//! Knowledge about slices of the guest state that lifting and the passes keep: values forward, dead
//! writes backward.

use super::guest_state as state;
use super::ir::{Slice, Statement, Type, Value};

/// Size of a word in bytes.
const WORD: u16 = 8;

/// Words of the guest state.
const WORDS: usize = (state::LENGTH / WORD) as usize;

/// Map from slices. Nearly all are whole words, which are found by index. Overlapping slices may
/// both be present.
#[derive(Debug)]
struct SliceMap<V> {
    /// Slices of one whole word; those with a bit in `present` are valid.
    words: [(Type, V); WORDS],
    present: u128,
    /// All other slices.
    parts: Vec<(Slice, V)>,
    /// Words that a slice of `parts` may touch.
    parted: u128,
}

/// Index of the word that a slice is exactly.
fn word(slice: Slice) -> Option<usize> {
    (slice.ty.size() == WORD && slice.offset.is_multiple_of(WORD)).then_some(usize::from(slice.offset / WORD))
}

/// Bit set of the words that a range touches.
fn touched(offset: u16, len: u16) -> u128 {
    let (first, last) = (offset / WORD, (offset + len - 1) / WORD);
    (2 << last) - (1 << first)
}

impl<V: Copy + Default> Default for SliceMap<V> {
    fn default() -> SliceMap<V> {
        SliceMap { words: [(Type::V128, V::default()); WORDS], present: 0, parts: Vec::new(), parted: 0 }
    }
}

impl<V: Copy> SliceMap<V> {
    /// Looks up the same bytes; returns the type under which they were inserted, and the value.
    fn find(&self, slice: Slice) -> Option<(Type, V)> {
        match word(slice) {
            Some(word) if self.present >> word & 1 == 0 => None,
            Some(word) => self.words.get(word).copied(),
            None if self.parted & touched(slice.offset, slice.ty.size()) == 0 => None,
            None => {
                let found = self.parts.iter().find(|(other, _)| other.same_bytes(slice))?;
                Some((found.0.ty, found.1))
            }
        }
    }

    /// Inserts a slice that is not present.
    fn insert(&mut self, slice: Slice, value: V) {
        match word(slice).and_then(|word| Some((word, self.words.get_mut(word)?))) {
            Some((word, entry)) => {
                *entry = (slice.ty, value);
                self.present |= 1 << word;
            }
            None => {
                self.parted |= touched(slice.offset, slice.ty.size());
                self.parts.push((slice, value));
            }
        }
    }

    /// Removes the slices that overlap a range.
    fn remove(&mut self, offset: u16, len: u16) {
        let touched = touched(offset, len);
        self.present &= !touched;
        if self.parted & touched != 0 {
            self.parts.retain(|(slice, _)| !slice.overlaps(offset, len));
        }
    }

    /// Removes everything.
    fn clear(&mut self) {
        (self.present, self.parted) = (0, 0);
        self.parts.clear();
    }
}

/// Values that slices are known to hold, going forward: those read or written last.
#[derive(Debug, Default)]
pub(super) struct RegValues(SliceMap<Value>);

impl RegValues {
    /// Value of a slice. A slice that was accessed with another type has to be read again.
    pub(super) fn value(&self, slice: Slice) -> Option<Value> {
        self.0.find(slice).filter(|(ty, _)| *ty == slice.ty).map(|(_, value)| value)
    }

    /// Takes the effect of a statement into account.
    pub(super) fn apply(&mut self, statement: &Statement) {
        match *statement {
            Statement::Get(to, slice) if self.0.find(slice).is_none() => {
                self.0.insert(slice, Value::Temp(to));
            }
            Statement::Put(slice, value) => {
                self.0.remove(slice.offset, slice.ty.size());
                self.0.insert(slice, value);
            }
            Statement::PutI { tag, .. } => {
                let (offset, len) = state::x87_array(tag);
                self.0.remove(offset, len);
            }
            Statement::Barrier { writes: true, .. } => self.clear(),
            _ => {}
        }
    }

    /// Forgets all values.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Slices that are overwritten before anything can see them, going backward.
#[derive(Debug, Default)]
pub(super) struct Overwritten(SliceMap<()>);

impl Overwritten {
    /// Starts at the end of a superblock, which sets RIP itself.
    pub(super) fn begin(&mut self) {
        self.0.clear();
        self.0.insert(state::RIP, ());
    }

    /// Tests whether a write to the slice would be dead here.
    pub(super) fn contains(&self, slice: Slice) -> bool {
        self.0.find(slice).is_some()
    }

    /// Takes the effect of a statement into account and goes on before it.
    pub(super) fn apply(&mut self, statement: &Statement) {
        match *statement {
            Statement::Put(slice, _) if self.contains(slice) => {}
            Statement::Put(slice, _) => self.0.insert(slice, ()),
            Statement::Get(_, slice) => self.0.remove(slice.offset, slice.ty.size()),
            // A fault here must find RSP.
            Statement::Load { .. } | Statement::Store { .. } => {
                self.0.remove(state::RSP.offset, state::RSP.ty.size());
            }
            Statement::Barrier { .. } | Statement::Exit { .. } => self.0.clear(),
            Statement::GetI { tag, .. } => {
                let (offset, len) = state::x87_array(tag);
                self.0.remove(offset, len);
            }
            Statement::NoOp | Statement::WrTmp(..) | Statement::Use(_) | Statement::PutI { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn slice(offset: u16, bytes: u8) -> Slice {
        Slice { offset, ty: Type::Int(bytes) }
    }

    #[test]
    fn slices_of_the_same_bytes_are_found() {
        let mut map = SliceMap::default();
        map.insert(slice(8, 8), 1);
        map.insert(slice(8, 1), 2);
        map.insert(Slice { offset: 24, ty: Type::V128 }, 3);
        assert_eq!(map.find(slice(8, 8)), Some((Type::Int(8), 1)));
        assert_eq!(map.find(Slice { offset: 8, ty: Type::Float(8) }), Some((Type::Int(8), 1)));
        assert_eq!(map.find(slice(8, 1)), Some((Type::Int(1), 2)));
        assert_eq!(map.find(Slice { offset: 24, ty: Type::V128 }), Some((Type::V128, 3)));
        assert_eq!(
            (map.find(slice(8, 4)), map.find(slice(9, 1)), map.find(slice(32, 8))),
            (None, None, None)
        );
    }

    #[test]
    fn overlapping_slices_are_removed() {
        let mut map = SliceMap::default();
        map.insert(slice(8, 8), 1);
        map.insert(slice(8, 1), 2);
        map.insert(slice(9, 1), 3);
        map.insert(Slice { offset: 24, ty: Type::V128 }, 4);
        map.remove(8, 1);
        assert_eq!((map.find(slice(8, 8)), map.find(slice(8, 1))), (None, None));
        assert_eq!(map.find(slice(9, 1)), Some((Type::Int(1), 3)));
        map.remove(32, 4);
        assert_eq!(map.find(Slice { offset: 24, ty: Type::V128 }), None);
        // The last word.
        map.insert(slice(state::LENGTH - 8, 8), 5);
        map.remove(0, state::LENGTH);
        assert_eq!((map.find(slice(9, 1)), map.find(slice(state::LENGTH - 8, 8))), (None, None));
    }
}
