//! Accounts against separate runs: processes that take turns have the counts that each has alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;
use crate::hooks::consumer::Predictors;
use crate::hooks::control::{AccountId, Opening};
use crate::hooks::counts::Counts;
use crate::hooks::executions::MOST_UNTOLD;
use crate::hooks::plan::{Builder, NO_MAPPING, Plan, PlannedInsn};
use crate::hooks::plan_index::CountedInsn;
use crate::hooks::recorder::counting::Inline;
use crate::hooks::tally::Tally;
use crate::sim::Hierarchy;
use crate::x86::decode::{MAX_LENGTH, decode};

/// A sequence of numbers that is the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end
    }
}

/// Instructions without control flow: loads, stores, both, a locked one, arithmetic.
const PLAIN: &[&[u8]] = &[
    &[0x48, 0x8b, 0x06],
    &[0x48, 0x89, 0x07],
    &[0x48, 0x01, 0x07],
    &[0xf0, 0x48, 0xff, 0x07],
    &[0x48, 0x01, 0xd8],
    &[0x48, 0x39, 0xd8],
    &[0x50],
    &[0x90],
];

/// The way a block ends.
#[derive(Clone, Copy)]
enum Last {
    Syscall,
    Conditional,
    Jump,
    Indirect,
    Repeated,
}

struct Block {
    pc: u64,
    end: u64,
    last: Last,
    target: usize,
}

/// Code of one file, or of none.
struct Code {
    mapping: MappingId,
    base: u64,
    bytes: Vec<u8>,
    blocks: Vec<Block>,
}

impl Code {
    fn new(mapping: MappingId, base: u64, numbers: &mut Numbers) -> Code {
        let mut code = Code { mapping, base, bytes: Vec::new(), blocks: Vec::new() };
        let count = 6 + numbers.below(10);
        let mut jumps = Vec::new();
        for block in 0..count {
            let pc = base + code.bytes.len() as u64;
            for _ in 0..numbers.below(6) {
                code.bytes.extend(PLAIN[numbers.below(PLAIN.len())]);
            }
            let target = numbers.below(count - 1);
            let last = match numbers.below(7) {
                // Only at the end of a process.
                _ if block == count - 1 => Last::Syscall,
                0 => Last::Jump,
                1 => Last::Indirect,
                2 => Last::Repeated,
                _ => Last::Conditional,
            };
            match last {
                Last::Syscall => code.bytes.extend([0x0f, 0x05]),
                Last::Jump => code.bytes.extend([0xe9, 0, 0, 0, 0]),
                Last::Conditional => code.bytes.extend([0x0f, 0x84, 0, 0, 0, 0]),
                Last::Indirect => code.bytes.extend([0xff, 0xe0]),
                Last::Repeated => code.bytes.extend([0xf3, 0xa4]),
            }
            let end = base + code.bytes.len() as u64;
            if matches!(last, Last::Jump | Last::Conditional) {
                jumps.push((code.bytes.len(), target));
            }
            code.blocks.push(Block { pc, end, last, target });
        }
        // Control may fall through to here.
        code.bytes.extend([0x90; 64]);
        for (at, target) in jumps {
            let offset = code.blocks[target].pc as i64 - (base as i64 + at as i64);
            code.bytes[at - 4..at].copy_from_slice(&(offset as i32).to_le_bytes());
        }
        code
    }

    fn fetch(&self, pc: u64) -> ([u8; MAX_LENGTH], usize) {
        let mut bytes = [0; MAX_LENGTH];
        let Some(rest) = pc.checked_sub(self.base).and_then(|at| self.bytes.get(at as usize..)) else {
            return (bytes, 0);
        };
        let len = rest.len().min(MAX_LENGTH);
        bytes[..len].copy_from_slice(&rest[..len]);
        (bytes, len)
    }

    /// Plan of the instructions from `pc` to `end`.
    fn plan(&self, pc: u64, end: u64) -> Plan {
        let mut builder = Builder::default();
        builder.begin(pc, self.mapping);
        let mut at = pc;
        while at < end {
            let (bytes, len) = self.fetch(at);
            let instruction = decode(&bytes[..len], at);
            let cost = builder.cost(&instruction);
            builder.push(&instruction, instruction.len() as u8, &cost);
            at += instruction.len() as u64;
        }
        builder.finish()
    }
}

