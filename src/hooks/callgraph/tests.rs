//! Control through blocks that are made up: each is four instructions long.

mod summaries;

use std::sync::Arc;

use super::costs::{CallCosts, Disorder};
use super::facts::{Between, CallFacts, CodePlace, Leave, Section};
use super::stack_pointer::StackPointer;
use super::tracker::CallTracker;
use super::walker::{CallRules, MOST_FRAMES, MOST_HANDLERS};
use crate::hooks::buffer::{Full, Handed};
use crate::hooks::control::{AccountId, Control};
use crate::hooks::deferred::tests::counts_the_same;
use crate::hooks::deferred::{Deferred, Reading};
use crate::hooks::inline_caches::{FetchedLine, InlineCaches};
use crate::hooks::misses_below::{LlOwner, Origin, RecordMiss};
use crate::hooks::numbering::Numbering;
use crate::hooks::part::{Part, Told, ToldLevels};
use crate::hooks::plan::{Plan, PlannedCalls, PlannedEvent, PlannedInsn};
use crate::hooks::record::{Header, MISSED, PlanId};
use crate::sim::{Geometry, Hierarchy};
use crate::x86::cost::{Access, EventKind};

/// Caller, callee, number and inclusive instructions of calls.
type Call = (u64, u64, u64, u64);

/// A program and what it has done.
struct Program {
    plans: Vec<Arc<Plan>>,
    words: Vec<u64>,
    /// Misses of the first level, if that is driven elsewhere.
    missed: Vec<RecordMiss>,
    recursions: u32,
    /// Collects jumps, for which no short way is taken.
    jumps: bool,
}

impl Program {
    fn new() -> Program {
        Program { plans: Vec::new(), words: Vec::new(), missed: Vec::new(), recursions: 1, jumps: false }
    }

    /// A block of a function, with the stack pointer behind it in its only slot.
    fn block(&mut self, function: u64, number: u64, leave: Leave, section: Section) -> PlanId {
        let pc = function + 16 * number;
        let place = CodePlace { object: 1, function, section, entry: number == 0, ..CodePlace::default() };
        let insns = (0..4).map(|i| PlannedInsn::new(pc + 4 * i, 4)).collect();
        let facts = CallFacts { place, leave, sp: StackPointer::Slot(0, 0), ..CallFacts::default() };
        let mut calls = Box::<PlannedCalls>::default();
        calls.facts = facts;
        self.add(Plan { insns, slots: 1, calls: Some(calls), ..Plan::empty(pc, 0) })
    }

    fn between(&mut self, between: Between) -> PlanId {
        self.add(Plan { slots: 1, between: Some(between), ..Plan::empty(0, 0) })
    }

    fn add(&mut self, plan: Plan) -> PlanId {
        self.plans.push(Arc::new(plan));
        PlanId(self.plans.len() as u32 - 1)
    }

    /// Runs a block, behind which the stack pointer is `sp`.
    fn run(&mut self, id: PlanId, sp: u64) {
        self.words.extend([self.plans[id.0 as usize].header(id), sp]);
    }

    /// The program where generated code has driven I1 and D1 of these shapes.
    fn driven(&self, shapes: &Hierarchy) -> Program {
        let mut caches = InlineCaches::new(AccountId::FIRST, shapes, LlOwner::Consumer);
        let (mut words, mut now, mut at) = (self.words.clone(), 0, 0);
        while let Some(&word) = self.words.get(at) {
            let header = Header::of(word);
            at += 1 + header.slots;
            if Control::is(header) {
                continue;
            }
            let (plan, slots) = (&self.plans[header.plan.0 as usize], &self.words[at - header.slots..at]);
            now += 1;
            let its = at - header.slots - 1;
            caches.set_record(its);
            let mut before = None;
            for (index, insn) in (0..).zip(&plan.insns) {
                if before.replace(insn.pc() / 64) != Some(insn.pc() / 64) {
                    let (number, counter) = (caches.number(insn.pc() / 64), Origin::Fetch(index).pack());
                    let line = FetchedLine { number, pc: insn.pc(), len: 4, ends: false, counter };
                    caches.fetch(now, line);
                }
            }
            for (index, event) in (0..).zip(&plan.events) {
                let address = slots[usize::from(event.slot)];
                caches.data((now, address, event.size), Origin::Data(index).pack());
            }
            words[its] |= if caches.record_missed() { MISSED } else { 0 };
        }
        let missed = caches.take_missed(words.len(), Vec::new());
        let Program { recursions, jumps, .. } = *self;
        Program { plans: self.plans.clone(), words, missed, recursions, jumps }
    }

