//! Semaphores: semget(2), semop(2), semctl(2).

use crate::abi::errno::Errno;
use crate::abi::ipc::*;
use crate::kernel::cred::Credentials;
use crate::kernel::ipc::ids::Entry;
use crate::kernel::ipc::sem::{SemOp, SemSet};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_timeout, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::ipc::layout::{PERM_WORDS, get_perm, now, perm_words};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(64, "semget", semget),
    full(65, "semop", semop),
    full(66, "semctl", semctl),
    full(220, "semtimedop", semtimedop),
];

/// Bytes of a `struct sembuf`.
const SEMBUF: usize = 6;

/// semget(2).
fn semget(ctx: &mut Ctx, [key, count, flags, ..]: [u64; 6]) -> SysResult {
    let count = usize::try_from(count as i32).ok().filter(|count| *count <= SEMMSL).ok_or(Errno::EINVAL)?;
    let now = now(ctx);
    let cred = ctx.kernel.task().cred.clone();
    let used = ctx.kernel.ipc.sem.parts();
    let fits = |set: &SemSet| if set.semaphores.len() < count { Err(Errno::EINVAL) } else { Ok(()) };
    let make = || match count {
        0 => Err(Errno::EINVAL),
        count if used + count > SEMMNS => Err(Errno::ENOSPC),
        count => Ok(SemSet::new(count, now)),
    };
    let id = ctx.kernel.ipc.sem.get(key as i32, flags as u32, &cred, fits, make)?;
    Ok(id as u64)
}

/// semop(2).
fn semop(ctx: &mut Ctx, [id, ops, count, ..]: [u64; 6]) -> SysResult {
    semtimedop(ctx, [id, ops, count, 0, 0, 0])
}

/// semtimedop(2), which a signal always interrupts.
fn semtimedop(ctx: &mut Ctx, [id, ops, count, timeout, ..]: [u64; 6]) -> SysResult {
    if let Some(ended) = ctx.kernel.take_semop() {
        return Ok(ended.map(|()| 0)?);
    }
    let (id, count) = (id as i32, count as u32 as usize);
    let timeout = match get_timeout(ctx.mem, timeout) {
        Err(Errno::EFAULT) => return Err(Errno::EFAULT.into()),
        timeout => timeout,
    };
    if count > SEMOPM {
        return Err(Errno::E2BIG.into());
    }
    if count == 0 {
        return Err(Errno::EINVAL.into());
    }
    let task = ctx.kernel.current();
    if !ctx.kernel.ipc.sem.find(id).is_ok_and(|entry| entry.object.has_waiting(task)) {
        let mut bytes = vec![0; count * SEMBUF];
        copy_from_user(ctx.mem, ops, &mut bytes)?;
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let ops: Vec<SemOp> = (0..count * SEMBUF)
            .step_by(SEMBUF)
            .map(|at| SemOp { number: half(at), by: half(at + 2) as i16, flags: half(at + 4) })
            .collect();
        if id < 0 {
            return Err(Errno::EINVAL.into());
        }
        timeout?;
        if operate(ctx, id, ops)? {
            return Ok(0);
        }
    }
    let deadline = timeout?.map(|ns| ctx.deadline(ns));
    ctx.kernel.task_mut().call.frail = true;
    match ctx.sleep("semop", &[WaitKey::Semaphores(id)], deadline)? {
        Wake::Timeout => Err(Errno::EAGAIN.into()),
        Wake::Signal | Wake::Event => Err(Errno::EINTR.into()),
    }
}

/// Does operations on a set, or makes the task wait for it (false).
fn operate(ctx: &mut Ctx, id: i32, ops: Vec<SemOp>) -> Result<bool, Errno> {
    let alters = ops.iter().any(|op| op.by != 0);
    let now = now(ctx);
    let (task, process, pid) =
        (ctx.kernel.current(), ctx.kernel.task().shared.process, ctx.kernel.process().pid);
    let cred = ctx.kernel.task().cred.clone();
    let entry = ctx.kernel.ipc.sem.find_mut(id)?;
    if ops.iter().any(|op| usize::from(op.number) >= entry.object.semaphores.len()) {
        return Err(Errno::EFBIG);
    }
    entry.perm.check(&cred, if alters { 0o222 } else { 0o444 })?;
    let done = match entry.object.attempt(&ops, process, pid)? {
        None => true,
        Some(blocking) => {
            entry.object.wait(task, process, pid, ops, blocking);
            return Ok(false);
        }
    };
    entry.object.operated = now;
    if alters {
        ctx.kernel.semaphores_changed(id, now);
    }
    Ok(done)
}