/// Something that a process does: it runs instructions of one of its codes, which may fault.
#[derive(Clone)]
struct Step {
    code: usize,
    pc: u64,
    end: u64,
    slots: Vec<u64>,
    fault: Option<u64>,
}

/// A process: what it does.
struct Process {
    steps: Vec<Step>,
}

impl Process {
    fn new(codes: Vec<usize>, all: &[Code], numbers: &mut Numbers) -> Process {
        let mut steps = Vec::new();
        let (mut code, mut block) = (codes[0], 0);
        for _ in 0..200 + numbers.below(400) {
            let Code { blocks, .. } = &all[code];
            let at = &blocks[block];
            let mut starts: Vec<u64> =
                all[code].plan(at.pc, at.end).insns.iter().map(|insn| insn.pc()).collect();
            starts.push(at.end);
            // The engine may end its blocks anywhere.
            let cut = numbers.below(starts.len() * 2);
            let cuts = if cut > 0 && cut + 1 < starts.len() { vec![starts[cut]] } else { Vec::new() };
            let mut pc = at.pc;
            let mut faulted = false;
            for end in cuts.into_iter().chain([at.end]) {
                let plan = all[code].plan(pc, end);
                let address = |numbers: &mut Numbers| 0x10_0000 + 8 * numbers.below(4096) as u64;
                let slots = (0..plan.slots).map(|_| address(numbers)).collect();
                let fault =
                    (numbers.below(40) == 0).then(|| plan.insns[numbers.below(plan.insns.len())].pc());
                steps.push(Step { code, pc, end, slots, fault });
                faulted = fault.is_some();
                if faulted {
                    break;
                }
                pc = end;
            }
            block = match at.last {
                _ if faulted => numbers.below(blocks.len() - 1),
                Last::Conditional if numbers.below(3) == 0 => at.target,
                Last::Repeated if numbers.below(3) > 0 => {
                    // The same instruction again.
                    let pc = at.end - 2;
                    let slots = (0..all[code].plan(pc, at.end).slots).map(|_| 0x20_0000).collect();
                    steps.push(Step { code, pc, end: at.end, slots, fault: None });
                    (block + 1) % (blocks.len() - 1)
                }
                Last::Jump => at.target,
                Last::Indirect => {
                    code = codes[numbers.below(codes.len())];
                    numbers.below(all[code].blocks.len() - 1)
                }
                Last::Conditional | Last::Repeated if block + 2 < blocks.len() => block + 1,
                Last::Syscall | Last::Conditional | Last::Repeated => {
                    code = codes[0];
                    0
                }
            };
        }
        let last = all[code].blocks.last().expect("some");
        steps.push(Step { code, pc: last.pc, end: last.end, slots: Vec::new(), fault: None });
        let slots = all[code].plan(last.pc, last.end).slots;
        steps.last_mut().expect("one").slots = vec![0x30_0000; slots.into()];
        Process { steps }
    }
}

/// Everything that decides the counts.
#[derive(Clone, Copy, Debug)]
struct Setting {
    model: CountModel,
    caches: bool,
    branches: bool,
    /// The CPUs that there are; with one, there are no threads; with none, generated code counts
    /// itself.
    cpus: usize,
}

impl Setting {
    fn all() -> Vec<Setting> {
        let mut all = Vec::new();
        for model in [CountModel::Arch, CountModel::Valgrind] {
            for (caches, branches, cpus) in
                [(false, false, 1), (true, true, 1), (true, false, 2), (true, true, 2), (true, true, 4)]
            {
                all.push(Setting { model, caches, branches, cpus });
            }
        }
        all.push(Setting { model: CountModel::Arch, caches: false, branches: false, cpus: 0 });
        all
    }

