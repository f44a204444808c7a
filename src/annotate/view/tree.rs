//! Functions with those that call them and those that they call.

use std::cmp::Reverse;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ranking::{CountedRow, Order, rank};
use crate::annotate::tally::{Pair, Tally};
use crate::profile::UNKNOWN;

/// The functions beside each function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Those that call it.
    pub(crate) callers: bool,
    /// Those that it calls.
    pub(crate) called: bool,
}

/// The name of a function, with its file and object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named<'a> {
    /// `file:function`.
    pub(crate) name: Rc<[u8]>,
    /// The object, if the file names it.
    pub(crate) object: Option<&'a [u8]>,
}

/// Calls from or to a function. Rows with equal counts are in the order of the fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Calls<'a> {
    /// The function at their other end.
    pub(crate) function: Named<'a>,
    /// Their number.
    pub(crate) calls: i64,
}

/// A function with its callers and what it calls, the highest costs of calls first.
#[derive(Clone, Debug)]
pub(crate) struct Branch<'a> {
    /// The function.
    pub(crate) row: CountedRow<'a, Named<'a>>,
    /// Calls to it.
    pub(crate) callers: Vec<CountedRow<'a, Calls<'a>>>,
    /// Calls from it.
    pub(crate) called: Vec<CountedRow<'a, Calls<'a>>>,
}

type Ends<'a> = FxHashMap<Pair, Vec<CountedRow<'a, Calls<'a>>>>;

/// Gives functions their callers and what they call.
pub(crate) fn tree<'a>(
    tally: &'a Tally,
    rows: Vec<CountedRow<'a, (Reverse<Vec<u8>>, Pair)>>,
    tree: Tree,
    order: &Order<'_>,
) -> Vec<Branch<'a>> {
    let object = |pair: Pair| tally.objects.get(&pair).map(Vec::as_slice);
    let (mut callers, mut called) = (Ends::default(), Ends::default());
    // A function may be at the end of very many calls.
    let mut names: FxHashMap<Pair, Rc<[u8]>> = FxHashMap::default();
    let mut named = |pair: Pair| {
        let name = names.entry(pair).or_insert_with(|| tally.name(pair).into());
        Named { name: Rc::clone(name), object: object(pair) }
    };
    let shown: FxHashSet<Pair> = rows.iter().map(|row| row.key.1).collect();
    for ((from, to), sum) in &tally.calls {
        let mut end = |other: Pair| CountedRow {
            key: Calls { function: named(other), calls: sum.calls },
            counts: tally.costs(sum.row).into(),
        };
        if tree.callers && shown.contains(to) {
            callers.entry(*to).or_default().push(end(*from));
        }
        if tree.called && shown.contains(from) {
            called.entry(*from).or_default().push(end(*to));
        }
    }
    let unknown = [UNKNOWN, ":", UNKNOWN].concat();
    let ranked = |ends: &mut Ends<'a>, pair: Pair, name: &[u8]| {
        // What has no name is many functions, not one.
        let ends = ends.remove(&pair).filter(|_| name != unknown.as_bytes()).unwrap_or_default();
        rank(ends, order, |_| true, usize::MAX).rows
    };
    let mut branches = Vec::with_capacity(rows.len());
    for CountedRow { key: (Reverse(name), pair), counts } in rows {
        let (callers, called) = (ranked(&mut callers, pair, &name), ranked(&mut called, pair, &name));
        let row = CountedRow { key: Named { name: name.into(), object: object(pair) }, counts };
        branches.push(Branch { row, callers, called });
    }
    branches
}
