//! POSIX message queues: mq_open(2), mq_timedsend(2), mq_timedreceive(2), mq_notify(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::mqueue::*;
use crate::abi::resource::Resource;
use crate::abi::signal::si_code::SI_MESGQ;
use crate::abi::time::{SIGEV_NONE, SIGEV_SIGNAL, SIGEV_THREAD};
use crate::kernel::clock::ClockId;
use crate::kernel::file::description::Description;
use crate::kernel::file::mqueue::{MqueueFile, tell};
use crate::kernel::mqueue::{Capacity, Ended, Message, MqueueId, Notify, Opening, Registration, Sent};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_timeout, get_words, put_u32, put_words};
use crate::kernel::vfs::time::Times;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fd::{install, limit};
use crate::syscalls::fs::get_path;
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(240, "mq_open", mq_open),
    full(241, "mq_unlink", mq_unlink),
    full(242, "mq_timedsend", mq_timedsend),
    full(243, "mq_timedreceive", mq_timedreceive),
    full(244, "mq_notify", mq_notify),
    full(245, "mq_getsetattr", mq_getsetattr),
];

/// Words of a `struct mq_attr`: flags, maxmsg, msgsize, curmsgs and what is reserved.
const ATTR_WORDS: usize = 8;

/// The name of a queue, without the slash that the C library takes away: EACCES for what names
/// nothing in one directory.
fn name(ctx: &mut Ctx, addr: u64) -> Result<Vec<u8>, Errno> {
    const NAME_MAX: usize = 255;
    let name = get_path(ctx.mem, addr)?;
    match &name[..] {
        b"" => Err(Errno::ENOENT),
        b"." | b".." => Err(Errno::EACCES),
        name if name.contains(&b'/') => Err(Errno::EACCES),
        name if name.len() > NAME_MAX => Err(Errno::ENAMETOOLONG),
        _ => Ok(name),
    }
}