    fn recorder(self) -> Recorder {
        let geometry = |text: &str| text.parse().expect("a geometry");
        let caches = self
            .caches
            .then(|| Hierarchy::new(geometry("1024,2,64"), geometry("1024,2,64"), geometry("8192,4,64")));
        let consumers = Consumer::parts(caches, self.branches.then(Predictors::default), None, self.cpus);
        let link = if self.cpus > 1 { Link::threaded(consumers) } else { Link::inline(consumers) };
        let mut recorder = Recorder::new(link, self.model, self.caches);
        if self.cpus == 0 {
            recorder.work_inline(Inline::default(), None);
        }
        recorder
    }
}

/// The engine's part: what it has translated.
#[derive(Default)]
struct Engine {
    translated: HashSet<(usize, u64, u64)>,
}

impl Engine {
    fn run(&mut self, recorder: &mut Recorder, all: &[Code], step: &Step) {
        let code = &all[step.code];
        let plan = code.plan(step.pc, step.end);
        if self.translated.insert((step.code, step.pc, step.end)) {
            recorder.translated(step.pc, code.mapping, &mut |pc| code.fetch(pc));
        }
        let id = recorder.plans.insert(plan);
        recorder.append(id, &step.slots);
        if let Some(pc) = step.fault {
            recorder.fault(pc, Cause::Result, &mut |_| true);
        }
    }
}

type Table = BTreeMap<(u64, MappingId), Counts>;

fn table(tally: &Tally) -> Table {
    let mut table = Table::new();
    for CountedInsn { at: (mapping, pc), counts } in tally.iter() {
        table.entry((pc, mapping)).or_default().add(&counts);
    }
    table
}

/// Instructions with different counts.
fn difference<'t>(one: &'t Table, other: &'t Table) -> Vec<(u64, Option<&'t Counts>, Option<&'t Counts>)> {
    let all: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let different = all.into_iter().filter(|at| one.get(at) != other.get(at));
    different.map(|at| (at.0, one.get(at), other.get(at))).collect()
}

fn tables(consumers: &[Consumer]) -> BTreeMap<AccountId, Table> {
    consumers[0].accounts().iter().map(|&id| (id, table(&Tally::of(id, consumers.iter())))).collect()
}

/// The counts of steps that run alone, from an empty machine.
fn alone(setting: Setting, all: &[Code], steps: &[Step]) -> (Table, u64) {
    let (mut recorder, mut engine) = (setting.recorder(), Engine::default());
    for step in steps {
        engine.run(&mut recorder, all, step);
    }
    recorder.point(0);
    let instructions = recorder.instructions();
    let tables = tables(&recorder.finish());
    (tables[&AccountId::FIRST].clone(), instructions)
}

/// Codes of which some processes have the same, and others another at the same addresses; the last
/// three are in no file.
fn codes(numbers: &mut Numbers) -> Vec<Code> {
    vec![
        Code::new(0, 0x40_0000, numbers),
        Code::new(1, 0x40_0000, numbers),
        Code::new(2, 0x7000_0000, numbers),
        Code::new(NO_MAPPING, 0x5000_0000, numbers),
        Code::new(NO_MAPPING, 0x5000_0000, numbers),
        Code::new(NO_MAPPING, 0x5000_0000, numbers),
    ]
}

/// Processes that take turns, by their numbers.
struct Turns<'a> {
    setting: Setting,
    all: &'a [Code],
    processes: &'a [Process],
    recorder: Recorder,
    engine: Engine,
    accounts: Vec<AccountId>,
    /// Next step of each process.
    next: Vec<usize>,
    current: usize,
}

