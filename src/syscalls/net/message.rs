//! Sending and receiving: send(2), recv(2) and their variants.

use crate::abi::capability::CAP_NET_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::fs::MAX_RW_COUNT;
use crate::abi::net::*;
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::Kernel;
use crate::kernel::fdtable::FileNo;
use crate::kernel::net::addr::Family;
use crate::kernel::net::event::Target;
use crate::kernel::net::sock::Kind;
use crate::kernel::net::stream::{Incoming, Outgoing, Wanted};
use crate::kernel::uaccess::{
    copy_from_user, copy_to_user, get_timespec, get_words, put_u32, put_u64, put_words,
};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::iovec::{IOV_MAX, access_ok, get_iovec, storable};
use crate::syscalls::net::address::*;
use crate::syscalls::net::control::{self, Room};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(44, "sendto", sendto),
    full(45, "recvfrom", recvfrom),
    full(46, "sendmsg", sendmsg),
    full(47, "recvmsg", recvmsg),
    full(307, "sendmmsg", sendmmsg),
    full(299, "recvmmsg", recvmmsg),
];

/// Bytes that a stream takes at a time, as Linux has them: all of them, or none if an address is
/// bad. Those of Unix and of TCP.
const PIECES: [u64; 2] = [36_544, 32_768];
/// Bytes of the largest message that any socket takes.
const MESSAGE: u64 = 16 << 20;
/// Bytes of `struct mmsghdr`.
const MMSGHDR: u64 = 64;
/// Progress of a call is the number of whole messages, and below it the bytes of the one at hand.
const MESSAGES: u32 = 40;

/// Pieces of the guest's memory: address and length.
type Pieces = Vec<(u64, u64)>;

fn total(pieces: &[(u64, u64)]) -> u64 {
    pieces.iter().map(|(_, len)| *len).sum()
}

/// Walks through pieces from an offset on for `len` bytes: addresses, and lengths.
fn span(pieces: &[(u64, u64)], from: u64, len: u64) -> Pieces {
    let (mut skip, mut left) = (from, len);
    let mut found = Vec::new();
    for (addr, size) in pieces {
        let gap = skip.min(*size);
        let count = (size - gap).min(left);
        if count > 0 {
            found.push((addr.wrapping_add(gap), count));
        }
        (skip, left) = (skip - gap, left - count);
    }
    found
}

/// Bytes of pieces.
fn gather(ctx: &mut Ctx, pieces: &[(u64, u64)], from: u64, len: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    for (addr, count) in span(pieces, from, len) {
        let start = bytes.len();
        bytes.resize(start + count as usize, 0);
        copy_from_user(ctx.mem, addr, &mut bytes[start..])?;
    }
    Ok(bytes)
}

/// Puts bytes into pieces.
fn scatter(ctx: &mut Ctx, pieces: &[(u64, u64)], from: u64, bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    for (addr, count) in span(pieces, from, bytes.len() as u64) {
        let (piece, after) = rest.split_at(count as usize);
        copy_to_user(ctx.mem, addr, piece)?;
        rest = after;
    }
    Ok(())
}

/// A message as a call gives it, `struct msghdr`.
#[derive(Clone, Debug, Default)]
struct Header {
    name: u64,
    name_len: u64,
    pieces: Pieces,
    control: u64,
    control_len: u64,
}

/// Reads a `struct msghdr`, of a call that sends or receives.
fn get_header(ctx: &mut Ctx, addr: u64, sends: bool) -> Result<Header, Errno> {
    let [name, name_len, iov, count, control, control_len, _] = get_words::<7>(ctx.mem, addr)?;
    let name_len = if name == 0 { 0 } else { name_len as i32 };
    let name_len = u64::try_from(name_len).map_err(|_| Errno::EINVAL)?.min(128);
    if sends && name_len > 0 {
        get_address(ctx, name, name_len)?;
    }
    if count > IOV_MAX {
        return Err(Errno::EMSGSIZE);
    }
    let pieces = get_iovec(ctx.mem, iov, count)?;
    Ok(Header { name, name_len, pieces, control, control_len })
}

