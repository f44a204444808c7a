//! Message queues: msgget(2), msgsnd(2), msgrcv(2), msgctl(2).

use crate::abi::capability::CAP_SYS_RESOURCE;
use crate::abi::errno::Errno;
use crate::abi::ipc::*;
use crate::kernel::cred::Credentials;
use crate::kernel::ipc::ids::Entry;
use crate::kernel::ipc::msg::{Message, MsgQueue, Wanted};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u64, get_words, put_u64, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::ipc::layout::{PERM_WORDS, get_perm, has_slept, now, perm_words};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(68, "msgget", msgget),
    full(69, "msgsnd", msgsnd),
    full(70, "msgrcv", msgrcv),
    full(71, "msgctl", msgctl),
];

/// msgget(2).
fn msgget(ctx: &mut Ctx, [key, flags, ..]: [u64; 6]) -> SysResult {
    let now = now(ctx);
    let cred = ctx.kernel.task().cred.clone();
    let make = || Ok(MsgQueue::new(now));
    let id = ctx.kernel.ipc.msg.get(key as i32, flags as u32, &cred, |_| Ok(()), make)?;
    Ok(id as u64)
}

/// The queue of a call that may have slept; EIDRM if it was removed meanwhile.
fn find<'a>(ctx: &'a mut Ctx, id: i32) -> Result<&'a mut Entry<MsgQueue>, Errno> {
    let gone = if has_slept(ctx) { Errno::EIDRM } else { Errno::EINVAL };
    ctx.kernel.ipc.msg.find_mut(id).map_err(|_| gone)
}

/// msgsnd(2), which a signal always interrupts.
fn msgsnd(ctx: &mut Ctx, [id, addr, size, flags, ..]: [u64; 6]) -> SysResult {
    let (id, flags) = (id as i32, flags as u32);
    let kind = get_u64(ctx.mem, addr)? as i64;
    if size > MSGMAX || id < 0 || kind < 1 {
        return Err(Errno::EINVAL.into());
    }
    let mut text = vec![0; size as usize];
    copy_from_user(ctx.mem, addr.wrapping_add(8), &mut text)?;
    let (now, pid) = (now(ctx), ctx.kernel.process().pid);
    let cred = ctx.kernel.task().cred.clone();
    let entry = find(ctx, id)?;
    entry.perm.check(&cred, 0o222)?;
    if entry.object.has_room(size) {
        let handed = entry.object.send(Message { kind, text }, pid, now);
        ctx.kernel.hand_messages(handed);
        return Ok(0);
    }
    if flags & IPC_NOWAIT != 0 {
        return Err(Errno::EAGAIN.into());
    }
    ctx.sleep("msgsnd to a full queue", &[WaitKey::Messages(id)], None)?;
    Err(ctx.interrupted(Restart::Never))
}

/// msgrcv(2), which a signal always interrupts.
fn msgrcv(ctx: &mut Ctx, [id, addr, size, kind, flags, _]: [u64; 6]) -> SysResult {
    if let Some(handed) = ctx.kernel.take_message() {
        return deliver(ctx, handed?, addr, size);
    }
    let (id, flags) = (id as i32, flags as u32);
    if id < 0 || (size as i64) < 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & MSG_COPY != 0 && (flags & MSG_EXCEPT != 0 || flags & IPC_NOWAIT == 0) {
        return Err(Errno::EINVAL.into());
    }
    let wanted = Wanted::new(kind as i64, flags);
    let room = (flags & MSG_NOERROR == 0).then_some(size);
    let (now, pid, task) = (now(ctx), ctx.kernel.process().pid, ctx.kernel.current());
    let cred = ctx.kernel.task().cred.clone();
    let entry = find(ctx, id)?;
    if !entry.object.has_waiting(task) {
        entry.perm.check(&cred, 0o444)?;
        if let Some(message) = entry.object.receive(wanted, room, pid, now)? {
            if flags & MSG_COPY == 0 {
                ctx.kernel.wake(WaitKey::Messages(id));
            }
            return deliver(ctx, message, addr, size);
        }
        if flags & IPC_NOWAIT != 0 {
            return Err(Errno::ENOMSG.into());
        }
        entry.object.wait(task, pid, wanted, room);
    }
    let woken = ctx.sleep("msgrcv from a queue without such a message", &[WaitKey::Messages(id)], None)?;
    match woken {
        Wake::Signal | Wake::Event | Wake::Timeout => Err(ctx.interrupted(Restart::Never)),
    }
}