    fn task(&mut self, task: u32) {
        self.words.extend(Control::Task(task).record());
    }

    /// Stops and starts counting.
    fn pause(&mut self) {
        self.words.extend(Control::Count(false).record());
    }

    /// The graph: own instructions by function, and calls with their instructions.
    fn graph(&self, skip_plt: bool) -> (Vec<(u64, u64)>, Vec<Call>) {
        let CallCosts { contexts, lines, calls, .. } = self.costs(skip_plt);
        let function = |context: u32| {
            contexts[context as usize].code.1 + u64::from(contexts[context as usize].recursion)
        };
        let mut own: Vec<(u64, u64)> =
            contexts.iter().map(|of| (of.code.1 + u64::from(of.recursion), 0)).collect();
        for (context, insn) in lines.iter() {
            own[context as usize].1 += insn.counts.ir;
        }
        let of = |call: super::costs::CostedCall| {
            (function(call.caller), function(call.callee), call.calls, call.cost.ir)
        };
        let mut calls: Vec<_> = calls.iter().map(of).collect();
        calls.sort_unstable();
        (own, calls)
    }

    fn costs(&self, skip_plt: bool) -> CallCosts {
        self.costs_of(skip_plt, Part::new(None, None), None)
    }

    /// The costs but for jumps with small caches, of which these levels are driven elsewhere;
    /// collecting jumps takes no short way.
    fn costs_of_calls(&self, (jumps, skip_plt): (bool, bool), levels: ToldLevels) -> CallCosts {
        let mut part = Part::new(Some(small()), None);
        part.set_told(Told { levels, branches: false });
        let Program { plans, words, missed, recursions, .. } = self;
        let (plans, words, missed) = (plans.clone(), words.clone(), missed.clone());
        let program = Program { plans, words, missed, recursions: *recursions, jumps };
        CallCosts { jumps: Vec::new(), ..program.costs_of(skip_plt, part, None) }
    }

    /// The costs as a part counts them, with its simulation put off or not.
    fn costs_of(&self, skip_plt: bool, mut part: Part, deferred: Option<&Deferred>) -> CallCosts {
        let len = self.words.len();
        let missed = self.missed.clone();
        let handed = Handed { words: self.words[..].into(), len, missed, ..Handed::default() };
        let full = Arc::new(Full::new(handed, None));
        let reading = Some(Reading { full: &full, deferred });
        let mut numbering = Numbering::Contexts { plans: Vec::new() };
        let mut tracker = CallTracker::new(CallRules {
            apart: false,
            skip_plt,
            recursions: self.recursions,
            callers: 0,
            jumps: self.jumps,
            collect_at_start: true,
            dump_every: 0,
        });
        let mut words = &self.words[..];
        while !words.is_empty() {
            let (_, rest) = tracker.walk(&mut part, &mut numbering, &self.plans, words, reading);
            words = rest;
            deferred.iter().for_each(|deferred| tracker.recall(&mut part, deferred));
            if let Some((control, rest)) = words.split_at_checked(4) {
                match Control::of(&control[1..]) {
                    Some(Control::Task(task)) => tracker.switch(task),
                    Some(Control::Count(false)) => tracker.unwind(),
                    _ => {}
                }
                words = rest;
            }
        }
        let costs = tracker.costs(&part, &self.plans);
        tracker.unwind();
        assert_eq!(tracker.costs(&part, &self.plans), costs, "calls that have not returned");
        costs
    }
}

