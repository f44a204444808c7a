//! The end of a run: its counts, folded to a profile, and what is to be said about it.

use std::collections::btree_map::{BTreeMap, Entry};
use std::io;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashSet;

use crate::abi::signal::signo::SIGKILL;
use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::Machine;
use crate::hooks::callgraph::costs::{CallCosts, Disorder};
use crate::hooks::callgraph::dumps::Dumps;
use crate::hooks::consumer::Consumer;
use crate::hooks::control::AccountId;
use crate::hooks::plan::MappingId;
use crate::hooks::private_code::CodeInNoFile;
use crate::hooks::tally::Tally;
use crate::profile::Profile;
use crate::requests::Reasons;
use crate::session::accounts::{Counted, CountedThread};
use crate::session::attribute::{self, Subject};
use crate::session::call_graph;
use crate::session::config::Config;
use crate::session::control::{Control, PAUSE};
use crate::session::guest::{Guest, StopConditions};
use crate::session::instructions::Code;
use crate::session::line_index::LineIndex;
use crate::session::modules::Modules;
use crate::session::outcome::{Child, Ending, Finished, Folded, Pause, Stop, Thread, Whose};
use crate::session::places::place_of_call;
use crate::session::run::{Session, StartError};

/// Runs a program to its end and gives back what it cost. Where [`Control::interrupt`] asks for a
/// pause, `obey` is called, and the run goes on. At its end `take` gets each process but the first
/// with its counts; what it takes out of it is not kept until all are put together.
///
/// # Errors
/// When it cannot be started; once it runs, whatever ends it still yields a profile.
pub fn run(
    config: Config,
    control: Arc<Control>,
    mut obey: impl FnMut(&mut Session),
    take: &mut dyn FnMut(&mut Child),
) -> Result<Finished, StartError> {
    let mut session = Session::start(config, Arc::clone(&control))?;
    while session.resume(StopConditions::default()) != Pause::Ended {
        let _ = control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed);
        obey(&mut session);
    }
    Ok(session.finish(take))
}