/// The error of a message to nobody: a Unix socket looks for the receiver when it has the message.
fn nobody(ctx: &mut Ctx, socket: Socket, header: &Header, flags: u32, errno: Errno) -> Break {
    if socket.family != Family::Unix || socket.kind == Kind::Stream {
        return errno.into();
    }
    if flags & MSG_OOB != 0 {
        return Errno::EOPNOTSUPP.into();
    }
    let (len, room) =
        (total(&header.pieces), ctx.kernel.fs.net.sock(socket.id).map_or(0, |sock| sock.send_room));
    if len > room.saturating_sub(32) as u64 {
        return Errno::EMSGSIZE.into();
    }
    gather(ctx, &header.pieces, 0, len).map_or_else(Into::into, |_| errno.into())
}

/// Sends one message. Progress of a call that has slept is `done` bytes.
fn send(ctx: &mut Ctx, socket: Socket, header: &Header, flags: u32, index: u64) -> SysResult {
    access_ok(&header.pieces)?;
    let nonblocking = socket.nonblocking || flags & MSG_DONTWAIT != 0;
    let target = match header.name_len {
        0 => Target::Peer,
        len => {
            let bytes = get_address(ctx, header.name, len)?;
            match target(ctx, socket, &bytes) {
                Err(errno) if errno != Errno::EINVAL => {
                    return Err(nobody(ctx, socket, header, flags, errno));
                }
                found => found?,
            }
        }
    };
    let mut cred = (caller(ctx), false);
    let (mut files, mut hops, mut service) = (Vec::new(), None, None);
    if header.control_len > 0 {
        let sent = control::get(ctx, socket, header.control, header.control_len)?;
        (files, cred) = (sent.files, (sent.cred, sent.cred_given));
        (hops, service) = (sent.hops, sent.service);
    }
    let len = total(&header.pieces);
    let stream = socket.kind == Kind::Stream;
    if socket.is_tcp() && flags & MSG_FASTOPEN != 0 && ctx.kernel.fs.net.sock(socket.id)?.peer.is_some() {
        return Err(Errno::EISCONN.into());
    }
    if !stream && (len > MESSAGE || socket.family.is_inet() && len > 0xffff) {
        return Err(Errno::EMSGSIZE.into());
    }
    let mut done = ctx.kernel.task().call.done & ((1 << MESSAGES) - 1);
    loop {
        let most = if stream { PIECES[usize::from(socket.is_tcp())].min(len - done) } else { len };
        let bytes = match gather(ctx, &header.pieces, done, most) {
            Ok(bytes) => bytes,
            Err(errno) if done == 0 => return Err(errno.into()),
            Err(_) => return Ok(done),
        };
        let rights = if done == 0 { control::hold(ctx, &files)? } else { None };
        let quiet = if done > 0 { MSG_NOSIGNAL } else { 0 };
        let administers = socket.family == Family::Netlink
            && ctx.kernel.require_in(ctx.kernel.task().namespaces.net, CAP_NET_ADMIN).is_ok();
        let urgent = if done + most < len { MSG_OOB } else { 0 }; // the last byte is
        let out = Outgoing {
            bytes: &bytes,
            flags: (flags | quiet) & !urgent,
            nonblocking,
            cred: cred.0,
            cred_given: cred.1,
            administers,
            rights,
            hops,
            service,
        };
        let result = on_net(ctx, socket, |fs| fs.net.send(socket.id, target, &out, &mut fs.queues));
        let taken = result.as_ref().is_ok_and(|count| !stream || *count > 0);
        if done == 0 && !taken {
            ctx.kernel.fs.net.drop_files(files.clone()); // the references that were for it
        }
        match result {
            Ok(count) if !stream => return Ok(count as u64),
            Ok(count) => {
                done += count as u64;
                if done == len || count < bytes.len() && nonblocking {
                    return Ok(done);
                }
            }
            Err(Break::Sleep) => {
                ctx.kernel.task_mut().call.done = index << MESSAGES | done;
                return Err(Break::Sleep);
            }
            Err(why) if done == 0 => return Err(why),
            Err(_) => {
                ctx.kernel.task_mut().signals.interrupted = None; // a call that did something ends
                return Ok(done);
            }
        }
    }
}

/// sendto(2).
pub(in crate::syscalls) fn sendto(
    ctx: &mut Ctx,
    [fd, buf, len, flags, name, name_len]: [u64; 6],
) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    if name != 0 && name_len as u32 == 0 && socket.family.is_inet() && !socket.is_tcp() {
        return Err(Errno::EINVAL.into());
    }
    let name_len = if name == 0 { 0 } else { u64::from(name_len as u32) };
    let pieces = vec![(buf, len.min(MAX_RW_COUNT))];
    send(ctx, socket, &Header { name, name_len, pieces, ..Header::default() }, flags as u32, 0)
}

