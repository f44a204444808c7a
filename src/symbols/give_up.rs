//! The wish of a user to stop what reads symbols and debug information, which takes seconds where
//! there is much of it.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Items between two looks at the wish.
const PIECE: usize = 1024;

/// Items that are sorted at once.
const SORTED_AT_ONCE: usize = 1 << 15;

/// Tells if reading is to be given up. Once it is, what was read is incomplete until the wish is
/// taken back, and is not kept.
#[derive(Clone, Default)]
pub struct GiveUp(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl fmt::Debug for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GiveUp").field(&self.asked()).finish()
    }
}

impl GiveUp {
    /// Gives up while `asked` says so.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(asked)))
    }

    /// True if reading is to be given up.
    pub fn asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }

    /// The items, as far as nobody asks to give up.
    pub fn over<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        let mut left = 0usize;
        items.into_iter().take_while(move |_| {
            left = match left.checked_sub(1) {
                Some(left) => left,
                None if self.asked() => return false,
                None => PIECE,
            };
            true
        })
    }

    /// As [`GiveUp::over`], for items each of which takes long.
    pub(crate) fn over_parts<I: IntoIterator>(&self, parts: I) -> impl Iterator<Item = I::Item> {
        parts.into_iter().take_while(|_| !self.asked())
    }

    /// The value of `cell`, which `read` reads if there is none yet; `None` if that was given up.
    pub fn once<'c, T>(&self, cell: &'c OnceCell<T>, read: impl FnOnce() -> T) -> Option<&'c T> {
        if cell.get().is_none() {
            let value = read();
            if self.asked() {
                return None;
            }
            // It was empty.
            let _ = cell.set(value);
        }
        cell.get()
    }

    /// Sorts, stably. Given up, it leaves some of the items out.
    pub(crate) fn sort_by<T>(&self, items: &mut Vec<T>, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.0.is_none() || items.len() <= SORTED_AT_ONCE {
            items.sort_by(compare);
            return;
        }
        let mut parts = Vec::new();
        while !items.is_empty() && !self.asked() {
            let mut part = items.split_off(items.len().saturating_sub(SORTED_AT_ONCE));
            part.sort_by(&mut compare);
            parts.push(part);
        }
        parts.reverse();
        while parts.len() > 1 {
            let mut merged = Vec::new();
            let mut rest = parts.into_iter();
            while let Some(first) = rest.next() {
                merged.push(match rest.next() {
                    Some(second) => self.merge(first, second, &mut compare),
                    None => first,
                });
            }
            parts = merged;
        }
        *items = parts.pop().unwrap_or_default();
    }

    fn merge<T>(
        &self,
        first: Vec<T>,
        second: Vec<T>,
        compare: &mut impl FnMut(&T, &T) -> Ordering,
    ) -> Vec<T> {
        let mut merged = Vec::with_capacity(first.len().saturating_add(second.len()));
        let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
        let both = std::iter::from_fn(|| match (first.peek(), second.peek()) {
            (Some(one), Some(other)) if compare(one, other).is_gt() => second.next(),
            (Some(_), _) => first.next(),
            (None, _) => second.next(),
        });
        merged.extend(self.over(both));
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Gives up at the look with this number.
    fn at_look(number: usize) -> GiveUp {
        let looks = AtomicUsize::new(0);
        GiveUp::when(move || looks.fetch_add(1, Relaxed) + 1 >= number)
    }

    #[test]
    fn ends_where_it_is_asked() {
        assert_eq!(GiveUp::default().over(0..10_000).count(), 10_000);
        assert_eq!(at_look(1).over(0..10_000).count(), 0);
        let some = at_look(3).over(0..10_000).count();
        assert!((PIECE..10_000).contains(&some), "{some}");
        let cell = OnceCell::new();
        assert_eq!(at_look(1).once(&cell, || 1), None);
        assert_eq!(at_look(2).once(&cell, || 2), Some(&2));
        assert_eq!(at_look(1).once(&cell, || 3), Some(&2), "what is there stays");
    }

    #[test]
    fn sorts_as_the_library_does() {
        let mut state = 1u64;
        let mut items: Vec<(u64, usize)> = (0..5 * SORTED_AT_ONCE + 7)
            .map(|at| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 54, at)
            })
            .collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        let mut given_up = items.clone();
        at_look(9).sort_by(&mut given_up, |a, b| a.0.cmp(&b.0));
        assert!(given_up.len() < items.len() && given_up.is_sorted_by_key(|item| item.0));
        GiveUp::when(|| false).sort_by(&mut items, |a, b| a.0.cmp(&b.0));
        assert_eq!(items, expected);
    }
}
