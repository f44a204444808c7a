//! Costs by the functions of the source: inlined code counts for the function that it was written
//! in.

use std::collections::BTreeMap;

use super::code::{Function, InlinedCall};
use super::ranking::{Order, Threshold};
use crate::profile::add_costs;

/// A function of the machine code, or a call that was inlined, with the calls inlined into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct InlineTree {
    /// Counts of its own code.
    pub(crate) own: Vec<i64>,
    /// Counts with those of the calls.
    pub(crate) all: Vec<i64>,
    /// The calls.
    pub(crate) calls: Vec<(InlinedCall, InlineTree)>,
}

/// The counts of a function of the source: of all its code, and of the code inlined into other
/// functions.
#[derive(Clone, Debug)]
struct SourceCosts {
    costs: Vec<i64>,
    inlined: Vec<i64>,
}

/// A row of the ranking of functions of the source.
#[derive(Clone, Debug)]
pub(crate) struct SourceRow<'a> {
    /// The file of its lines.
    pub(crate) file: &'a [u8],
    /// Its name.
    pub(crate) function: &'a [u8],
    /// Counts of all its code.
    pub(crate) costs: &'a [i64],
    /// Counts of the code that was inlined into other functions.
    pub(crate) inlined: &'a [i64],
}

/// Functions of the source by file and name, put together from those of the machine code.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceFunctions(BTreeMap<(Vec<u8>, Vec<u8>), SourceCosts>);

/// The tree of a function before its calls are chosen and put in order.
#[derive(Debug, Default)]
struct Node {
    own: Vec<i64>,
    all: Vec<i64>,
    calls: BTreeMap<InlinedCall, Node>,
}

impl SourceFunctions {
    /// Adds the instructions of a function of the machine code. Gives back its tree, with the calls
    /// that reach the threshold. `calls` are the inlined calls around an address, outermost first.
    pub(crate) fn add(
        &mut self,
        function: &Function<'_>,
        calls: impl Fn(u64) -> Vec<InlinedCall>,
        order: &Order<'_>,
        threshold: Threshold,
    ) -> InlineTree {
        let events = function.costs.len();
        let zero = || Node { own: vec![0; events], all: vec![0; events], calls: BTreeMap::new() };
        let mut root = zero();
        for (&address, insn) in &function.instructions {
            let mut node = &mut root;
            add_costs(&mut node.all, &insn.costs);
            let mut name = function.name.to_vec();
            let mut inlined = false;
            for call in calls(address) {
                (name, inlined) = (call.function.clone().into_bytes(), true);
                node = node.calls.entry(call).or_insert_with(zero);
                add_costs(&mut node.all, &insn.costs);
            }
            add_costs(&mut node.own, &insn.costs);
            let entry = self
                .0
                .entry((insn.file.to_vec(), name))
                .or_insert_with(|| SourceCosts { costs: vec![0; events], inlined: vec![0; events] });
            add_costs(&mut entry.costs, &insn.costs);
            if inlined {
                add_costs(&mut entry.inlined, &insn.costs);
            }
        }
        root.chosen(order, threshold)
    }

    /// The functions that reach the threshold, in order.
    pub(crate) fn ranking(&self, order: &Order<'_>, threshold: Threshold) -> Vec<SourceRow<'_>> {
        let mut rows: Vec<SourceRow<'_>> = self
            .0
            .iter()
            .filter(|(_, row)| threshold.reaches(&row.costs))
            .map(|((file, function), SourceCosts { costs, inlined })| SourceRow {
                file,
                function,
                costs,
                inlined,
            })
            .collect();
        rows.sort_by(|a, b| order.compare(a.costs, b.costs));
        rows
    }
}

impl Node {
    fn chosen(self, order: &Order<'_>, threshold: Threshold) -> InlineTree {
        let Node { own, all, calls } = self;
        let calls = calls.into_iter().map(|(call, node)| (call, node.chosen(order, threshold)));
        let mut calls: Vec<_> = calls.filter(|(_, node)| threshold.reaches(&node.all)).collect();
        calls.sort_by(|(_, a), (_, b)| order.compare(&a.all, &b.all));
        InlineTree { own, all, calls }
    }
}
