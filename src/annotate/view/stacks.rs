//! Stacks of calls from a call graph, which knows only pairs of caller and callee.
//!
//! A function's costs are given to its callers in proportion to what their calls cost, as gprof
//! does. Functions that call each other in a circle are one node, a cycle, whose members stand
//! beside each other: calls within it contain each other, so their costs say nothing of stacks. So
//! all frames add up to the costs of the program, those of a function to its own but for rounding,
//! and only the stacks are an estimate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::profile::Problem;

/// Costs in the profile that is shown, and in the one before it.
pub(crate) type Pair = [u64; 2];

/// The most frames; where calls are shared, stacks may be many more than functions.
pub(crate) const MOST_FRAMES: usize = 20_000;
/// The deepest stack.
pub(crate) const MOST_LEVELS: usize = 500;

/// A call graph: functions by number.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    own: Vec<Pair>,
    calls: BTreeMap<(usize, usize), Pair>,
}

/// The subject of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subject {
    /// The whole program.
    All,
    /// A function.
    Function(usize),
    /// Functions that call each other: the number of the cycle, from 1, and that of its functions.
    Cycle(usize, usize),
}

/// A function on a stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Its subject.
    pub(crate) subject: Subject,
    /// The number of frames below it.
    pub(crate) level: usize,
    /// The frames that it calls.
    pub(crate) callees: Vec<usize>,
    /// Costs, with those of its calls.
    pub(crate) costs: Pair,
    /// Costs but for those of the frames that it calls.
    pub(crate) own: Pair,
    node: usize,
}

/// All stacks as a tree.
#[derive(Clone, Debug)]
pub(crate) struct Stacks {
    /// The frames; the first is [`Subject::All`].
    pub(crate) frames: Vec<Frame>,
    /// The number of frames whose calls are not all there, for they are too many or too deep.
    pub(crate) cut: usize,
}

/// Strongly connected functions.
#[derive(Debug, Default)]
struct Component {
    members: Vec<usize>,
    /// Costs of its members and of calls out of it.
    costs: Pair,
    /// Costs of the calls into it.
    called: Pair,
}

impl Graph {
    /// Adds a function's own costs, in one of the two profiles.
    ///
    /// # Errors
    /// If the sum is too large.
    pub(crate) fn spend(&mut self, function: usize, profile: usize, cost: u64) -> Result<(), Problem> {
        self.reach(function);
        self.own.get_mut(function).map_or(Ok(()), |own| add_one(own, profile, cost))
    }

    /// Adds what calls cost, in one of the two profiles.
    ///
    /// # Errors
    /// If the sum is too large.
    pub(crate) fn call(
        &mut self,
        (caller, callee): (usize, usize),
        profile: usize,
        cost: u64,
    ) -> Result<(), Problem> {
        self.reach(caller.max(callee));
        add_one(self.calls.entry((caller, callee)).or_default(), profile, cost)
    }

    fn reach(&mut self, function: usize) {
        if self.own.len() <= function {
            self.own.resize(function.saturating_add(1), [0; 2]);
        }
    }

    fn callees(&self, caller: usize) -> impl Iterator<Item = (usize, Pair)> {
        let calls = self.calls.range((caller, 0)..=(caller, usize::MAX));
        calls.map(|((_, callee), costs)| (*callee, *costs))
    }