/// Small caches.
fn small() -> Hierarchy {
    let shape = |lines: u64| Geometry::new(lines * 64, 2, 64).expect("a shape");
    Hierarchy::new(shape(4), shape(4), shape(8))
}

const MAIN: u64 = 0x1000;
const F: u64 = 0x2000;
const G: u64 = 0x3000;

#[test]
fn calls_returns_and_recursion() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Call, text), p.block(F, 1, Leave::Return, text));
    p.run(call, 1000 - 8);
    p.run(f, 900);
    p.run(f, 800);
    p.run(f_end, 900 + 8);
    p.run(f_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 16)]);
    // The inner call is in the outer one.
    assert_eq!(calls, [(MAIN, F, 1, 16), (F, F, 1, 4), (F, F, 1, 8)]);
    // With levels of recursion, the inner ones are another function.
    p.recursions = 2;
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 8), (F + 1, 8)]);
    assert_eq!(calls, [(MAIN, F, 1, 16), (F, F + 1, 1, 8), (F + 1, F + 1, 1, 4)]);
}

#[test]
fn simulation_that_is_put_off_counts_the_same() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Return, text));
    for round in 0..100_000 {
        if round == 50_000 {
            p.task(1);
        }
        p.run(call, 992);
        p.run(f, 900 - round * 4096);
        p.run(f_end, 1000);
        p.run(after, 1000);
    }
    // The first block of the callee loads from the address in its slot.
    let load =
        PlannedEvent { insn: 1, slot: 0, offset: 0, size: 8, kind: EventKind::Read, access: Access::Load };
    p.plans[f.0 as usize] = Arc::new(Plan { events: vec![load], ..(*p.plans[f.0 as usize]).clone() });
    let costs = |program: &Program, levels: ToldLevels, deferred: Option<&Deferred>| {
        let mut part = Part::new(Some(small()), None);
        part.set_told(Told { levels, branches: false });
        let CallCosts { calls, lines, .. } = program.costs_of(true, part, deferred);
        (calls, lines)
    };
    let expected = costs(&p, ToldLevels::None, None);
    assert!(expected.0.iter().map(|call| call.cost.misses.d1mr).sum::<u64>() >= 100_000);
    counts_the_same(&expected, |deferred| costs(&p, ToldLevels::None, deferred));
    let driven = p.driven(&small());
    assert_eq!(costs(&driven, ToldLevels::First, None), expected);
    counts_the_same(&expected, |deferred| costs(&driven, ToldLevels::First, deferred));
}

