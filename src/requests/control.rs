//! Requests that switch counting: Cachegrind's, and those of Callgrind that mean the same here.

use crate::requests::host::{Answer, Host, Voice};
use crate::requests::state::Requests;

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
/// for such a request.
fn callgrind_switch(requests: &Requests, host: &mut dyn Host, on: bool) -> Answer {
    if !requests.waits {
        return ignored(
            host,
            if on { "CALLGRIND_START_INSTRUMENTATION" } else { "CALLGRIND_STOP_INSTRUMENTATION" },
        );
    }
    host.cpu().set_counting(on);
    host.notice(
        "Callgrind's requests to start and stop instrumentation were obeyed; Cachegrind does not know them"
            .into(),
    );
    Answer::Value(0)
}

/// Callgrind's CALLGRIND_DUMP_STATS.
pub(super) fn dump_stats(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    ignored(host, "CALLGRIND_DUMP_STATS")
}

/// Callgrind's CALLGRIND_DUMP_STATS_AT.
pub(super) fn dump_stats_at(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    ignored(host, "CALLGRIND_DUMP_STATS_AT")
}

/// Callgrind's CALLGRIND_ZERO_STATS.
pub(super) fn zero_stats(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    ignored(host, "CALLGRIND_ZERO_STATS")
}

/// Callgrind's CALLGRIND_TOGGLE_COLLECT.
pub(super) fn toggle_collect(_: &mut Requests, host: &mut dyn Host, _: [u64; 5]) -> Answer {
    ignored(host, "CALLGRIND_TOGGLE_COLLECT")
}

fn ignored(host: &mut dyn Host, name: &str) -> Answer {
    host.notice(format!("{name} was ignored, as under Cachegrind: there is one profile, of the whole run"));
    Answer::Untouched
}
