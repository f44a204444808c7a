//! Values by instruction, of which most instructions have none.

/// Values by index, each of them the default until it is set. An index without a value takes four
/// bytes.
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    /// Places of the values, of which the first is that of all defaults.
    places: Vec<u32>,
    values: Vec<T>,
}

impl<T: Clone + Default + PartialEq> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { places: Vec::new(), values: vec![T::default()] }
    }
}

impl<T: Clone + Default + PartialEq> Sparse<T> {
    /// Has room for indices below `len`, which does not fall.
    pub(super) fn grow(&mut self, len: usize) {
        self.places.resize(len.max(self.places.len()), 0);
    }

    /// The value at an index; the default where there is no such index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &T {
        let place = self.places.get(index).copied().unwrap_or_default();
        &self.values[place as usize]
    }

    /// The value at an index, to be changed, if there is room for it.
    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        (index < self.places.len()).then(|| self.at(index))
    }

    /// The value at an index, to be changed; room is made for it.
    #[inline(always)]
    pub(super) fn at(&mut self, index: usize) -> &mut T {
        let Sparse { places, values } = self;
        if index >= places.len() {
            places.resize(index + 1, 0);
        }
        let place = &mut places[index];
        if *place == 0 {
            *place = values.len() as u32;
            values.push(T::default());
        }
        &mut values[*place as usize]
    }

    /// The values that are not the default, with their indices in rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let all = self.places.iter().zip(0..).filter(|(place, _)| **place != 0);
        let none = &self.values[0];
        all.map(|(&place, index)| (index, &self.values[place as usize]))
            .filter(move |(_, value)| *value != none)
    }

    /// Replaces all values; those that are missing are the default.
    pub(super) fn set(&mut self, values: &[(u32, T)]) {
        self.places.fill(0);
        self.values.truncate(1);
        for (index, value) in values {
            if let Some(now) = self.get_mut(*index as usize) {
                now.clone_from(value);
            }
        }
    }
}

impl Sparse<u64> {
    /// Adds to the value at an index.
    pub(super) fn add(&mut self, index: usize, more: u64) {
        if more != 0
            && let Some(sum) = self.get_mut(index)
        {
            *sum += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_were_set() {
        let mut sparse = Sparse::<u64>::default();
        sparse.grow(10);
        for (index, more) in [(3, 5), (9, 1), (3, 2), (4, 0)] {
            *sparse.get_mut(index).expect("room") += more;
        }
        assert!(sparse.get_mut(10).is_none());
        assert_eq!([*sparse.get(3), *sparse.get(4), *sparse.get(9), *sparse.get(99)], [7, 0, 1, 0]);
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(3, &7), (9, &1)]);
        sparse.set(&[(1, 8), (20, 9)]);
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(1, &8)]);
        sparse.grow(4);
        *sparse.get_mut(9).expect("room as before") += 1;
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(1, &8), (9, &1)]);
        *sparse.at(12) += 3;
        *sparse.at(9) += 1;
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(1, &8), (9, &2), (12, &3)]);
    }
}