/// A program of eight functions, some of one block alone, that call each other at random, also
/// through a linkage table, most often the same one again, jump to each other and out of several.
fn at_random(seed: u64) -> Program {
    let mut p = Program::new();
    let (text, plt) = (Section::Text, Section::Plt);
    let functions = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| {
        let at = 0x10_0000 * (number + 1);
        let mut block = |block, leave| p.block(at, block, leave, text);
        match number {
            0..3 => vec![block(0, Leave::Return)],
            3 => vec![block(0, Leave::Jump), block(1, Leave::Return)],
            _ => vec![
                block(0, Leave::Jump),
                block(1, Leave::Call),
                block(2, Leave::Jump),
                block(3, Leave::Call),
                block(4, Leave::Return),
            ],
        }
    });
    let entries = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| p.block(0x100 * (number + 1), 0, Leave::Jump, plt));
    // Some blocks access data at their stack pointer.
    let event =
        PlannedEvent { insn: 1, slot: 0, offset: 0, size: 8, kind: EventKind::Read, access: Access::Load };
    for id in [functions[0][0], functions[3][1], functions[4][2], entries[1]] {
        let plan = &mut p.plans[id.0 as usize];
        *plan = Arc::new(Plan { events: vec![event], ..(**plan).clone() });
    }
    let mut state = seed;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % limit
    };
    let (mut stack, mut sp) = (Vec::new(), 1 << 30);
    let (mut function, mut block, mut usual) = (4, 0, [[0; 5]; 8]);
    for _ in 0..20_000 {
        let (blocks, id) = (&functions[function], functions[function][block]);
        let is_last = block + 1 == blocks.len();
        if is_last && function < 4 && stack.is_empty() {
            // A return that nobody was seen to call.
            sp += 8;
            p.run(id, sp);
            (function, block) = (4, 0);
        } else if is_last && (stack.len() > 3 || function < 4) {
            // A return, or now and then one out of several functions.
            let frames = if below(50) == 0 { 3 } else { 1 };
            for _ in 0..frames.min(stack.len()) {
                (function, block, sp) = stack.pop().expect("a frame");
            }
            p.run(id, sp);
        } else if is_last {
            p.run(id, sp);
            (function, block) = (4, 0);
        } else if block % 2 == 1 && stack.len() < 40 {
            stack.push((function, block + 1, sp));
            if below(8) == 0 {
                usual[function][block] = below(8) as usize;
            }
            let callee = usual[function][block];
            sp -= 8 + 16 * if below(8) == 0 { below(300) } else { 1 };
            p.run(id, sp);
            if callee % 2 == 1 {
                p.run(entries[callee], sp);
            }
            (function, block) = (callee, 0);
        } else if below(40) == 0 && stack.len() < 40 {
            // A tail call.
            p.run(id, sp);
            (function, block) = (below(8) as usize, 0);
        } else {
            p.run(id, sp);
            block += 1;
        }
    }
    p
}

#[test]
fn the_short_way_leads_where_the_long_one_does() {
    for seed in 0..8 {
        let mut p = at_random(seed);
        for (recursions, skip_plt) in [(1, true), (3, true), (1, false), (3, false)] {
            p.recursions = recursions;
            let driven = p.driven(&small());
            let costs = |program: &Program, jumps, levels| program.costs_of_calls((jumps, skip_plt), levels);
            let expected = costs(&p, true, ToldLevels::None);
            assert!(expected.calls.iter().any(|call| call.cost.misses.d1mr > 0));
            assert_eq!(costs(&p, false, ToldLevels::None), expected, "{seed} {recursions} {skip_plt}");
            assert_eq!(costs(&driven, true, ToldLevels::First), expected, "{seed} {recursions} {skip_plt}");
            assert_eq!(costs(&driven, false, ToldLevels::First), expected, "{seed} {recursions} {skip_plt}");
        }
    }
}

#[test]
fn a_tail_call_and_a_loop_to_the_beginning() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let f = p.block(F, 0, Leave::Jump, text);
    let (g, g_end) = (p.block(G, 0, Leave::Jump, text), p.block(G, 1, Leave::Return, text));
    p.run(call, 992);
    p.run(f, 992);
    (0..100_000).for_each(|_| p.run(g, 992));
    p.run(g_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 4), (G, 400_004)]);
    // Each is in those before it: 99,999 calls of 400,000 down to 8 instructions.
    let inner = (2..=100_000).map(|n| 4 * n).sum::<u64>();
    assert_eq!(calls, [(MAIN, F, 1, 400_008), (F, G, 1, 400_004), (G, G, 99_999, inner)]);
}

#[test]
fn a_jump_out_of_several_functions() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, g) = (p.block(F, 0, Leave::Call, text), p.block(G, 0, Leave::Jump, text));
    p.run(call, 992);
    p.run(f, 900);
    p.run(g, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 4), (G, 4)]);
    assert_eq!(calls, [(MAIN, F, 1, 8), (F, G, 1, 4)]);
}

