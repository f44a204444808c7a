//! The guest's random bytes: a seeded stream, so that a run repeats exactly. Nothing here is
//! secret.

/// A stream of bytes from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014), words in little-endian order. Fifteen lines, which no release of a
/// crate can change: profiles depend on them.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    spare: [u8; 8],
    left: usize,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed, spare: [0; 8], left: 0 }
    }

    /// The next eight bytes of the stream as one word.
    fn next_word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. Its bias is below 2^-32 for bounds below 2^32.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next_word() % bound
    }

    /// Fills `buf` with the next bytes of the stream. Cutting the stream into other pieces does not
    /// change its bytes.
    pub fn fill(&mut self, buf: &mut [u8]) {
        let (head, rest) = buf.split_at_mut(self.left.min(buf.len()));
        self.fill_bytes(head);
        let (words, tail) = rest.as_chunks_mut::<8>();
        for word in words {
            *word = self.next_word().to_le_bytes();
        }
        self.fill_bytes(tail);
    }

    fn fill_bytes(&mut self, buf: &mut [u8]) {
        for byte in buf {
            if self.left == 0 {
                self.spare = self.next_word().to_le_bytes();
                self.left = self.spare.len();
            }
            *byte = self.spare[self.spare.len() - self.left];
            self.left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// First outputs for seed 1234567, as the generator's published test vector has them.
    #[test]
    fn matches_the_published_vector() {
        let mut bytes = [0; 24];
        Random::new(1_234_567).fill(&mut bytes);
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn pieces_do_not_matter() {
        let (mut whole, mut parts) = ([0; 37], [0; 37]);
        Random::new(9).fill(&mut whole);
        let mut random = Random::new(9);
        for piece in parts.chunks_mut(5) {
            random.fill(piece);
        }
        assert_eq!(whole, parts);
    }
}
