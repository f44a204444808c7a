//! Requests that switch counting, Cachegrind's and Callgrind's, and Callgrind's about the costs of
//! the call graph.

use crate::guest::GuestCpu;
use crate::requests::host::{Answer, Host, Voice};
use crate::requests::print::{UNREADABLE, string};
use crate::requests::state::Requests;

/// Most bytes of the reason for a dump.
const LONGEST_REASON: usize = 256;

/// Cachegrind's CACHEGRIND_START_INSTRUMENTATION: what follows is counted.
pub(super) fn cachegrind_start(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    switch(host, true)
}

/// Cachegrind's CACHEGRIND_STOP_INSTRUMENTATION: what follows is not counted. Caches and predictors
/// keep what they hold.
pub(super) fn cachegrind_stop(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    switch(host, false)
}

/// Warns where the switch is so already, as Cachegrind does.
fn switch(host: &mut dyn Host, on: bool) -> Answer {
    if host.cpu().set_counting(on) {
        return Answer::Value(0);
    }
    let (name, is) = if on { ("START", "enabled") } else { ("STOP", "disabled") };
    let text = format!(
        "warning: CACHEGRIND_{name}_INSTRUMENTATION called,\n         but instrumentation is already {is}\n"
    );
    if host.say(Voice::Debug, text.as_bytes()) { Answer::Value(0) } else { Answer::Later }
}

/// Callgrind's CALLGRIND_START_INSTRUMENTATION.
pub(super) fn callgrind_start(requests: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    callgrind_switch(requests, host, true)
}

/// Callgrind's CALLGRIND_STOP_INSTRUMENTATION.
pub(super) fn callgrind_stop(requests: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    callgrind_switch(requests, host, false)
}

/// Cachegrind does not know these. They mean what Cachegrind's own do to a user who asked to wait
/// for such a request, or for a call graph.
fn callgrind_switch(requests: &Requests, host: &mut dyn Host, on: bool) -> Answer {
    let follows_calls = host.cpu().follows_calls();
    if !follows_calls && !requests.waits {
        return ignored(
            host,
            if on { "CALLGRIND_START_INSTRUMENTATION" } else { "CALLGRIND_STOP_INSTRUMENTATION" },
        );
    }
    host.cpu().set_counting(on);
    if !follows_calls {
        host.notice(
            "Callgrind's requests to start and stop instrumentation were obeyed; Cachegrind does not know them"
                .into(),
        );
    }
    Answer::Value(0)
}

/// Callgrind's CALLGRIND_DUMP_STATS.
pub(super) fn dump_stats(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    collect(host, "CALLGRIND_DUMP_STATS", |cpu| cpu.dump_costs(0))
}

/// Callgrind's CALLGRIND_DUMP_STATS_AT: its argument says what for.
pub(super) fn dump_stats_at(requests: &mut Requests, host: &mut dyn Host, [at, ..]: [u64; 5]) -> Answer {
    let text = string(host.mem(), at, LONGEST_REASON).unwrap_or_else(|| UNREADABLE.to_vec());
    collect(host, "CALLGRIND_DUMP_STATS_AT", |cpu| cpu.dump_costs(requests.reasons.number(&text)))
}

/// Callgrind's CALLGRIND_ZERO_STATS.
pub(super) fn zero_stats(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    collect(host, "CALLGRIND_ZERO_STATS", |cpu| cpu.zero_costs())
}

/// Callgrind's CALLGRIND_TOGGLE_COLLECT.
pub(super) fn toggle_collect(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    collect(host, "CALLGRIND_TOGGLE_COLLECT", |cpu| cpu.toggle_collection())
}

/// Works on the costs of the call graph, if there is one.
fn collect(host: &mut dyn Host, name: &str, work: impl FnOnce(&mut dyn GuestCpu)) -> Answer {
    if !host.cpu().follows_calls() {
        return ignored(host, name);
    }
    work(host.cpu());
    Answer::Value(0)
}

fn ignored(host: &mut dyn Host, name: &str) -> Answer {
    host.notice(format!("{name} was ignored, as under Cachegrind: --callgraph=yes obeys it"));
    Answer::Untouched
}