/// mq_open(2). The descriptor is closed when the program executes another.
fn mq_open(ctx: &mut Ctx, [path, flags, mode, attr, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let capacity = match attr {
        0 => None,
        attr => {
            let [_, messages, size, ..]: [u64; ATTR_WORDS] = get_words(ctx.mem, attr)?;
            Some(Capacity { messages: messages as i64, size: size as i64 })
        }
    };
    let name = name(ctx, path)?;
    ctx.kernel.fds().has_room(limit(ctx))?;
    let mode = mode as u32 & 0o7777 & !ctx.kernel.fs_context().umask;
    let opening = Opening {
        namespace: ctx.kernel.task().namespaces.ipc,
        name: &name,
        access: match flags & O_ACCMODE {
            O_RDONLY => 4,
            O_WRONLY => 2,
            O_RDWR => 6,
            _ => 0,
        },
        create: (flags & O_CREAT != 0).then_some((mode, capacity)),
        exclusive: flags & O_EXCL != 0,
        limit: ctx.kernel.process().limits.soft(Resource::Msgqueue),
        now: ctx.kernel.real_time(ctx.cpu),
    };
    let number = ctx.kernel.fs.next_number();
    let cred = ctx.kernel.task().cred.clone();
    let fs = &mut ctx.kernel.fs;
    let id = fs.mqueues.open(&opening, &cred, &mut fs.queues, number)?;
    let path = [b"/", &name[..]].concat();
    let kept = flags & !(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC);
    install(ctx, Description::new(MqueueFile(id), kept, &path), true)
}

/// mq_unlink(2).
fn mq_unlink(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    let name = name(ctx, path)?;
    let cred = ctx.kernel.task().cred.clone();
    let namespace = ctx.kernel.task().namespaces.ipc;
    ctx.kernel.fs.mqueues.unlink(namespace, &name, &cred)?;
    Ok(0)
}

/// The queue of a descriptor that allows what is asked for, and whether it may not wait; EBADF.
fn find(ctx: &mut Ctx, fd: u64, sends: bool) -> Result<(MqueueId, bool), Errno> {
    let file = ctx.pin_opened(fd as i32)?;
    let open = ctx.kernel.files.get(file);
    let id = open.ops.mqueue().ok_or(Errno::EBADF)?;
    let allowed = if sends { open.writable() } else { open.readable() };
    if allowed { Ok((id, open.mode().nonblocking)) } else { Err(Errno::EBADF) }
}

/// Waits at a queue, until a moment of CLOCK_REALTIME.
fn wait(ctx: &mut Ctx, id: MqueueId, until: Option<u64>, what: &'static str) -> Break {
    let start = ctx.kernel.clock.start(ClockId::Realtime);
    let deadline = until.map(|until| until.saturating_sub(start));
    let woken = ctx.sleep(what, &[WaitKey::Mqueue(id)], deadline);
    if matches!(woken, Ok(Wake::Timeout | Wake::Signal)) {
        // It may not even have slept.
        let task = ctx.kernel.current();
        ctx.kernel.fs.mqueues.forget(id, task);
    }
    match woken {
        Ok(Wake::Timeout) => Errno::ETIMEDOUT.into(),
        Ok(Wake::Signal) => ctx.interrupted(Restart::WithFlag),
        Ok(Wake::Event) => Break::Sleep,
        Err(why) => why,
    }
}

/// mq_timedsend(2).
fn mq_timedsend(ctx: &mut Ctx, [fd, addr, len, priority, timeout, _]: [u64; 6]) -> SysResult {
    let task = ctx.kernel.current();
    if ctx.kernel.fs.mqueues.take_ended(task).is_some() {
        return Ok(0);
    }
    let until = get_timeout(ctx.mem, timeout)?;
    let priority = priority as u32;
    if priority >= MQ_PRIO_MAX {
        return Err(Errno::EINVAL.into());
    }
    let (id, nonblocking) = find(ctx, fd, true)?;
    if !ctx.kernel.fs.mqueues.is_waiting(id, task) {
        let most = ctx.kernel.fs.mqueues.get(id).map_or(0, |queue| queue.capacity.size as u64);
        if len > most {
            return Err(Errno::EMSGSIZE.into());
        }
        let mut text = vec![0; len as usize];
        copy_from_user(ctx.mem, addr, &mut text)?;
        let message = Message { priority, text };
        let now = ctx.kernel.real_time(ctx.cpu);
        let fs = &mut ctx.kernel.fs;
        match fs.mqueues.send(id, message.clone(), now, &mut fs.queues)? {
            Sent::Queued(told) => {
                if let Some((pid, notify)) = told {
                    notice(ctx, pid, notify);
                }
                return Ok(0);
            }
            Sent::Handed(task) => {
                ctx.kernel.wake_task(task, Wake::Event);
                return Ok(0);
            }
            Sent::Full if nonblocking => return Err(Errno::EAGAIN.into()),
            Sent::Full => ctx.kernel.fs.mqueues.wait_for_room(id, task, message),
        }
    }
    Err(wait(ctx, id, until, "mq_send to a full queue"))
}

/// Tells a process that there is a message in a queue that was empty.
fn notice(ctx: &mut Ctx, pid: i32, notify: Notify) {
    match notify {
        Notify::Nothing => {}
        Notify::Signal(signo, value) => {
            let (sender, uid) = (ctx.kernel.process().pid as u32, ctx.kernel.task().cred.uid.real);
            if let Some(process) = ctx.kernel.find_process(pid) {
                let info = SigInfo::message(signo, SI_MESGQ, sender, uid, value);
                ctx.kernel.send_to(process, info);
            }
        }
        Notify::Socket(..) => tell(&mut ctx.kernel.fs, &notify, false),
    }
}

/// mq_timedreceive(2).
fn mq_timedreceive(ctx: &mut Ctx, [fd, addr, len, priority, timeout, _]: [u64; 6]) -> SysResult {
    let task = ctx.kernel.current();
    if let Some(Ended::Received(message)) = ctx.kernel.fs.mqueues.take_ended(task) {
        return deliver(ctx, &message, addr, priority);
    }
    let until = get_timeout(ctx.mem, timeout)?;
    let (id, nonblocking) = find(ctx, fd, false)?;
    if !ctx.kernel.fs.mqueues.is_waiting(id, task) {
        let most = ctx.kernel.fs.mqueues.get(id).map_or(0, |queue| queue.capacity.size as u64);
        if len < most {
            return Err(Errno::EMSGSIZE.into());
        }
        let now = ctx.kernel.real_time(ctx.cpu);
        let fs = &mut ctx.kernel.fs;
        if let Some((message, woken)) = fs.mqueues.receive(id, now, &mut fs.queues)? {
            if let Some(task) = woken {
                ctx.kernel.wake_task(task, Wake::Event);
            }
            return deliver(ctx, &message, addr, priority);
        }
        if nonblocking {
            return Err(Errno::EAGAIN.into());
        }
        ctx.kernel.fs.mqueues.wait_for_message(id, task);
    }
    Err(wait(ctx, id, until, "mq_receive from an empty queue"))
}

/// Copies a message out, which is lost where that fails; its number of bytes.
fn deliver(ctx: &mut Ctx, message: &Message, addr: u64, priority: u64) -> SysResult {
    if priority != 0 {
        put_u32(ctx.mem, priority, message.priority)?;
    }
    copy_to_user(ctx.mem, addr, &message.text)?;
    Ok(message.text.len() as u64)
}

/// Registration that a `struct sigevent` asks for; EFAULT, EINVAL, EBADF, ENOTSOCK.
fn wanted(ctx: &mut Ctx, event: u64) -> Result<Notify, Errno> {
    const SIGNALS: i32 = 64;
    let [value, signo_notify, ..]: [u64; 8] = get_words(ctx.mem, event)?;
    let (signo, notify) = (signo_notify as i32, (signo_notify >> 32) as i32);
    match notify {
        SIGEV_NONE => Ok(Notify::Nothing),
        SIGEV_SIGNAL if (0..=SIGNALS).contains(&signo) => Ok(Notify::Signal(signo, value)),
        SIGEV_THREAD => {
            let mut cookie = [0; NOTIFY_COOKIE];
            copy_from_user(ctx.mem, value, &mut cookie)?;
            let file = ctx.opened(signo)?;
            let socket = ctx.kernel.files.get(file).ops.socket().ok_or(Errno::ENOTSOCK)?;
            if !ctx.kernel.fs.net.is_netlink(socket) {
                return Err(Errno::EINVAL);
            }
            Ok(Notify::Socket(socket, cookie))
        }
        _ => Err(Errno::EINVAL),
    }
}

/// mq_notify(2).
fn mq_notify(ctx: &mut Ctx, [fd, event, ..]: [u64; 6]) -> SysResult {
    let wanted = if event == 0 { None } else { Some(wanted(ctx, event)?) };
    let file = ctx.opened(fd as i32)?;
    let id = ctx.kernel.files.get(file).ops.mqueue().ok_or(Errno::EBADF)?;
    let (pid, table) = (ctx.kernel.process().pid, ctx.kernel.fds().owner());
    let now = ctx.kernel.real_time(ctx.cpu);
    let fs = &mut ctx.kernel.fs;
    let queue = fs.mqueues.get_mut(id).ok_or(Errno::EBADF)?;
    match wanted {
        None => {
            let gone = queue.registration.take_if(|told| told.pid == pid);
            if let Some(told) = gone {
                (queue.times.access, queue.times.change) = (now, now);
                tell(fs, &told.notify, true);
            }
        }
        Some(_) if queue.registration.is_some() => return Err(Errno::EBUSY.into()),
        Some(notify) => {
            queue.registration = Some(Registration { pid, table, notify });
            (queue.times.access, queue.times.change) = (now, now);
        }
    }
    Ok(0)
}

/// mq_getsetattr(2): only O_NONBLOCK can be set.
fn mq_getsetattr(ctx: &mut Ctx, [fd, new, old, ..]: [u64; 6]) -> SysResult {
    let flags = match new {
        0 => None,
        new => Some(get_words::<ATTR_WORDS>(ctx.mem, new)?[0]),
    };
    if flags.is_some_and(|flags| flags & !u64::from(O_NONBLOCK) != 0) {
        return Err(Errno::EINVAL.into());
    }
    let file = ctx.opened(fd as i32)?;
    let open = ctx.kernel.files.get_mut(file);
    let id = open.ops.mqueue().ok_or(Errno::EBADF)?;
    let before = open.flags & O_NONBLOCK;
    if let Some(flags) = flags {
        open.flags = open.flags & !O_NONBLOCK | flags as u32;
    }
    let now = ctx.kernel.real_time(ctx.cpu);
    let queue = ctx.kernel.fs.mqueues.get_mut(id).ok_or(Errno::EBADF)?;
    let Capacity { messages, size } = queue.capacity;
    let words = [u64::from(before), messages as u64, size as u64, queue.len() as u64, 0, 0, 0, 0];
    if flags.is_some() {
        queue.times = Times { modify: queue.times.modify, ..Times::all(now) };
    }
    if old != 0 {
        put_words(ctx.mem, old, &words)?;
    }
    Ok(0)
}