    /// The number of the component of each function, by Tarjan's algorithm without recursion.
    fn components(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let count = self.own.len();
        let (mut index, mut low, mut found) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
        let (mut next, mut components, mut open) = (0, 0, Vec::new());
        for start in 0..count {
            let mut path = Vec::new();
            let mut enter = (index.get(start) == Some(&NONE)).then_some(start);
            loop {
                if let Some(function) = enter.take() {
                    set(&mut index, function, next);
                    set(&mut low, function, next);
                    next += 1;
                    open.push(function);
                    path.push((function, self.callees(function)));
                }
                let Some((function, callees)) = path.last_mut() else { break };
                let function = *function;
                if let Some((callee, _)) = callees.next() {
                    if at(&index, callee) == NONE {
                        enter = Some(callee);
                    } else if at(&found, callee) == NONE {
                        let least = at(&low, function).min(at(&index, callee));
                        set(&mut low, function, least);
                    }
                    continue;
                }
                path.pop();
                if at(&low, function) == at(&index, function) {
                    while let Some(member) = open.pop() {
                        set(&mut found, member, components);
                        if member == function {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some((caller, _)) = path.last() {
                    let least = at(&low, *caller).min(at(&low, function));
                    set(&mut low, *caller, least);
                }
            }
        }
        found
    }

    /// The stacks, the most costly first while there is room.
    ///
    /// # Errors
    /// If a sum is too large.
    pub(crate) fn stacks(&self) -> Result<Stacks, Problem> {
        let of = self.components();
        let mut components: Vec<Component> = Vec::new();
        components.resize_with(of.iter().max().map_or(0, |last| last + 1), Component::default);
        // What each function costs, and calls in other components.
        let mut costs = self.own.clone();
        for (function, component) in of.iter().enumerate() {
            if let Some(component) = components.get_mut(*component) {
                component.members.push(function);
                add(&mut component.costs, self.own.get(function).copied().unwrap_or_default())?;
            }
        }
        for ((caller, callee), cost) in &self.calls {
            let (from, to) = (at(&of, *caller), at(&of, *callee));
            if from == to {
                continue;
            }
            costs.get_mut(*caller).map_or(Ok(()), |sum| add(sum, *cost))?;
            components.get_mut(from).map_or(Ok(()), |from| add(&mut from.costs, *cost))?;
            components.get_mut(to).map_or(Ok(()), |to| add(&mut to.called, *cost))?;
        }
        Tree::new(self, of, components, costs).grow()
    }
}

/// The tree while it grows.
struct Tree<'g> {
    graph: &'g Graph,
    of: Vec<usize>,
    components: Vec<Component>,
    costs: Vec<Pair>,
    cycles: BTreeMap<usize, usize>,
}

impl<'g> Tree<'g> {
    fn new(graph: &'g Graph, of: Vec<usize>, components: Vec<Component>, costs: Vec<Pair>) -> Tree<'g> {
        let cycles = (0..components.len())
            .filter(|at| components.get(*at).is_some_and(|component| component.members.len() > 1));
        let cycles = cycles.zip(1..).collect();
        Tree { graph, of, components, costs, cycles }
    }

    fn grow(&self) -> Result<Stacks, Problem> {
        let mut total = [0; 2];
        for component in &self.components {
            add(&mut total, uncalled(component))?;
        }
        let all =
            Frame { subject: Subject::All, level: 0, callees: Vec::new(), costs: total, own: total, node: 0 };
        let mut frames = vec![all];
        let mut wide = BinaryHeap::from([(widest(total), Reverse(0))]);
        let mut cut = 0;
        while let Some((_, Reverse(parent))) = wide.pop() {
            let Some(frame) = frames.get(parent).cloned() else { continue };
            let mut parts = self.parts(&frame);
            parts.retain(|(.., costs)| *costs != [0; 2]);
            let room = if frame.level < MOST_LEVELS { MOST_FRAMES.saturating_sub(frames.len()) } else { 0 };
            if parts.len() > room {
                parts.sort_by_key(|(_, node, costs)| (Reverse(widest(*costs)), *node));
                parts.truncate(room);
                cut += 1;
            }
            for (subject, node, costs) in parts {
                let number = frames.len();
                if let Some(frame) = frames.get_mut(parent) {
                    frame.callees.push(number);
                    frame.own = less(frame.own, costs);
                }
                wide.push((widest(costs), Reverse(number)));
                let level = frame.level + 1;
                frames.push(Frame { subject, level, callees: Vec::new(), costs, own: costs, node });
            }
        }
        Ok(Stacks { frames, cut })
    }

    /// The frames that a frame calls: subject, component or function, and costs.
    fn parts(&self, frame: &Frame) -> Vec<(Subject, usize, Pair)> {
        match frame.subject {
            Subject::All => (0..)
                .zip(&self.components)
                .map(|(at, component)| (self.subject(at), at, uncalled(component)))
                .collect(),
            Subject::Cycle(..) => {
                let Some(component) = self.components.get(frame.node) else { return Vec::new() };
                let members = component.members.iter();
                let members = members.map(|function| (*function, self.costs.get(*function).copied()));
                let members: Vec<_> = members.map(|(at, costs)| (at, costs.unwrap_or_default())).collect();
                let shares = shares(frame.costs, most(component.costs, component.called), &members);
                shares.map(|(function, costs)| (Subject::Function(function), function, costs)).collect()
            }
            Subject::Function(function) => {
                let home = at(&self.of, function);
                let mut callees: BTreeMap<usize, Pair> = BTreeMap::new();
                for (callee, costs) in self.graph.callees(function) {
                    let to = at(&self.of, callee);
                    if to != home {
                        let sum = callees.entry(to).or_default();
                        // A part of a sum that was not too large.
                        let _ = add(sum, costs);
                    }
                }
                let callees: Vec<_> = callees.into_iter().collect();
                let whole = self.costs.get(function).copied().unwrap_or_default();
                let whole = match self.components.get(home) {
                    // More is said to be spent in it than it has: the rest is its own.
                    Some(component) if component.members.len() == 1 => most(whole, component.called),
                    _ => whole,
                };
                let shares = shares(frame.costs, whole, &callees);
                shares.map(|(component, costs)| (self.subject(component), component, costs)).collect()
            }
        }
    }

    fn subject(&self, component: usize) -> Subject {
        let members = self.components.get(component).map(|component| component.members.as_slice());
        match (members, self.cycles.get(&component)) {
            (Some(members), Some(cycle)) => Subject::Cycle(*cycle, members.len()),
            (Some([function, ..]), None) => Subject::Function(*function),
            _ => Subject::All,
        }
    }
}

/// Gives each part its share of `costs`, in whole numbers that add up, if all parts are `whole`.
fn shares(costs: Pair, whole: Pair, parts: &[(usize, Pair)]) -> impl Iterator<Item = (usize, Pair)> {
    let upto = move |sum: Pair| -> Pair {
        std::array::from_fn(|i| {
            let [cost, sum, whole] = [costs, sum, whole].map(|pair| pair.get(i).copied().unwrap_or_default());
            let share = u128::from(cost) * u128::from(sum) / u128::from(whole.max(1));
            u64::try_from(share).unwrap_or(cost).min(cost)
        })
    };
    let mut sum = [0; 2];
    parts.iter().map(move |(node, part)| {
        let before = upto(sum);
        let _ = add(&mut sum, *part);
        (*node, less(upto(sum), before))
    })
}

/// The costs of a component that nobody calls.
fn uncalled(component: &Component) -> Pair {
    less(component.costs, component.called)
}

fn less([a, b]: Pair, [c, d]: Pair) -> Pair {
    [a.saturating_sub(c), b.saturating_sub(d)]
}

fn most([a, b]: Pair, [c, d]: Pair) -> Pair {
    [a.max(c), b.max(d)]
}

fn widest([a, b]: Pair) -> u64 {
    a.max(b)
}

fn add(sum: &mut Pair, costs: Pair) -> Result<(), Problem> {
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = sum.checked_add(cost).ok_or(Problem::TooLarge)?;
    }
    Ok(())
}

fn add_one(sum: &mut Pair, profile: usize, cost: u64) -> Result<(), Problem> {
    let Some(sum) = sum.get_mut(profile) else { return Ok(()) };
    *sum = sum.checked_add(cost).ok_or(Problem::TooLarge)?;
    Ok(())
}

fn at(numbers: &[usize], index: usize) -> usize {
    numbers.get(index).copied().unwrap_or(usize::MAX)
}

fn set(numbers: &mut [usize], index: usize, value: usize) {
    if let Some(number) = numbers.get_mut(index) {
        *number = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(own: &[u64], calls: &[(usize, usize, u64)]) -> Stacks {
        let mut graph = Graph::default();
        for (function, cost) in own.iter().enumerate() {
            graph.spend(function, 0, *cost).expect("small");
        }
        for (caller, callee, cost) in calls {
            graph.call((*caller, *callee), 0, *cost).expect("small");
        }
        graph.stacks().expect("small sums")
    }

    /// Frames as `level:subject cost own`, in the order of the tree.
    fn lines(stacks: &Stacks) -> Vec<String> {
        let (mut out, mut open) = (Vec::new(), vec![0]);
        while let Some(frame) = open.pop().and_then(|at| stacks.frames.get(at)) {
            out.push(format!("{}:{:?} {} {}", frame.level, frame.subject, frame.costs[0], frame.own[0]));
            open.extend(frame.callees.iter().rev());
        }
        out
    }

    /// Two callers of a function share its callee by what their calls cost.
    #[test]
    fn costs_are_shared_by_the_costs_of_calls() {
        let stacks = stacks(&[1, 2, 3, 8, 4], &[(0, 1, 5), (0, 2, 12), (1, 3, 3), (2, 3, 9), (3, 4, 4)]);
        let mut found = lines(&stacks);
        found.sort();
        let mut expected = vec![
            "0:All 18 0",
            "1:Function(0) 18 1",
            "2:Function(1) 5 2",
            "3:Function(3) 3 2",
            "4:Function(4) 1 1",
            "2:Function(2) 12 3",
            "3:Function(3) 9 6",
            "4:Function(4) 3 3",
        ];
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// Recursion costs what it costs once, whatever the calls within say.
    #[test]
    fn cycles_have_the_costs_of_their_functions() {
        let alone = stacks(&[1, 9], &[(0, 1, 9), (1, 1, 4000)]);
        assert_eq!(lines(&alone), ["0:All 10 0", "1:Function(0) 10 1", "2:Function(1) 9 9"]);
        let two = stacks(&[1, 2, 3, 4], &[(0, 1, 9), (1, 2, 700), (2, 1, 600), (2, 3, 4)]);
        assert_eq!(
            lines(&two),
            [
                "0:All 10 0",
                "1:Function(0) 10 1",
                "2:Cycle(1, 2) 9 0",
                "3:Function(1) 2 2",
                "3:Function(2) 7 3",
                "4:Function(3) 4 4"
            ]
        );
    }

    /// No frame costs more than its caller, and the frames add up, also where the file contradicts
    /// itself.
    #[test]
    fn contradictions_add_up() {
        let more = stacks(&[1, 2], &[(0, 1, 50)]);
        assert_eq!(lines(&more), ["0:All 51 0", "1:Function(0) 51 1", "2:Function(1) 50 50"]);
        let none = stacks(&[0, 0], &[(0, 1, 0)]);
        assert_eq!(lines(&none), ["0:All 0 0"]);
    }

    /// A chain of 100,000 calls, a ladder of 2^60 stacks, a million functions.
    #[test]
    fn trees_are_bounded() {
        let chain: Vec<_> = (0..100_000).map(|at| (at, at + 1, 100_000 - at as u64)).collect();
        let deep = stacks(&vec![1; 100_001], &chain);
        assert_eq!((deep.frames.len(), deep.cut), (MOST_LEVELS + 1, 1));
        let ladder: Vec<_> = (0..60)
            .flat_map(|at| {
                [(2 * at, 2), (2 * at, 3), (2 * at + 1, 2), (2 * at + 1, 3)].map(|(f, d)| (f, 2 * at + d))
            })
            .map(|(from, to)| (from, to, 1 << 40))
            .collect();
        let wide = stacks(&[1 << 41; 122], &ladder);
        assert!(wide.frames.len() <= MOST_FRAMES && wide.cut > 0);
        let many = stacks(&vec![1; 1_000_000], &[]);
        assert_eq!((many.frames.len(), many.cut), (MOST_FRAMES, 1));
        for tree in [deep, wide, many] {
            let own = tree.frames.iter().map(|frame| frame.own[0]).sum::<u64>();
            assert_eq!(Some(own), tree.frames.first().map(|all| all.costs[0]));
        }
    }
}
