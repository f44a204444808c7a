//! Numbers in few bytes, for what is kept and not used: most are small, or near the one before.

/// A writer of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packer(Vec<u8>);

impl Packer {
    /// Adds a number: seven bits a byte, the lowest first.
    pub(crate) fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds a number by its distance from one that the reader knows.
    pub(crate) fn put_near(&mut self, number: u64, known: u64) {
        let distance = number.wrapping_sub(known) as i64;
        self.put((distance << 1 ^ distance >> 63) as u64);
    }

    /// Adds each number by its distance from the known one in its place.
    pub(crate) fn put_all_near<const N: usize>(&mut self, numbers: [u64; N], known: [u64; N]) {
        numbers.into_iter().zip(known).for_each(|(number, known)| self.put_near(number, known));
    }

    /// The numbers.
    pub(crate) fn finish(self) -> Box<[u8]> {
        self.0.into_boxed_slice()
    }
}

/// The reader of what a [`Packer`] has written. After the end all numbers are 0.
#[derive(Debug)]
pub(crate) struct Unpacker<'a>(pub(crate) &'a [u8]);

impl Unpacker<'_> {
    /// The next number.
    pub(crate) fn take(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.0.split_first() {
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 || shift > 63 {
                break;
            }
        }
        number
    }

    /// The next number, which was written by its distance from this one.
    pub(crate) fn take_near(&mut self, known: u64) -> u64 {
        let folded = self.take();
        let distance = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        known.wrapping_add(distance as u64)
    }

    /// The next numbers, which were written by their distances from these.
    pub(crate) fn take_all_near<const N: usize>(&mut self, known: [u64; N]) -> [u64; N] {
        known.map(|known| self.take_near(known))
    }
}

/// An element of a [`PackedList`].
pub(crate) trait Pack: Copy + Default {
    /// Adds it; `before` is the one before, or the default.
    fn pack(&self, before: &Self, packer: &mut Packer);

    /// Takes it.
    fn unpack(before: &Self, unpacker: &mut Unpacker<'_>) -> Self;
}

impl Pack for u64 {
    fn pack(&self, before: &u64, packer: &mut Packer) {
        packer.put_near(*self, *before);
    }

    fn unpack(before: &u64, unpacker: &mut Unpacker<'_>) -> u64 {
        unpacker.take_near(*before)
    }
}

/// A value and its index, which is near that of the one before.
impl<T: Pack> Pack for (u32, T) {
    fn pack(&self, before: &(u32, T), packer: &mut Packer) {
        packer.put_near(self.0.into(), before.0.into());
        self.1.pack(&before.1, packer);
    }

    fn unpack(before: &(u32, T), unpacker: &mut Unpacker<'_>) -> (u32, T) {
        (unpacker.take_near(before.0.into()) as u32, T::unpack(&before.1, unpacker))
    }
}

/// A list in few bytes, read from its beginning on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedList<T> {
    numbers: Packer,
    last: T,
    len: usize,
}

impl<T: Pack> PackedList<T> {
    /// Adds an element.
    pub(crate) fn push(&mut self, element: T) {
        element.pack(&self.last, &mut self.numbers);
        (self.last, self.len) = (element, self.len + 1);
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.numbers.0.len() as u64
    }

    /// The elements.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'_, T> {
        let (mut unpacker, mut before) = (Unpacker(&self.numbers.0), T::default());
        (0..self.len).map(move |_| {
            before = T::unpack(&before, &mut unpacker);
            before
        })
    }

    /// Gives back the room for more.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.numbers.0.shrink_to_fit();
    }
}

impl<T: Pack> Extend<T> for PackedList<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| self.push(element));
    }
}

impl<T: Pack> FromIterator<T> for PackedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> PackedList<T> {
        let mut list = PackedList::default();
        list.extend(elements);
        list.shrink_to_fit();
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX >> 1, 1 << 63, u64::MAX];
        let mut packer = Packer::default();
        for (i, &number) in numbers.iter().enumerate() {
            packer.put(number);
            packer.put_near(number, numbers[numbers.len() - 1 - i]);
        }
        let bytes = packer.finish();
        let mut unpacker = Unpacker(&bytes);
        for (i, &number) in numbers.iter().enumerate() {
            assert_eq!(unpacker.take(), number);
            assert_eq!(unpacker.take_near(numbers[numbers.len() - 1 - i]), number);
        }
        assert_eq!((unpacker.take(), unpacker.take_near(7)), (0, 7), "after the end");
    }

    #[test]
    fn near_numbers_are_short() {
        let mut packer = Packer::default();
        packer.put_near(0x7fff_ffff_f000, 0x7fff_ffff_efff);
        packer.put_near(0x7fff_ffff_f000, 0x7fff_ffff_f001);
        assert_eq!(packer.finish().len(), 2);
    }

    #[test]
    fn lists_come_back() {
        let elements = [(7, 1 << 63), (7, 0), (u32::MAX, u64::MAX), (0, 5)];
        let mut list: PackedList<(u32, u64)> = elements.into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), elements);
        list.extend([(1, 6), (2, 6)]);
        assert_eq!((list.iter().len(), list.len()), (6, 6));
        assert_eq!(list.iter().skip(4).collect::<Vec<_>>(), [(1, 6), (2, 6)]);
        assert_eq!(PackedList::<u64>::default().iter().next(), None);
        let near: PackedList<u64> = (1 << 40..(1 << 40) + 1000).collect();
        assert_eq!(near.bytes(), 6 + 999, "a byte for each after the first");
    }
}