impl<'a> Turns<'a> {
    /// The last process is not counted.
    fn new(setting: Setting, all: &'a [Code], processes: &'a [Process]) -> Turns<'a> {
        let mut recorder = setting.recorder();
        let mut accounts = vec![AccountId::FIRST];
        for _ in 2..processes.len() {
            accounts.push(recorder.new_account(Opening::Empty, true));
        }
        accounts.push(AccountId::NONE);
        let next = vec![0; processes.len()];
        Turns { setting, all, processes, recorder, engine: Engine::default(), accounts, next, current: 0 }
    }

    fn pc(&self, process: usize) -> u64 {
        self.processes[process].steps.get(self.next[process]).map_or(0, |step| step.pc)
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            let Some(step) = self.processes[self.current].steps.get(self.next[self.current]) else { break };
            self.engine.run(&mut self.recorder, self.all, step);
            self.next[self.current] += 1;
        }
    }

    fn switch(&mut self, to: usize) {
        let pc = self.pc(self.current);
        self.recorder.point(pc);
        self.current = to;
        self.recorder.switch_task(to as u32, self.accounts[to], self.pc(to));
    }

    fn is_over(&self) -> bool {
        self.processes.iter().zip(&self.next).all(|(process, &next)| next >= process.steps.len())
    }

    fn check(self, what: &str) {
        let Turns { setting, all, processes, mut recorder, accounts, .. } = self;
        let instructions = recorder.instructions();
        let mut seen = HashMap::new();
        recorder.visit(|consumer| {
            for id in consumer.accounts() {
                seen.entry(id).or_insert_with(Tally::default).add(consumer, id);
            }
        });
        let tables = tables(&recorder.finish());
        let mut total = 0;
        for (i, (process, account)) in processes.iter().zip(&accounts).enumerate() {
            let (expected, own) = alone(setting, all, &process.steps);
            total += own;
            if account.is_counted() {
                let difference = difference(&tables[account], &expected);
                assert!(difference.is_empty(), "{what}: process {i}, {setting:?}: {difference:#x?}");
                assert_eq!(table(&seen[account]), expected, "{what}: process {i} seen, {setting:?}");
            }
        }
        assert_eq!(instructions, total, "{what}: {setting:?}");
        assert_eq!(tables.len(), accounts.len() - 1, "{what}");
    }
}

/// Three counted processes of which two share a program, and one that is not counted.
fn processes(all: &[Code], numbers: &mut Numbers) -> Vec<Process> {
    [vec![0, 2, 3], vec![1, 2, 4], vec![0, 2], vec![1, 2, 5]]
        .into_iter()
        .map(|codes| Process::new(codes, all, numbers))
        .collect()
}

#[test]
fn processes_in_turns_have_the_counts_that_each_has_alone() {
    for seed in 0..16 {
        let numbers = &mut Numbers(seed);
        let all = codes(numbers);
        let processes = processes(&all, numbers);
        for setting in Setting::all() {
            let mut turns = Turns::new(setting, &all, &processes);
            while !turns.is_over() {
                turns.run(numbers.below(30));
                if numbers.below(8) == 0 {
                    turns.recorder.flush();
                }
                if numbers.below(20) == 0 {
                    turns.recorder.instructions();
                }
                turns.switch(numbers.below(processes.len()));
            }
            turns.check(&format!("seed {seed}"));
        }
    }
}

#[test]
fn going_back_gives_every_account_what_it_had() {
    for seed in 100..124 {
        let numbers = &mut Numbers(seed);
        let all = codes(numbers);
        let processes = processes(&all, numbers);
        for setting in Setting::all() {
            let mut turns = Turns::new(setting, &all, &processes);
            let mut saved = Vec::new();
            let mut back = 0;
            while !turns.is_over() {
                turns.run(numbers.below(30));
                turns.switch(numbers.below(processes.len()));
                if numbers.below(6) == 0 {
                    saved.push((turns.recorder.save(), turns.next.clone(), turns.current));
                }
                if back < 10 && !saved.is_empty() && numbers.below(10) == 0 {
                    back += 1;
                    // Back or forth.
                    let (recorded, next, current) = &saved[numbers.below(saved.len())];
                    turns.recorder.restore(recorded);
                    assert_eq!(recorded.instructions(), turns.recorder.instructions());
                    turns.next.clone_from(next);
                    turns.current = *current;
                }
            }
            turns.check(&format!("seed {seed}"));
        }
    }
}

/// The table of one more set of steps than another.
fn sum(tables: &[&Table]) -> Table {
    let mut all = Table::new();
    for (at, counts) in tables.iter().flat_map(|table| table.iter()) {
        all.entry(*at).or_default().add(counts);
    }
    all
}

