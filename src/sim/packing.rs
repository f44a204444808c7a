//! Numbers in few bytes, for what is kept and not used: most are small, or near the one before.

/// A writer of numbers.
#[derive(Debug, Default)]
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
}