#[test]
fn the_linkage_table_is_its_callers() {
    let mut p = Program::new();
    let call = p.block(MAIN, 0, Leave::Call, Section::Text);
    let plt = p.block(0x500, 1, Leave::Jump, Section::Plt);
    let (f, after) =
        (p.block(F, 0, Leave::Return, Section::Text), p.block(MAIN, 1, Leave::Jump, Section::Text));
    p.run(call, 992);
    p.run(plt, 992);
    p.run(f, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 12), (F, 4)]);
    assert_eq!(calls, [(MAIN, F, 1, 4)]);
    let (own, calls) = p.graph(false);
    assert_eq!(own, [(MAIN, 8), (0x510, 4), (F, 4)]);
    assert_eq!(calls, [(0x510, F, 1, 4), (MAIN, 0x510, 1, 8)]);
}

#[test]
fn a_handler_costs_nothing_where_it_interrupts() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Return, text));
    let (handler, restorer) = (p.block(G, 0, Leave::Return, text), p.block(0x4000, 0, Leave::Jump, text));
    let (signal, back) = (p.between(Between::Signal), p.between(Between::SignalReturn));
    p.run(call, 992);
    p.run(f, 992);
    p.run(signal, 700);
    p.run(handler, 708);
    p.run(restorer, 708);
    p.run(back, 992);
    p.run(f_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 8), (G, 4), (0x4000, 4)]);
    assert_eq!(calls, [(MAIN, F, 1, 8), (G, 0x4000, 1, 4)]);
}

/// As after a fault: what the function does then is its own again, however often.
#[test]
fn handlers_that_jump_back_into_what_they_interrupt() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_again) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Jump, text));
    let f_end = p.block(F, 2, Leave::Return, text);
    let handler = p.block(G, 0, Leave::Jump, text);
    let signal = p.between(Between::Signal);
    p.run(call, 992);
    p.run(f, 900);
    for _ in 0..5000 {
        p.run(signal, 700);
        p.run(handler, 900);
        p.run(f_again, 900);
    }
    p.run(f_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 20_008), (G, 20_000)]);
    assert_eq!(calls, [(MAIN, F, 1, 20_008)]);
    assert_eq!(p.costs(true).disorder, Disorder::default());
}

/// As main does that jumps to its unlikely part, which is another function, and back.
#[test]
fn a_return_from_the_outermost_function_after_a_jump_to_another() {
    let mut p = Program::new();
    let text = Section::Text;
    let (main, main_end) = (p.block(MAIN, 0, Leave::Jump, text), p.block(MAIN, 1, Leave::Return, text));
    let (f, after) = (p.block(F, 0, Leave::Jump, text), p.block(G, 1, Leave::Jump, text));
    p.run(main, 900);
    p.run(f, 900);
    p.run(main_end, 1008);
    p.run(after, 1008);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 4), (F, 8), (G + 16, 4)]);
    assert_eq!(calls, [(MAIN, F, 1, 8), (G + 16, MAIN, 1, 12)]);
}

/// A call that began before counting was stopped costs after it what comes after it.
#[test]
fn a_return_from_a_call_before_a_pause() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Return, text));
    p.run(call, 992);
    p.run(f, 992);
    p.pause();
    p.run(f_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 8)]);
    assert_eq!(calls, [(MAIN, F, 1, 4), (MAIN, F, 1, 4)]);
}

/// Two signals at once: neither handler has a frame when the inner one jumps to main.
#[test]
fn a_jump_out_of_two_handlers() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 2, Leave::Call, text), p.block(MAIN, 3, Leave::Jump, text));
    let (f, handler) = (p.block(F, 0, Leave::Jump, text), p.block(G, 0, Leave::Jump, text));
    let signal = p.between(Between::Signal);
    p.run(call, 992);
    p.run(f, 992);
    p.run(signal, 700);
    p.run(signal, 500);
    p.run(handler, 1000);
    p.run(after, 1000);
    p.run(call, 992);
    p.run(f, 992);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN + 32, 12), (F, 8), (G, 4)]);
    assert_eq!(calls, [(MAIN + 32, F, 2, 8)]);
}