impl Session {
    /// Ends the run and gives back what it cost, but for what `take` takes.
    pub fn finish(self, take: &mut dyn FnMut(&mut Child)) -> Finished {
        let Session { config, mut machine, mut guest, accounts, .. } = self;
        // It ends: there is no pause any more.
        let _ = guest.control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed);
        guest.end_transcript();
        write_back(&mut guest, machine.memory());
        let code = machine.recorder().take_code();
        let mut consumers = machine.finish();
        consumers.iter_mut().for_each(Consumer::unwind);
        let ending = guest.ending.take().unwrap_or(Ending::Stop(Stop::Interrupted(SIGKILL)));
        let mut counts = |account| AccountCounts {
            tally: Tally::of(account, consumers.iter()),
            calls: calls_of(account, &consumers),
            dumps: dumps_of(account, &consumers),
        };
        let outside = guest.kernel.outside();
        let Guest { modules, requests, .. } = &mut guest;
        let told = Told { reasons: requests.reasons(), outside: &outside };
        let folded = fold_all(&config, accounts.counted(), &mut counts, modules, told, code.as_ref(), take);
        // It is given up only for a pause.
        let results = folded.unwrap_or_else(|| Results::empty(&config));
        conclude(ending, &mut guest, results)
    }

    /// The results of a program that has ended, and could be taken back; `None` while it has not,
    /// or if [`Control::interrupt`] asks for a pause before they are put together.
    pub fn finished(&mut self) -> Option<Finished> {
        let ending = self.guest.ending.clone()?;
        self.guest.end_transcript();
        write_back(&mut self.guest, self.machine.memory());
        let counted = self.accounts.counted();
        let threads = counted.iter().flat_map(|counted| &counted.threads);
        let mut tallies: BTreeMap<AccountId, Tally> =
            threads.map(|thread| (thread.account, Tally::default())).collect();
        self.machine.visit_consumers(|consumer| {
            tallies.iter_mut().for_each(|(&account, tally)| tally.add(consumer, account));
        });
        let accounts: Vec<AccountId> = tallies.keys().copied().collect();
        let followed = calls_so_far(&mut self.machine, &accounts);
        let mut counts = |account| {
            let (calls, dumps) = followed.get(&account).cloned().unwrap_or_default();
            AccountCounts { tally: tallies.get(&account).cloned().unwrap_or_default(), calls, dumps }
        };
        let code = self.machine.recorder().code();
        let outside = self.guest.kernel.outside();
        let Guest { modules, requests, .. } = &mut self.guest;
        let told = Told { reasons: requests.reasons(), outside: &outside };
        let results = fold_all(&self.config, counted, &mut counts, modules, told, code, &mut |_| ())?;
        Some(conclude(ending, &mut self.guest, results))
    }

    /// The counts so far, with the call graph if one is wanted and calls are followed; `None` if
    /// [`Control::interrupt`] asks for a pause before they are put together.
    pub fn profile(&mut self, whose: Whose, with_calls: bool) -> Option<Folded> {
        let mut own = AccountCounts { tally: self.tally(whose), ..AccountCounts::default() };
        let accounts = self.accounts_of(whose);
        if with_calls {
            for (calls, _) in calls_so_far(&mut self.machine, &accounts).into_values() {
                own.append(AccountCounts { calls, ..AccountCounts::default() });
            }
        }
        let command = self.shown(whose).first().map(|shown| shown.command.clone()).unwrap_or_default();
        let positions = self.config.recording.positions;
        let Session { config, machine, guest, .. } = self;
        guest.modules.read_debug_info(own.addresses());
        let code = machine.recorder().code().map(|kept| Code { kept, accounts });
        let subject = Subject {
            command: &command,
            counting: &config.counting,
            code,
            calls: own.calls.as_ref(),
            dumps: &own.dumps,
            reasons: guest.requests.reasons(),
            outside: &guest.kernel.outside(),
            positions,
        };
        attribute::fold_run(&own.tally, &mut guest.modules, &mut LineIndex::new(false), subject)
    }

    /// The process that is meant, of those that are counted: the one that is looked at, or the
    /// first if that is not counted or the run has ended. `None` stands for all.
    pub fn meant(&self, whose: Whose) -> Option<i32> {
        let runs = self.looked_at.is_some() || self.guest.ending.is_none();
        let selected = runs.then(|| self.process_looked_at()).and_then(|pid| self.accounts.of(pid));
        match whose {
            Whose::All => None,
            Whose::Process(pid) => Some(pid),
            Whose::Selected => selected.or(self.accounts.counted().first()).map(|counted| counted.pid),
        }
    }

    /// The processes that have been counted, those that have ended included, and their commands.
    pub fn counted(&self) -> impl Iterator<Item = (i32, &[u8])> {
        self.accounts.counted().iter().map(|counted| (counted.pid, &*counted.command))
    }

    /// The processes whose counts are meant.
    fn shown(&self, whose: Whose) -> Vec<&Counted> {
        match self.meant(whose) {
            Some(pid) => self.accounts.of(pid).into_iter().collect(),
            None => self.accounts.counted().iter().collect(),
        }
    }

    /// The accounts whose counts are meant.
    pub(super) fn accounts_of(&self, whose: Whose) -> Vec<AccountId> {
        let threads = self.shown(whose).into_iter().flat_map(|shown| &shown.threads);
        threads.map(|thread| thread.account).collect()
    }

    /// The counts so far, by instruction.
    pub(super) fn tally(&mut self, whose: Whose) -> Tally {
        let accounts = self.accounts_of(whose);
        let mut tallies = vec![Tally::default(); accounts.len()];
        self.machine.visit_consumers(|consumer| {
            for (tally, &account) in tallies.iter_mut().zip(&accounts) {
                tally.add(consumer, account);
            }
        });
        let mut whole = Tally::default();
        tallies.into_iter().for_each(|tally| whole.append(tally));
        whole
    }

    /// The end of the program, and a line about it if there is something to explain; `None` while
    /// it goes on.
    pub fn ending(&mut self) -> Option<(Stop, Option<String>)> {
        let ending = self.guest.ending.clone()?;
        Some(attribute::explain(ending, &mut self.guest.modules))
    }
}

/// Writes what was stored in shared mappings to the files of the host.
fn write_back(guest: &mut Guest, mem: &mut AddressSpace) {
    if let Err(errno) = guest.kernel.fs.write_back(mem) {
        let error = io::Error::from_raw_os_error(errno.0.into());
        guest
            .kernel
            .notices
            .once(format!("what was stored in a shared mapping of a file is not all in it: {error}"));
    }
}

/// The counts of one account, or of several added up.
#[derive(Default)]
struct AccountCounts {
    tally: Tally,
    /// Costs of contexts and calls, if calls are followed.
    calls: Option<CallCosts>,
    /// Parts of them that were dumped before.
    dumps: Dumps,
}