/// The `struct semid64_ds` of a set.
fn stat(entry: &Entry<SemSet>, cred: &Credentials) -> [u64; PERM_WORDS + 7] {
    let mut words = [0; PERM_WORDS + 7];
    words[..PERM_WORDS].copy_from_slice(&perm_words(entry, cred));
    words[PERM_WORDS] = entry.object.operated as u64;
    words[PERM_WORDS + 2] = entry.object.changed as u64;
    words[PERM_WORDS + 4] = entry.object.semaphores.len() as u64;
    words
}

/// semctl(2).
fn semctl(ctx: &mut Ctx, [id, number, command, arg, ..]: [u64; 6]) -> SysResult {
    let (id, number, command) = (id as i32, number as i32, command as i32);
    if id < 0 {
        return Err(Errno::EINVAL.into());
    }
    let now = now(ctx);
    let cred = ctx.kernel.task().cred.clone();
    let sem = &mut ctx.kernel.ipc.sem;
    match command {
        IPC_INFO | SEM_INFO => {
            let used: usize = sem.iter().map(|entry| entry.object.semaphores.len()).sum();
            let (sets, used) = if command == SEM_INFO { (sem.len(), used) } else { (20, SEMVMX as usize) };
            let fields =
                [SEMMNS, SEMMNI, SEMMNS, SEMMNS, SEMMSL, SEMOPM, SEMOPM, sets, SEMVMX as usize, used];
            let highest = sem.highest();
            let bytes: Vec<u8> = fields.iter().flat_map(|field| (*field as u32).to_le_bytes()).collect();
            copy_to_user(ctx.mem, arg, &bytes)?;
            Ok(highest)
        }
        IPC_STAT | SEM_STAT | SEM_STAT_ANY => {
            let entry = if command == IPC_STAT { sem.find(id)? } else { sem.at(id)? };
            if command != SEM_STAT_ANY {
                entry.perm.check(&cred, 0o444)?;
            }
            let answer = if command == IPC_STAT { 0 } else { entry.id as u64 };
            let words = stat(entry, &cred);
            put_words(ctx.mem, arg, &words)?;
            Ok(answer)
        }
        IPC_SET => {
            let (uid, gid, mode) = get_perm(ctx.mem, arg)?;
            let entry = sem.find_mut(id)?;
            entry.perm.check_owner(&cred)?;
            entry.perm.set(&cred, uid, gid, mode)?;
            entry.object.changed = now;
            Ok(0)
        }
        IPC_RMID => {
            sem.find(id)?.perm.check_owner(&cred)?;
            if let Some(set) = sem.remove(id) {
                ctx.kernel.end_semops(set.end());
            }
            Ok(0)
        }
        GETALL => {
            let entry = sem.find(id)?;
            entry.perm.check(&cred, 0o444)?;
            let values = entry.object.semaphores.iter().flat_map(|sem| (sem.value as u16).to_le_bytes());
            let bytes: Vec<u8> = values.collect();
            copy_to_user(ctx.mem, arg, &bytes)?;
            Ok(0)
        }
        SETALL => {
            let entry = sem.find(id)?;
            entry.perm.check(&cred, 0o222)?;
            let mut bytes = vec![0; entry.object.semaphores.len() * 2];
            copy_from_user(ctx.mem, arg, &mut bytes)?;
            let values: Vec<i32> =
                bytes.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair).into()).collect();
            if values.iter().any(|value| *value > SEMVMX) {
                return Err(Errno::ERANGE.into());
            }
            set(ctx, id, 0, &values, now)
        }
        SETVAL => {
            let value = arg as i32;
            if !(0..=SEMVMX).contains(&value) {
                return Err(Errno::ERANGE.into());
            }
            let entry = sem.find(id)?;
            let number = place(entry, number)?;
            entry.perm.check(&cred, 0o222)?;
            set(ctx, id, number, &[value], now)
        }
        GETVAL | GETPID | GETNCNT | GETZCNT => {
            let entry = sem.find(id)?;
            entry.perm.check(&cred, 0o444)?;
            let number = place(entry, number)?;
            let semaphore = entry.object.semaphores[number];
            Ok(match command {
                GETVAL => semaphore.value as u64,
                GETPID => ctx.kernel.shown_pid(semaphore.pid) as u64,
                _ => entry.object.count(number, command == GETZCNT) as u64,
            })
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// The place of a semaphore in its set; EINVAL.
fn place(entry: &Entry<SemSet>, number: i32) -> Result<usize, Errno> {
    let number = usize::try_from(number).ok();
    number.filter(|number| *number < entry.object.semaphores.len()).ok_or(Errno::EINVAL)
}

/// Sets semaphores, and lets those go on that wait for it.
fn set(ctx: &mut Ctx, id: i32, from: usize, values: &[i32], now: i64) -> SysResult {
    let pid = ctx.kernel.process().pid;
    let entry = ctx.kernel.ipc.sem.find_mut(id)?;
    entry.object.set(from, values, pid);
    entry.object.changed = now;
    ctx.kernel.semaphores_changed(id, now);
    Ok(0)
}