/// Handlers that never end take no more memory, and those that end after all end what they are.
#[test]
fn more_handlers_than_there_is_room_for() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Return, text));
    let handler = p.block(G, 0, Leave::Jump, text);
    let (signal, back) = (p.between(Between::Signal), p.between(Between::SignalReturn));
    p.run(call, 100_000);
    p.run(f, 100_000);
    (1..=1000).for_each(|level| [signal, handler].into_iter().for_each(|id| p.run(id, 100_000 - 8 * level)));
    (1..=1000).rev().for_each(|level| p.run(back, 100_000 - 8 * (level - 1)));
    p.run(f_end, 100_008);
    p.run(after, 100_008);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 8), (F, 8), (G, 4000)]);
    assert_eq!(calls.first(), Some(&(MAIN, F, 1, 8)));
    let cut = 1000 - MOST_HANDLERS as u64;
    assert_eq!(p.costs(true).disorder, Disorder { cut, ..Disorder::default() });
}

#[test]
fn threads_have_stacks_of_their_own() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_end) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Return, text));
    p.run(call, 992);
    for task in [1, 2, 1, 2] {
        p.task(task);
        if task == 2 {
            p.run(call, 5000);
            p.run(f, 5000);
            p.run(f_end, 5008);
        } else {
            p.run(f, 992);
        }
    }
    p.task(1);
    p.run(f_end, 1000);
    p.run(after, 1000);
    let (own, calls) = p.graph(true);
    assert_eq!(own, [(MAIN, 16), (F, 28)]);
    assert_eq!(calls[0], (MAIN, F, 3, 28));
}

/// A stack that is lost has an end, and what it says then is of no use but does no harm.
#[test]
fn more_calls_than_a_stack_has_frames() {
    let mut p = Program::new();
    let text = Section::Text;
    let (f, g) = (p.block(F, 0, Leave::Call, text), p.block(G, 0, Leave::Call, text));
    for sp in (0..6000u64).rev() {
        p.run(f, 16 * sp + 8);
        p.run(g, 16 * sp);
    }
    let (own, _) = p.graph(true);
    assert_eq!(own.iter().map(|(_, ir)| ir).sum::<u64>(), 48_000);
    // The first block is called by nobody.
    let cut = 2 * 6000 - 1 - MOST_FRAMES as u64;
    assert_eq!(p.costs(true).disorder, Disorder { cut, ..Disorder::default() });
}

/// Levels of recursion that are told apart keep their own costs when there is no room for more.
#[test]
fn more_levels_than_there_is_room_for() {
    let mut p = Program::new();
    p.recursions = 1000;
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 2, Leave::Call, text), p.block(MAIN, 3, Leave::Jump, text));
    let (first, second) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Call, text));
    let (third, end) = (p.block(F, 2, Leave::Jump, text), p.block(F, 3, Leave::Return, text));
    let (g, g_end) = (p.block(G, 0, Leave::Call, text), p.block(G, 1, Leave::Jump, text));
    // The first block of F is not in the levels that are known.
    p.run(call, 992);
    [(third, 992), (second, 984), (third, 984), (second, 976)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    [(end, 984), (third, 984), (end, 992), (third, 992), (end, 1000)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    p.run(after, 1000);
    p.run(call, 992);
    (0..300).for_each(|level| p.run(g, 100_000 - 8 * level));
    [(g_end, 100_008), (after, 100_008), (call, 992)].into_iter().for_each(|(block, sp)| p.run(block, sp));
    [(first, 992), (second, 984), (first, 984), (second, 976)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    [(end, 984), (third, 984), (end, 992), (third, 992), (end, 1000)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    [(after, 1000), (call, 992), (first, 992), (second, 984)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    [(end, 992), (third, 992), (end, 1000), (after, 1000)]
        .into_iter()
        .for_each(|(block, sp)| p.run(block, sp));
    assert!(p.costs(true).disorder.folded > 0);
    let (own, _) = p.graph(true);
    let of = |function: u64| own.iter().find(|(known, _)| *known == function).map(|(_, ir)| *ir);
    // It is named by where it was entered for the first time.
    assert_eq!((of(F + 32 + 1), of(F + 32 + 2)), (Some(4 * 8), Some(4 * 2)));
}