impl AccountCounts {
    fn append(&mut self, other: AccountCounts) {
        self.tally.append(other.tally);
        self.dumps.append(&other.dumps);
        match (&mut self.calls, other.calls) {
            (Some(calls), Some(more)) => calls.append(&more),
            (calls, Some(more)) => *calls = Some(more),
            (_, None) => {}
        }
    }

    /// Events that the costs of calls suffer from.
    fn disorder(&self) -> Disorder {
        let dumped = self.dumps.made.iter().map(|dump| dump.costs.disorder);
        let all = dumped.chain(self.calls.as_ref().map(|calls| calls.disorder));
        all.fold(Disorder::default(), |mut sum, part| {
            sum.add(part);
            sum
        })
    }

    fn addresses(&self) -> impl Iterator<Item = (MappingId, u64)> {
        let own = self.tally.iter().map(|insn| insn.at);
        let dumped = self.dumps.made.iter().flat_map(|dump| call_graph::addresses_of_dump(dump));
        own.chain(self.calls.iter().flat_map(call_graph::addresses)).chain(dumped)
    }
}

/// The call graphs of accounts so far, if calls are followed, and the parts that were dumped
/// before.
fn calls_so_far(
    machine: &mut Machine,
    accounts: &[AccountId],
) -> BTreeMap<AccountId, (Option<CallCosts>, Dumps)> {
    let mut all: BTreeMap<AccountId, (Option<CallCosts>, Dumps)> = BTreeMap::new();
    machine.visit_consumers(|consumer| {
        for &account in accounts {
            let (calls, dumps) = (consumer.calls(account), consumer.dumps(account));
            match all.entry(account) {
                Entry::Vacant(entry) => drop(entry.insert((calls, dumps))),
                Entry::Occupied(entry) => {
                    let (own, parts) = entry.into_mut();
                    own.iter_mut().zip(&calls).for_each(|(own, its)| own.complete(its));
                    parts.complete(&dumps);
                }
            }
        }
    });
    all
}

/// The call graph of an account, if calls are followed.
fn calls_of(account: AccountId, consumers: &[Consumer]) -> Option<CallCosts> {
    let mut parts = consumers.iter().filter_map(|consumer| consumer.calls(account));
    let mut calls = parts.next()?;
    parts.for_each(|part| calls.complete(&part));
    Some(calls)
}

/// The parts of the call graph of an account that were dumped.
fn dumps_of(account: AccountId, consumers: &[Consumer]) -> Dumps {
    let mut parts = consumers.iter().map(|consumer| consumer.dumps(account));
    let mut dumps = parts.next().unwrap_or_default();
    parts.for_each(|part| dumps.complete(&part));
    dumps
}

/// The counts of a run.
struct Results {
    counts: Folded,
    threads: Vec<Thread>,
    children: Vec<Child>,
    /// Dumps of call graphs that were left out.
    left_out: u64,
    /// Events that the costs of call graphs suffer from.
    disorder: Disorder,
}

impl Results {
    fn empty(config: &Config) -> Results {
        let profile = Profile::new(config.machine.command_line(), config.counting.events());
        Results {
            counts: Folded { profile, instructions: None, calls: None, dumps: Vec::new() },
            threads: Vec::new(),
            children: Vec::new(),
            left_out: 0,
            disorder: Disorder::default(),
        }
    }
}

fn conclude(ending: Ending, guest: &mut Guest, results: Results) -> Finished {
    let Results { counts, threads, children, left_out, disorder } = results;
    let (stop, line) = attribute::explain(ending, &mut guest.modules);
    let Guest { kernel, modules, places, .. } = &mut *guest;
    let mut notices =
        kernel.notices.lines(|place| places.get(place).and_then(|calls| place_of_call(modules, calls)));
    notices.extend(line);
    notices.extend(guest.kernel.fs.not_shown.line());
    notices.extend(guest.kernel.fs.net.outside.lines());
    let dropped = guest.kernel.fs.dropped();
    if dropped > 0 {
        let files = if dropped == 1 { "1 file is".to_owned() } else { format!("{dropped} files are") };
        notices.push(format!(
            "{files} dropped that the program wrote, changed or removed; --allow-write=DIR keeps what is in DIR"
        ));
    }
    if let Some(names) = guest.modules.awaited() {
        notices.push(format!("no function of --count-from={names} was entered, so nothing is counted"));
    }
    if left_out > 0 {
        notices.push(format!(
            "{left_out} dumps of the call graph are left out, since there were too many; their costs are in the last part"
        ));
    }
    notices.extend(call_graph::notices(disorder));
    Finished { stop, counts, threads, children, notices }
}