/// A child has the counts and caches that its parent had, or only the caches; after execve(2) it
/// has neither, and a process that has ended keeps its counts.
#[test]
fn forks_programs_and_ends() {
    for seed in 200..248 {
        let numbers = &mut Numbers(seed);
        let all = codes(numbers);
        let [parent, after, child, program] = [vec![0, 2, 3], vec![0, 2, 3], vec![0, 2, 3], vec![1, 2]]
            .map(|codes| Process::new(codes, &all, numbers));
        let parents: Vec<Step> = parent.steps.iter().chain(&after.steps).cloned().collect();
        let children: Vec<Step> = parent.steps.iter().chain(&child.steps).cloned().collect();
        for setting in Setting::all() {
            let (mut recorder, mut engine) = (setting.recorder(), Engine::default());
            let run = |recorder: &mut Recorder, engine: &mut Engine, steps: &[Step], next: u64| {
                steps.iter().for_each(|step| engine.run(recorder, &all, step));
                recorder.point(next);
            };
            run(&mut recorder, &mut engine, &parent.steps, child.steps[0].pc);
            let copy = |counts| Opening::Copy { of: AccountId::FIRST, counts };
            let whole = recorder.new_account(copy(true), true);
            let own = recorder.new_account(copy(false), true);
            for (task, account) in [(1, whole), (2, own)] {
                recorder.switch_task(task, account, child.steps[0].pc);
                run(&mut recorder, &mut engine, &child.steps, 0);
            }
            // A grandchild, and a program in the place of the child.
            let grandchild = recorder.new_account(Opening::Copy { of: whole, counts: true }, true);
            let kept = recorder.new_account(Opening::Copy { of: whole, counts: true }, true);
            recorder.close_account(own);
            for (task, account, counts) in [(1, whole, false), (3, kept, true)] {
                recorder.switch_task(task, account, program.steps[0].pc);
                recorder.reset_account(account, counts);
                run(&mut recorder, &mut engine, &program.steps, 0);
                recorder.close_account(account);
            }
            let dropped = recorder.new_account(Opening::Empty, true);
            recorder.switch_task(4, dropped, 0);
            run(&mut recorder, &mut engine, &program.steps, 0);
            recorder.drop_account(dropped);
            recorder.switch_task(0, AccountId::FIRST, after.steps[0].pc);
            run(&mut recorder, &mut engine, &after.steps, 0);

            let tables = tables(&recorder.finish());
            let what = format!("seed {seed}, {setting:?}");
            let [before, parent, child, program] = [&parent.steps, &parents, &children, &program.steps]
                .map(|steps| alone(setting, &all, steps).0);
            assert!(tables[&AccountId::FIRST] == parent, "{what}: parent");
            assert!(tables[&whole] == program, "{what}: program");
            assert!(sum(&[&tables[&own], &before]) == child, "{what}: child without counts");
            assert!(tables[&grandchild] == child, "{what}: grandchild");
            assert!(tables[&kept] == sum(&[&child, &program]), "{what}: counts that go on");
            assert_eq!(tables.len(), 5, "{what}");
        }
    }
}

/// A child that has executed another program goes back to its beginning, and runs on as its parent:
/// its plans have other numbers then, the same in all consumers.
#[test]
fn a_child_goes_back_to_its_beginning() {
    for seed in 250..266 {
        let numbers = &mut Numbers(seed);
        let all = codes(numbers);
        let [parent, once, then] = [vec![0, 2, 3], vec![1, 2, 3], vec![0, 2, 3]]
            .map(|codes| Process::new(codes, &all, numbers).steps);
        for setting in Setting::all() {
            let (mut recorder, mut engine) = (setting.recorder(), Engine::default());
            parent.iter().for_each(|step| engine.run(&mut recorder, &all, step));
            recorder.point(then[0].pc);
            let copy = Opening::Copy { of: AccountId::FIRST, counts: true };
            let child = recorder.new_account(copy, true);
            let beginning = recorder.save();
            for (steps, back) in [(&once, true), (&then, false)] {
                recorder.switch_task(1, child, steps[0].pc);
                if back {
                    recorder.reset_account(child, false);
                }
                steps.iter().for_each(|step| engine.run(&mut recorder, &all, step));
                recorder.point(0);
                if back {
                    recorder.restore(&beginning);
                }
            }
            let expected = alone(setting, &all, &[&parent[..], &then].concat()).0;
            let tables = tables(&recorder.finish());
            let difference = difference(&tables[&child], &expected);
            assert!(difference.is_empty(), "seed {seed}, {setting:?}: {difference:#x?}");
        }
    }
}

