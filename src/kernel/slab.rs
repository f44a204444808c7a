//! Slabs: tables of objects that come and go, which know what memory their objects take. An object
//! that was lent to be changed is measured again when the sum is next asked for, so no change has
//! to say what it costs.

use std::collections::BTreeSet;

/// An object of a slab.
pub(crate) trait Charged {
    /// Bytes that it takes on the host, its own place not counted.
    fn charge(&self) -> u64;
    /// The object that a key leads to once its own is gone.
    fn vacant() -> Self;
}

#[derive(Clone, Debug)]
struct Slot<V> {
    object: V,
    charge: u64,
    touched: bool,
}

/// Objects of one kind, by the place that they have.
#[derive(Clone, Debug)]
pub(crate) struct Slab<V> {
    slots: Vec<Slot<V>>,
    free: BTreeSet<u32>,
    /// Places to be measured again.
    touched: Vec<u32>,
    charged: u64,
    /// Object behind the keys that lead nowhere.
    vacant: V,
}

impl<V: Charged> Default for Slab<V> {
    fn default() -> Self {
        let (slots, free, touched) = (Vec::new(), BTreeSet::new(), Vec::new());
        Slab { slots, free, touched, charged: 0, vacant: V::vacant() }
    }
}

impl<V: Charged> Slab<V> {
    /// Adds an object at the lowest free place.
    pub(crate) fn insert(&mut self, object: V) -> u32 {
        if let Some(at) = self.free.pop_first() {
            *self.get_mut(at) = object;
            return at;
        }
        let at = self.slots.len() as u32;
        self.slots.push(Slot { object, charge: 0, touched: true });
        self.touched.push(at);
        at
    }

    /// Counts the objects.
    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Takes an object out. Its place is given to another one.
    pub(crate) fn remove(&mut self, at: u32) -> V {
        let object = std::mem::replace(self.get_mut(at), V::vacant());
        if (at as usize) < self.slots.len() {
            self.free.insert(at);
        }
        while let Some(last) = self.free.last().copied().filter(|last| *last as usize + 1 == self.slots.len())
        {
            self.free.remove(&last);
            self.charged -= self.slots.pop().map_or(0, |slot| slot.charge);
        }
        if self.slots.len() * 4 < self.slots.capacity() {
            self.slots.shrink_to(self.slots.len() * 2);
        }
        object
    }

    pub(crate) fn get(&self, at: u32) -> &V {
        self.slots.get(at as usize).map_or(&self.vacant, |slot| &slot.object)
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> &mut V {
        let Some(slot) = self.slots.get_mut(at as usize) else { return &mut self.vacant };
        if !slot.touched {
            slot.touched = true;
            self.touched.push(at);
        }
        &mut slot.object
    }

    /// The objects and their places; at free ones the vacant object.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        self.slots.iter().enumerate().map(|(at, slot)| (at as u32, &slot.object))
    }

    /// Bytes that the objects and their places take.
    pub(crate) fn charged(&mut self) -> u64 {
        for at in self.touched.drain(..) {
            let Some(slot) = self.slots.get_mut(at as usize) else { continue };
            slot.touched = false;
            self.charged -= slot.charge;
            slot.charge = slot.object.charge();
            self.charged += slot.charge;
        }
        self.charged + (self.slots.len() * size_of::<Slot<V>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Charged for String {
        fn charge(&self) -> u64 {
            self.len() as u64
        }

        fn vacant() -> String {
            String::new()
        }
    }

    #[test]
    fn what_is_changed_is_measured_again() {
        let mut slab = Slab::default();
        let place = size_of::<Slot<String>>() as u64;
        let keys = ["a", "bc", "def"].map(|text| slab.insert(text.to_owned()));
        assert_eq!(slab.charged(), 3 * place + 6);
        slab.get_mut(keys[1]).push_str("1234");
        slab.get_mut(keys[1]).push_str("5678");
        assert_eq!(slab.charged(), 3 * place + 14);
        assert_eq!(slab.remove(keys[1]), "bc12345678");
        assert_eq!((slab.charged(), slab.get(keys[1]).len()), (3 * place + 4, 0));
        assert_eq!(slab.insert("new".to_owned()), keys[1]);
        for key in keys {
            slab.remove(key);
        }
        assert_eq!((slab.charged(), slab.slots.len(), slab.insert(String::new())), (0, 0, 0));
    }
}