/// Facts that profiles tell of a run beside its counts.
#[derive(Clone, Copy)]
struct Told<'a> {
    /// The program's reasons for dumps.
    reasons: &'a Reasons,
    /// Names of what it reached out for on the host's network.
    outside: &'a [String],
}

/// Gives the counts of one account.
type Counts<'a> = dyn FnMut(AccountId) -> AccountCounts + 'a;

/// Folds the counts of some processes, of which the first has this command.
type Fold<'a> = dyn FnMut(&AccountCounts, &[u8], &[Counted]) -> Option<Folded> + 'a;

/// The counts of a process: of all its threads.
fn of_process(counted: &Counted, counts: &mut Counts<'_>) -> AccountCounts {
    let mut whole = AccountCounts::default();
    counted.threads.iter().for_each(|thread| whole.append(counts(thread.account)));
    whole
}

/// Folds the counts of all processes; `None` if that is given up. `counts` gives those of one
/// account, since many would take much memory at once, and `take` gets each process but the first.
fn fold_all(
    config: &Config,
    counted: &[Counted],
    counts: &mut Counts<'_>,
    modules: &mut Modules,
    told: Told<'_>,
    code: Option<&CodeInNoFile>,
    take: &mut dyn FnMut(&mut Child),
) -> Option<Results> {
    let Some((first, others)) = counted.split_first() else { return Some(Results::empty(config)) };
    let rules = config.counting.children;
    let mut whole = of_process(first, counts);
    let mut children: Vec<Child> = Vec::new();
    let mut left_out = whole.dumps.left_out;
    let mut disorder = whole.disorder();
    let mut apart: FxHashSet<(MappingId, u64)> = FxHashSet::default();
    for child in others {
        let own = of_process(child, counts);
        left_out += own.dumps.left_out;
        disorder.add(own.disorder());
        children.push(Child {
            pid: child.pid,
            ppid: child.ppid,
            command: child.command.clone(),
            instructions: own.tally.instructions(),
            apart: !rules.merged,
            counts: None,
            threads: Vec::new(),
            silent: config.recording.silent_forks && !child.executed,
        });
        if rules.merged {
            whole.append(own);
        } else {
            apart.extend(own.addresses());
        }
    }
    // The debug information of a file is read once for all processes.
    modules.read_debug_info(apart.into_iter().chain(whole.addresses()));
    let mut index = LineIndex::new(rules.threads || !others.is_empty() && !rules.merged);
    let counting = &config.counting;
    let positions = config.recording.positions;
    let mut fold = |own: &AccountCounts, command: &[u8], of: &[Counted]| {
        let accounts =
            || of.iter().flat_map(|counted| &counted.threads).map(|thread| thread.account).collect();
        let code = code.map(|kept| Code { kept, accounts: accounts() });
        let calls = own.calls.as_ref();
        let dumps = &own.dumps;
        let Told { reasons, outside } = told;
        let subject = Subject { command, counting, code, calls, dumps, reasons, outside, positions };
        attribute::fold_run(&own.tally, modules, &mut index, subject)
    };
    let in_first = if rules.merged { counted } else { from_ref(first) };
    let folded = fold(&whole, &first.command, in_first)?;
    let threads = |counted: &Counted, counts: &mut Counts<'_>, fold: &mut Fold<'_>| {
        let apart = counted.threads.iter().filter(|_| rules.threads);
        let thread = |thread: &CountedThread| {
            let counts = fold(&counts(thread.account), &counted.command, from_ref(counted))?;
            Some(Thread { number: thread.number, counts })
        };
        apart.map(thread).collect::<Option<Vec<Thread>>>()
    };
    let own = threads(first, counts, &mut fold)?;
    for (child, counted) in children.iter_mut().zip(others) {
        child.threads = threads(counted, counts, &mut fold)?;
        if child.apart {
            let of = from_ref(counted);
            child.counts = Some(fold(&of_process(counted, counts), &child.command, of)?);
        }
        take(child);
    }
    Some(Results { counts: folded, threads: own, children, left_out, disorder })
}
