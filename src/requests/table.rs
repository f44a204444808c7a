//! The table of requests, a row each, and the dispatch by it.

use crate::guest::Gpr;
use crate::requests::host::{Answer, Host};
use crate::requests::state::Requests;
use crate::requests::{call, control, core, print};

/// Functions that serve requests: from the state, the outside and the five arguments.
type Handler = fn(&mut Requests, &mut dyn Host, [u64; 5]) -> Answer;

/// A client request.
#[derive(Clone, Copy)]
struct ClientRequest {
    /// Its code.
    code: u64,
    /// Its name, as in Valgrind's headers without `VG_USERREQ__`.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers, and the test of docs/counting.md"))]
    name: &'static str,
    /// The function that serves it.
    handler: Handler,
}

/// Codes of a tool, by its two letters.
const fn tool(first: u8, second: u8) -> u64 {
    (first as u64) << 24 | (second as u64) << 16
}

const CACHEGRIND: u64 = tool(b'C', b'G');
const CALLGRIND: u64 = tool(b'C', b'T');

const fn row(code: u64, name: &'static str, handler: Handler) -> ClientRequest {
    ClientRequest { code, name, handler }
}

/// The requests, by rising code.
const ROWS: &[ClientRequest] = &[
    row(0x1001, "RUNNING_ON_VALGRIND", core::running_on_valgrind),
    row(0x1002, "DISCARD_TRANSLATIONS", core::nothing),
    row(0x1003, "REPLACES_MALLOC", core::nothing),
    row(0x1004, "GET_TOOLNAME", core::tool_name),
    row(0x1101, "CLIENT_CALL0", call::call0),
    row(0x1102, "CLIENT_CALL1", call::call1),
    row(0x1103, "CLIENT_CALL2", call::call2),
    row(0x1104, "CLIENT_CALL3", call::call3),
    row(0x1201, "COUNT_ERRORS", core::nothing),
    row(0x1202, "GDB_MONITOR_COMMAND", core::monitor_command),
    row(0x1203, "CLO_CHANGE", core::option_change),
    row(0x1301, "MALLOCLIKE_BLOCK", core::block),
    row(0x1302, "FREELIKE_BLOCK", core::block),
    row(0x1303, "CREATE_MEMPOOL", core::unknown),
    row(0x1304, "DESTROY_MEMPOOL", core::unknown),
    row(0x1305, "MEMPOOL_ALLOC", core::unknown),
    row(0x1306, "MEMPOOL_FREE", core::unknown),
    row(0x1307, "MEMPOOL_TRIM", core::unknown),
    row(0x1308, "MOVE_MEMPOOL", core::unknown),
    row(0x1309, "MEMPOOL_CHANGE", core::unknown),
    row(0x130a, "MEMPOOL_EXISTS", core::unknown),
    row(0x130b, "RESIZEINPLACE_BLOCK", core::block),
    row(0x1401, "PRINTF", print::printf),
    row(0x1402, "PRINTF_BACKTRACE", print::printf_backtrace),
    row(0x1403, "PRINTF_VALIST_BY_REF", print::printf),
    row(0x1404, "PRINTF_BACKTRACE_VALIST_BY_REF", print::printf_backtrace),
    row(0x1501, "STACK_REGISTER", core::stack_register),
    row(0x1502, "STACK_DEREGISTER", core::nothing),
    row(0x1503, "STACK_CHANGE", core::nothing),
    row(0x1601, "LOAD_PDB_DEBUGINFO", core::nothing),
    row(0x1701, "MAP_IP_TO_SRCLOC", core::map_ip_to_srcloc),
    row(0x1801, "CHANGE_ERR_DISABLEMENT", core::nothing),
    row(0x1901, "VEX_INIT_FOR_IRI", core::unknown),
    row(0x1902, "INNER_THREADS", core::nothing),
    row(CACHEGRIND, "CG_START_INSTRUMENTATION", control::cachegrind_start),
    row(CACHEGRIND + 1, "CG_STOP_INSTRUMENTATION", control::cachegrind_stop),
    row(CALLGRIND, "DUMP_STATS", control::dump_stats),
    row(CALLGRIND + 1, "ZERO_STATS", control::zero_stats),
    row(CALLGRIND + 2, "TOGGLE_COLLECT", control::toggle_collect),
    row(CALLGRIND + 3, "DUMP_STATS_AT", control::dump_stats_at),
    row(CALLGRIND + 4, "START_INSTRUMENTATION", control::callgrind_start),
    row(CALLGRIND + 5, "STOP_INSTRUMENTATION", control::callgrind_stop),
];

/// The request with a code.
fn find(code: u64) -> Option<&'static ClientRequest> {
    ROWS.binary_search_by_key(&code, |row| row.code).ok().and_then(|at| ROWS.get(at))
}

/// Words of a request: its code and five arguments.
const WORDS: usize = 6;

impl Requests {
    /// Serves the request whose words RAX points to.
    ///
    /// # Errors
    /// The address of a word that cannot be read. Valgrind itself ends there.
    pub(crate) fn serve(&mut self, host: &mut dyn Host) -> Result<Answer, u64> {
        self.settle(host.cpu());
        let at = host.cpu().gpr(Gpr::Rax);
        let mut bytes = [0; WORDS * 8];
        host.mem().read(at, &mut bytes).map_err(|read| at.wrapping_add(read as u64))?;
        let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let code = words.next().unwrap_or_default();
        let args = std::array::from_fn(|_| words.next().unwrap_or_default());
        let Some(row) = find(code) else { return Ok(Answer::Untouched) };
        let answer = (row.handler)(self, host, args);
        if let Answer::Value(value) = answer {
            host.cpu().set_gpr(Gpr::Rdx, value);
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        assert!(ROWS.is_sorted_by(|a, b| a.code < b.code));
        assert!(ROWS.iter().all(|row| find(row.code).is_some_and(|found| found.name == row.name)));
        assert!(find(0x1000).is_none() && find(u64::MAX).is_none());
    }

    #[test]
    fn all_are_documented() {
        let text = include_str!("../../docs/counting.md");
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let missing: Vec<&str> =
            ROWS.iter().map(|row| row.name).filter(|name| !words.contains(name)).collect();
        assert!(missing.is_empty(), "docs/counting.md does not name {missing:?}");
    }

    /// `VG_USERREQ_TOOL_BASE` of valgrind.h.
    #[test]
    fn tools_have_their_letters() {
        assert_eq!((CACHEGRIND, CALLGRIND), (0x4347_0000, 0x4354_0000));
    }
}