/// Copies a message out; its number of bytes.
fn deliver(ctx: &mut Ctx, message: Message, addr: u64, size: u64) -> SysResult {
    let count = (message.text.len() as u64).min(size);
    put_u64(ctx.mem, addr, message.kind as u64)?;
    copy_to_user(ctx.mem, addr.wrapping_add(8), &message.text[..count as usize])?;
    Ok(count)
}

/// The `struct msqid64_ds` of a queue, but for the processes that sent and received last.
fn stat(entry: &Entry<MsgQueue>, cred: &Credentials) -> [u64; PERM_WORDS + 9] {
    let queue = &entry.object;
    let mut words = [0; PERM_WORDS + 9];
    words[..PERM_WORDS].copy_from_slice(&perm_words(entry, cred));
    words[PERM_WORDS..PERM_WORDS + 7].copy_from_slice(&[
        queue.sent as u64,
        queue.received as u64,
        queue.changed as u64,
        queue.bytes,
        queue.len(),
        queue.most_bytes,
        0, // the caller's numbers of processes
    ]);
    words
}

/// msgctl(2).
fn msgctl(ctx: &mut Ctx, [id, command, addr, ..]: [u64; 6]) -> SysResult {
    let (id, command) = (id as i32, command as i32);
    if id < 0 || command < 0 {
        return Err(Errno::EINVAL.into());
    }
    let now = now(ctx);
    let cred = ctx.kernel.task().cred.clone();
    let msg = &mut ctx.kernel.ipc.msg;
    match command {
        IPC_INFO | MSG_INFO => {
            let messages: u64 = msg.iter().map(|entry| entry.object.len()).sum();
            let bytes: u64 = msg.iter().map(|entry| entry.object.bytes).sum();
            let (pool, map, total) = match command {
                IPC_INFO => (MSGMNI as u64 * MSGMNB / 1024, MSGMNB, MSGMNB),
                _ => (msg.len() as u64, messages, bytes),
            };
            let fields = [pool, map, MSGMAX, MSGMNB, MSGMNI as u64, 16, total, 0xffff];
            let highest = msg.highest();
            let out: Vec<u8> = fields.iter().flat_map(|field| (*field as u32).to_le_bytes()).collect();
            copy_to_user(ctx.mem, addr, &out)?;
            Ok(highest)
        }
        IPC_STAT | MSG_STAT | MSG_STAT_ANY => {
            let entry = if command == IPC_STAT { msg.find(id)? } else { msg.at(id)? };
            if command != MSG_STAT_ANY {
                entry.perm.check(&cred, 0o444)?;
            }
            let answer = if command == IPC_STAT { 0 } else { entry.id as u64 };
            let last = [entry.object.sender, entry.object.receiver];
            let mut words = stat(entry, &cred);
            let [sender, receiver] = last.map(|pid| u64::from(ctx.kernel.shown_pid(pid) as u32));
            words[PERM_WORDS + 6] = sender | receiver << 32;
            put_words(ctx.mem, addr, &words)?;
            Ok(answer)
        }
        IPC_SET => {
            let (uid, gid, mode) = get_perm(ctx.mem, addr)?;
            let words: [u64; PERM_WORDS + 9] = get_words(ctx.mem, addr)?;
            let most = words[PERM_WORDS + 5];
            let entry = msg.find_mut(id)?;
            entry.perm.check_owner(&cred)?;
            if most > MSGMNB {
                cred.require(CAP_SYS_RESOURCE)?;
            }
            entry.perm.set(&cred, uid, gid, mode)?;
            (entry.object.most_bytes, entry.object.changed) = (most, now);
            ctx.kernel.wake(WaitKey::Messages(id));
            Ok(0)
        }
        IPC_RMID => {
            msg.find(id)?.perm.check_owner(&cred)?;
            if let Some(queue) = msg.remove(id) {
                ctx.kernel.hand_messages(queue.end());
                ctx.kernel.wake(WaitKey::Messages(id));
            }
            Ok(0)
        }
        _ => Err(Errno::EINVAL.into()),
    }
}