/// sendmsg(2).
pub(in crate::syscalls) fn sendmsg(ctx: &mut Ctx, [fd, msg, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & MSG_CMSG_COMPAT != 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    let header = get_header(ctx, msg, true)?;
    send(ctx, socket, &header, flags as u32, 0)
}

/// sendmmsg(2).
fn sendmmsg(ctx: &mut Ctx, [fd, vector, count, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & MSG_CMSG_COMPAT != 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    let count = u64::from(count as u32).min(IOV_MAX);
    let mut index = ctx.kernel.task().call.done >> MESSAGES;
    while index < count {
        let at = vector.wrapping_add(index * MMSGHDR);
        let result = get_header(ctx, at, true)
            .map_err(Break::from)
            .and_then(|header| send(ctx, socket, &header, flags as u32, index))
            .and_then(|sent| Ok(put_u32(ctx.mem, at.wrapping_add(56), sent as u32)?));
        match result {
            Ok(()) => index += 1,
            Err(Break::Sleep) => return Err(Break::Sleep),
            Err(why) if index == 0 => return Err(why),
            Err(_) => break,
        }
        ctx.kernel.task_mut().call.done = index << MESSAGES;
    }
    ctx.kernel.task_mut().signals.interrupted = None;
    Ok(index)
}

/// A message that was received: the bytes of the call's answer, and the rest.
struct Received {
    count: u64,
    incoming: Incoming,
}

/// Receives one message into pieces.
fn receive(
    ctx: &mut Ctx,
    socket: Socket,
    pieces: &[(u64, u64)],
    flags: u32,
    index: u64,
) -> Result<Received, Break> {
    access_ok(pieces)?;
    if flags & MSG_ERRQUEUE != 0 && socket.family.is_inet() {
        let Kernel { fs, .. } = &mut *ctx.kernel;
        let incoming = fs.net.receive_error(socket.id, total(pieces) as usize, &mut fs.queues)?;
        scatter(ctx, pieces, 0, &incoming.bytes)?;
        return Ok(Received { count: incoming.bytes.len() as u64, incoming });
    }
    let nonblocking = socket.nonblocking || flags & MSG_DONTWAIT != 0;
    let len = total(pieces);
    let peek = flags & MSG_PEEK != 0;
    let all = flags & MSG_WAITALL != 0 && socket.kind == Kind::Stream && !peek && flags & MSG_OOB == 0;
    let discard = socket.is_tcp() && flags & MSG_TRUNC != 0;
    let mut done = ctx.kernel.task().call.done & ((1 << MESSAGES) - 1);
    let mut whole = Incoming::default();
    let storable = if discard || socket.kind != Kind::Stream { u64::MAX } else { storable(ctx.mem, pieces) };
    let reach = |done: u64| usize::try_from(storable.saturating_sub(done)).unwrap_or(usize::MAX);
    loop {
        let wanted = Wanted { len: (len - done) as usize, reach: reach(done), flags, nonblocking };
        let result = on_net(ctx, socket, |fs| fs.net.receive(socket.id, wanted, &mut fs.queues));
        let mut incoming = match result {
            Ok(incoming) => incoming,
            Err(Break::Sleep) => {
                ctx.kernel.task_mut().call.done = index << MESSAGES | done;
                return Err(Break::Sleep);
            }
            Err(why) if done == 0 => return Err(why),
            Err(_) => {
                ctx.kernel.task_mut().signals.interrupted = None; // a call that did something ends
                break;
            }
        };
        if !discard && let Err(errno) = scatter(ctx, pieces, done, &incoming.bytes) {
            if !peek {
                ctx.kernel.fs.net.drop_files(incoming.files);
            }
            return Err(errno.into());
        }
        let count = incoming.bytes.len() as u64;
        done += count;
        let ends = incoming.end || count == 0 || !incoming.files.is_empty();
        incoming.from = incoming.from.or(whole.from.take());
        whole = incoming;
        if !all || ends || done >= len {
            break;
        }
    }
    let full = flags & MSG_TRUNC != 0 && socket.kind != Kind::Stream;
    Ok(Received { count: if full { whole.len as u64 } else { done }, incoming: whole })
}

/// The bytes of a sender's address, as recvfrom(2) shows it: none where there is none.
fn sender(socket: Socket, incoming: &Incoming) -> Vec<u8> {
    incoming.from.as_ref().map_or(Vec::new(), |from| shown(socket, Some(from)))
}

/// recvfrom(2).
pub(in crate::syscalls) fn recvfrom(
    ctx: &mut Ctx,
    [fd, buf, len, flags, name, name_len]: [u64; 6],
) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let pieces = [(buf, len.min(MAX_RW_COUNT))];
    let received = receive(ctx, socket, &pieces, flags as u32, 0)?;
    drop_files(ctx, flags as u32, received.incoming.files.clone());
    if name != 0 && !(socket.is_tcp()) {
        put_address(ctx, &sender(socket, &received.incoming), name, name_len)?;
    } else if name != 0 {
        put_u32(ctx.mem, name_len, 0)?;
    }
    Ok(received.count)
}

/// Gives up descriptions that were received and have no descriptor.
fn drop_files(ctx: &mut Ctx, flags: u32, files: Vec<FileNo>) {
    if flags & MSG_PEEK == 0 {
        ctx.kernel.fs.net.drop_files(files);
    }
}

/// Receives a message for a `struct msghdr` at an address.
fn receive_header(ctx: &mut Ctx, socket: Socket, addr: u64, flags: u32, index: u64) -> SysResult {
    let header = get_header(ctx, addr, false)?;
    let Received { count, incoming } = receive(ctx, socket, &header.pieces, flags, index)?;
    let mut room = Room::new(header.control, header.control_len);
    let (held, cloexec) = (flags & MSG_PEEK == 0, flags & MSG_CMSG_CLOEXEC != 0);
    room.fill(ctx, socket, &incoming, (held, cloexec))?;
    if header.name != 0 {
        let bytes = if socket.is_tcp() { Vec::new() } else { sender(socket, &incoming) };
        let shown = bytes.len().min(header.name_len as usize);
        copy_to_user(ctx.mem, header.name, &bytes[..shown])?;
        put_u32(ctx.mem, addr.wrapping_add(8), bytes.len() as u32)?;
    }
    let flags = incoming.flags | room.flags | flags & MSG_CMSG_CLOEXEC;
    put_u32(ctx.mem, addr.wrapping_add(48), flags)?;
    put_u64(ctx.mem, addr.wrapping_add(40), room.used as u64)?;
    Ok(count)
}

/// recvmsg(2).
pub(in crate::syscalls) fn recvmsg(ctx: &mut Ctx, [fd, msg, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & MSG_CMSG_COMPAT != 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    receive_header(ctx, socket, msg, flags as u32, 0)
}

/// recvmmsg(2). As in Linux the timeout is looked at between messages only.
fn recvmmsg(ctx: &mut Ctx, [fd, vector, count, flags, timeout, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & MSG_CMSG_COMPAT != 0 {
        return Err(Errno::EINVAL.into());
    }
    let time = if timeout == 0 { None } else { Some(get_timespec(ctx.mem, timeout)?) };
    let socket = socket_at(ctx, fd)?;
    let count = u64::from(count as u32).min(IOV_MAX);
    let start = ctx.now();
    let mut index = ctx.kernel.task().call.done >> MESSAGES;
    while index < count {
        let at = vector.wrapping_add(index * MMSGHDR);
        let late = if index > 0 && flags & MSG_WAITFORONE != 0 { MSG_DONTWAIT } else { 0 };
        let result = receive_header(ctx, socket, at, (flags | late) & !MSG_WAITFORONE, index)
            .and_then(|count| Ok(put_u32(ctx.mem, at.wrapping_add(56), count as u32)?));
        match result {
            Ok(()) => index += 1,
            Err(Break::Sleep) => return Err(Break::Sleep),
            Err(why) if index == 0 => return Err(why),
            Err(_) => break,
        }
        ctx.kernel.task_mut().call.done = index << MESSAGES;
        if let Some(time) = time {
            let left = time.saturating_sub(ctx.now() - start);
            put_words(ctx.mem, timeout, &[left / NSEC_PER_SEC, left % NSEC_PER_SEC])?;
            if left == 0 {
                break;
            }
        }
    }
    ctx.kernel.task_mut().signals.interrupted = None;
    Ok(index)
}