/// Threads that are counted apart share caches and predictors: together they have the counts of one
/// that does everything.
#[test]
fn threads_apart_add_up() {
    for seed in 300..330 {
        let numbers = &mut Numbers(seed);
        let all = codes(numbers);
        let process = Process::new(vec![0, 2, 3], &all, numbers);
        for setting in Setting::all() {
            let (mut recorder, mut engine) = (setting.recorder(), Engine::default());
            let shared = Opening::Shared { with: AccountId::FIRST };
            let mut accounts = vec![AccountId::FIRST];
            accounts.extend([0, 1].map(|_| recorder.new_account(shared, true)));
            let mut child = None;
            for (i, steps) in process.steps.chunks(20).enumerate() {
                // A fault takes back what one thread has done only.
                let task = i % accounts.len();
                recorder.point(steps[0].pc);
                recorder.switch_task(task as u32, accounts[task], steps[0].pc);
                steps.iter().for_each(|step| engine.run(&mut recorder, &all, step));
                if i == 5 {
                    recorder.point(0);
                    let opening = Opening::Copy { of: accounts[2], counts: false };
                    child = Some(recorder.new_account(opening, true));
                    recorder.close_account(accounts.pop().expect("one"));
                    recorder.switch_task(9, accounts[0], 0);
                }
            }
            recorder.point(0);
            let tables = tables(&recorder.finish());
            let one = [0, 1, 2].map(|i| tables.values().nth(i).expect("a thread"));
            let expected = alone_in_pieces(setting, &all, &process.steps);
            let difference = sum(&one);
            assert!(
                difference == expected,
                "seed {seed}, {setting:?}: {:x?}",
                self::difference(&difference, &expected)
            );
            assert!(tables[&child.expect("a child")].is_empty());
        }
    }
}

#[test]
fn counts_are_told_before_they_overflow() {
    let setting = Setting { model: CountModel::Arch, caches: false, branches: false, cpus: 0 };
    let mut recorder = setting.recorder();
    let mut plan = Plan::empty(0x1000, 0);
    plan.insns.push(PlannedInsn::new(0x1000, 1));
    let id = recorder.plans.insert(plan);
    let executed = |recorder: &mut Recorder| recorder.executions()[id.0 as usize].executed;
    for round in 1..=3 {
        recorder.append(id, &[]);
        recorder.executed(MOST_UNTOLD - 1, Some(id));
        recorder.tell_if_many();
        assert_eq!(executed(&mut recorder), 1, "{round}");
        recorder.executed(1, Some(id));
        recorder.tell_if_many();
        assert_eq!(executed(&mut recorder), 0, "{round}");
    }
    let tables = tables(&recorder.finish());
    assert_eq!(tables[&AccountId::FIRST][&(0x1000, 0)].ir, 3);
}

/// The counts of steps that run alone but for the pauses between pieces, each of which is the turn
/// of a thread.
fn alone_in_pieces(setting: Setting, all: &[Code], steps: &[Step]) -> Table {
    let (mut recorder, mut engine) = (setting.recorder(), Engine::default());
    let mut threads = 3;
    for (i, steps) in steps.chunks(20).enumerate() {
        recorder.point(steps[0].pc);
        recorder.switch_task((i % threads) as u32, AccountId::FIRST, steps[0].pc);
        steps.iter().for_each(|step| engine.run(&mut recorder, all, step));
        if i == 5 {
            threads = 2;
            recorder.point(0);
            recorder.decide();
            recorder.switch_task(9, AccountId::FIRST, 0);
        }
    }
    recorder.point(0);
    let tables = tables(&recorder.finish());
    tables[&AccountId::FIRST].clone()
}
