//! Arenas: the objects that tasks own or share, named by typed numbers.
//!
//! A task names what it shares by number instead of by reference. So a copy of the kernel, which a
//! checkpoint is, shares nothing that changes. A number is never used again: whoever remembers one
//! that is gone finds nothing, and not something else.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use rustc_hash::FxHashMap;

/// A number that names an object of one kind.
pub(crate) trait Key: Copy {
    /// The key of the object at an index.
    fn new(index: usize) -> Self;
    /// The index of the object.
    fn index(self) -> usize;
}

/// Objects of one kind, each with the number of its holders. Only an arena makes keys, so the key
/// of a holder leads to an object.
#[derive(Clone, Debug)]
pub(crate) struct Arena<K, V> {
    /// Objects and numbers of holders, in places that are used again.
    slots: Vec<Option<(V, u32)>>,
    free: Vec<u32>,
    /// Places by index: every question of the engine looks up several.
    places: FxHashMap<usize, u32>,
    /// The same in the order in which they were made.
    order: BTreeMap<usize, u32>,
    next: usize,
    key: PhantomData<K>,
}

impl<K, V> Default for Arena<K, V> {
    fn default() -> Self {
        let (slots, free, places, order) = Default::default();
        Arena { slots, free, places, order, next: 0, key: PhantomData }
    }
}

impl<K: Key, V> Arena<K, V> {
    /// An arena with one object, and its key.
    pub(crate) fn with(object: V) -> (Arena<K, V>, K) {
        let mut arena = Arena::default();
        let key = arena.add(object);
        (arena, key)
    }

    /// Adds an object with one holder.
    pub(crate) fn add(&mut self, object: V) -> K {
        let index = self.next;
        self.next += 1;
        let slot = Some((object, 1));
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.places.insert(index, place);
        self.order.insert(index, place);
        K::new(index)
    }

    /// The key that the next object gets.
    pub(crate) fn next_key(&self) -> K {
        K::new(self.next)
    }

    fn slot(&self, key: K) -> Option<&(V, u32)> {
        let place = self.places.get(&key.index())?;
        self.slots.get(*place as usize)?.as_ref()
    }

    fn slot_mut(&mut self, key: K) -> Option<&mut (V, u32)> {
        let place = self.places.get(&key.index())?;
        self.slots.get_mut(*place as usize)?.as_mut()
    }

    /// Adds a holder.
    pub(crate) fn hold(&mut self, key: K) {
        if let Some((_, holders)) = self.slot_mut(key) {
            *holders += 1;
        }
    }

    /// Takes a holder away; the object, if it was the last one.
    pub(crate) fn release(&mut self, key: K) -> Option<V> {
        let (_, holders) = self.slot_mut(key)?;
        *holders -= 1;
        if *holders > 0 {
            return None;
        }
        let place = self.places.remove(&key.index())?;
        self.order.remove(&key.index());
        self.free.push(place);
        self.slots.get_mut(place as usize)?.take().map(|(object, _)| object)
    }

    /// Number of holders.
    pub(crate) fn holders(&self, key: K) -> u32 {
        self.slot(key).map_or(0, |(_, holders)| *holders)
    }

    /// An object, if it is still there.
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.slot(key).map(|(object, _)| object)
    }

    /// An object, to be changed.
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.slot_mut(key).map(|(object, _)| object)
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Keys and objects in the order in which they were made.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        let slot = |(index, place): (&usize, &u32)| {
            let (object, _) = self.slots.get(*place as usize)?.as_ref()?;
            Some((K::new(*index), object))
        };
        self.order.iter().filter_map(slot)
    }

    /// The objects, to be changed, in no order that means anything.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().flatten().map(|(object, _)| object)
    }
}

impl<K: Key, V> Index<K> for Arena<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        let Some((object, _)) = self.slot(key) else { unreachable!("a holder's object is there") };
        object
    }
}

impl<K: Key, V> IndexMut<K> for Arena<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        let Some((object, _)) = self.slot_mut(key) else { unreachable!("a holder's object is there") };
        object
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(u32);

            impl Key for $name {
                fn new(index: usize) -> Self {
                    $name(index as u32)
                }

                fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

keys! {
    /// A task.
    TaskId;
    /// A thread group; tasks share it with CLONE_THREAD.
    ProcessId;
    /// An address space; tasks share it with CLONE_VM.
    MmId;
    /// A table of signal handlers; tasks share it with CLONE_SIGHAND.
    HandlersId;
    /// A descriptor table; tasks share it with CLONE_FILES.
    FdTableId;
    /// Working directory, root and umask; tasks share them with CLONE_FS.
    FsContextId;
}
