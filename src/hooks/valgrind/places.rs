//! A table of slices of the registers: what is known of each. Nearly all are whole words, which are found without a search.

use super::ir::{Slice, Type};
use super::state;

/// Bytes of a word.
const WORD: u16 = 8;

/// Words of the registers.
const WORDS: usize = (state::LENGTH / WORD) as usize;

/// What is known of slices. Two that overlap may both be in it.
#[derive(Debug)]
pub(super) struct Places<V> {
    /// Slices that are one whole word, those whose bit in `present` is set.
    words: [(Type, V); WORDS],
    present: u128,
    /// All others.
    parts: Vec<(Slice, V)>,
    /// Words that may have bytes of one of those.
    parted: u128,
}

/// The word that a slice is, if it is one.
fn word(slice: Slice) -> Option<usize> {
    (slice.ty.size() == WORD && slice.offset.is_multiple_of(WORD)).then_some(usize::from(slice.offset / WORD))
}

/// A bit for each word that has one of `len` bytes.
fn touched(offset: u16, len: u16) -> u128 {
    let (first, last) = (offset / WORD, (offset + len - 1) / WORD);
    (2 << last) - (1 << first)
}

impl<V: Copy + Default> Default for Places<V> {
    fn default() -> Places<V> {
        Places { words: [(Type::Vector, V::default()); WORDS], present: 0, parts: Vec::new(), parted: 0 }
    }
}

impl<V: Copy> Places<V> {
    /// The type that a slice of the same bytes has in the table, and what is known of it.
    pub fn find(&self, slice: Slice) -> Option<(Type, V)> {
        match word(slice) {
            Some(word) if self.present >> word & 1 == 0 => None,
            Some(word) => self.words.get(word).copied(),
            None if self.parted & touched(slice.offset, slice.ty.size()) == 0 => None,
            None => {
                let found = self.parts.iter().find(|(place, _)| place.same_place(slice))?;
                Some((found.0.ty, found.1))
            }
        }
    }

    /// Notes something of a slice that is not in the table.
    pub fn insert(&mut self, slice: Slice, value: V) {
        match word(slice).and_then(|word| Some((word, self.words.get_mut(word)?))) {
            Some((word, place)) => {
                *place = (slice.ty, value);
                self.present |= 1 << word;
            }
            None => {
                self.parted |= touched(slice.offset, slice.ty.size());
                self.parts.push((slice, value));
            }
        }
    }

    /// Takes out the slices that have any of these bytes.
    pub fn remove(&mut self, offset: u16, len: u16) {
        let touched = touched(offset, len);
        self.present &= !touched;
        if self.parted & touched != 0 {
            self.parts.retain(|(place, _)| !place.overlaps(offset, len));
        }
    }

    /// Takes out all.
    pub fn clear(&mut self) {
        (self.present, self.parted) = (0, 0);
        self.parts.clear();
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
        let mut places = Places::default();
        places.insert(slice(8, 8), 1);
        places.insert(slice(8, 1), 2);
        places.insert(Slice { offset: 24, ty: Type::Vector }, 3);
        assert_eq!(places.find(slice(8, 8)), Some((Type::Int(8), 1)));
        assert_eq!(places.find(Slice { offset: 8, ty: Type::Float(8) }), Some((Type::Int(8), 1)));
        assert_eq!(places.find(slice(8, 1)), Some((Type::Int(1), 2)));
        assert_eq!(places.find(Slice { offset: 24, ty: Type::Vector }), Some((Type::Vector, 3)));
        assert_eq!(
            (places.find(slice(8, 4)), places.find(slice(9, 1)), places.find(slice(32, 8))),
            (None, None, None)
        );
    }

    #[test]
    fn what_overlaps_goes() {
        let mut places = Places::default();
        places.insert(slice(8, 8), 1);
        places.insert(slice(8, 1), 2);
        places.insert(slice(9, 1), 3);
        places.insert(Slice { offset: 24, ty: Type::Vector }, 4);
        places.remove(8, 1);
        assert_eq!((places.find(slice(8, 8)), places.find(slice(8, 1))), (None, None));
        assert_eq!(places.find(slice(9, 1)), Some((Type::Int(1), 3)));
        places.remove(32, 4);
        assert_eq!(places.find(Slice { offset: 24, ty: Type::Vector }), None);
        // The last word.
        places.insert(slice(state::LENGTH - 8, 8), 5);
        places.remove(0, state::LENGTH);
        assert_eq!((places.find(slice(9, 1)), places.find(slice(state::LENGTH - 8, 8))), (None, None));
    }
}
