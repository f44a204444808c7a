//! Writes to files of `/proc/PID`.

use crate::abi::capability::{CAP_SYS_NICE, CAP_SYS_RESOURCE};
use crate::abi::errno::Errno;
use crate::kernel::arena::TaskId;
use crate::kernel::state::Kernel;
use crate::kernel::vfs::proc_file::{ProcFile, ProcSource};

/// Values of `oom_score_adj`, proc(5).
const OOM_SCORE_ADJ: std::ops::RangeInclusive<i64> = -1000..=1000;
/// Values of `oom_adj`, its predecessor.
const OOM_ADJ: std::ops::RangeInclusive<i64> = -17..=15;
/// Bits of `coredump_filter`, core(5).
const COREDUMP_FILTER: u64 = 0x1ff;
/// Most bytes that are taken as a number, `PROC_NUMBUF` less one.
const NUMBER: usize = 12;

/// A number as `kstrtoll` reads it, with blanks around it; EINVAL.
fn number(bytes: &[u8]) -> Result<i64, Errno> {
    let text = std::str::from_utf8(&bytes[..bytes.len().min(NUMBER)]).map_err(|_| Errno::EINVAL)?;
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Errno::EINVAL);
    }
    i64::from_str_radix(digits, radix).map(|value| sign * value).map_err(|_| Errno::EINVAL)
}

impl Kernel {
    /// Takes what is written to a file at once, and returns how much of it that was.
    ///
    /// # Errors
    /// ESRCH where the process is gone, EINVAL for what the file does not take, EACCES or EPERM
    /// without the right to it.
    pub(crate) fn proc_write(&mut self, source: ProcSource, bytes: &[u8]) -> Result<usize, Errno> {
        let subject = source.subject.ok_or(Errno::EINVAL)?;
        let (id, own) = {
            let table = self.table();
            (table.task(subject).ok_or(Errno::ESRCH)?.0, table.is_own(subject))
        };
        match source.file {
            file if file.is_user_map() => self.write_user_map(id, file, bytes)?,
            ProcFile::Comm if !own => return Err(Errno::EINVAL),
            ProcFile::Comm => self.other_task_mut(id).set_name(bytes),
            ProcFile::TimerSlack => {
                if id != self.current() {
                    self.task().cred.require(CAP_SYS_NICE)?;
                }
                let slack = u64::try_from(number(bytes)?).map_err(|_| Errno::EINVAL)?;
                self.other_task_mut(id).set_timerslack(slack);
            }
            ProcFile::OomScoreAdj => {
                let adj = Some(number(bytes)?).filter(|adj| OOM_SCORE_ADJ.contains(adj));
                self.set_oom_score_adj(id, adj.ok_or(Errno::EINVAL)?, false)?;
            }
            ProcFile::OomAdj => {
                let adj = Some(number(bytes)?).filter(|adj| OOM_ADJ.contains(adj));
                let adj = match adj.ok_or(Errno::EINVAL)? {
                    15 => 1000,
                    adj => adj * 1000 / 17,
                };
                self.set_oom_score_adj(id, adj, true)?;
            }
            ProcFile::CoreDumpFilter => {
                let filter = u64::try_from(number(bytes)?).map_err(|_| Errno::EINVAL)?;
                let mm = self.other_task(id).shared.mm;
                self.mms.get_mut(mm).ok_or(Errno::ESRCH)?.coredump_filter = filter & COREDUMP_FILTER;
            }
            // Pages have no marks that could be cleared.
            ProcFile::ClearRefs if (1..=5).contains(&number(bytes)?) => {}
            _ => return Err(Errno::EINVAL),
        }
        Ok(bytes.len())
    }

    /// Sets what makes a process more likely to end when memory runs out, which never happens here.
    /// Less than it was set to by privilege, or with the older file than it is, takes privilege.
    fn set_oom_score_adj(&mut self, task: TaskId, adj: i64, older: bool) -> Result<(), Errno> {
        let privileged = self.task().cred.capable(CAP_SYS_RESOURCE);
        let process = self.other_process_mut(self.other_task(task).shared.process);
        let (now, least) = process.oom_score_adj;
        if adj < i64::from(if older { now } else { least }) && !privileged {
            return Err(Errno::EACCES);
        }
        let adj = adj as i32;
        process.oom_score_adj = (adj, if privileged && !older { adj } else { least });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_linux_does() {
        for (text, value) in [("10\n", 10), (" -5 ", -5), ("0x1f", 31), ("017", 15), ("+3", 3), ("0", 0)] {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["", "x", "1 2", "--1", "+-1", "9z"] {
            assert_eq!(number(text.as_bytes()), Err(Errno::EINVAL), "{text}");
        }
    }
}
