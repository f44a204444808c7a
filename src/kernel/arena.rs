//! Arenas: the objects that tasks own or share, named by typed numbers.
//!
//! A task names what it shares by number instead of by reference. So a copy of the kernel, which a
//! checkpoint is, shares nothing that changes. (`slotmap` and `id-arena` would do the same for a
//! dependency; these forty lines are all that is used of them.)

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that names an object of one kind.
pub(crate) trait Key: Copy {
    /// The key of the object at an index.
    fn new(index: usize) -> Self;
    /// The index of the object.
    fn index(self) -> usize;
}

/// Objects of one kind. Only an arena makes keys, so every key leads to an object.
#[derive(Clone, Debug)]
pub(crate) struct Arena<K, V> {
    objects: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Key, V> Arena<K, V> {
    /// An arena with one object, and its key.
    pub(crate) fn with(object: V) -> (Arena<K, V>, K) {
        (Arena { objects: vec![object], key: PhantomData }, K::new(0))
    }

    /// Keys and objects in the order in which they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.objects.iter().enumerate().map(|(index, object)| (K::new(index), object))
    }

    /// The objects, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.objects.iter_mut()
    }
}

impl<K: Key, V> Index<K> for Arena<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        &self.objects[key.index()]
    }
}

impl<K: Key, V> IndexMut<K> for Arena<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.objects[key.index()]
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
