//! Ancillary data, cmsg(3): descriptors, credentials, and what is known of a packet.

use std::net::{IpAddr, SocketAddr};

use crate::abi::capability::{CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN, CAP_SYS_RESOURCE};
use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::abi::resource::Resource;
use crate::abi::time::{NSEC_PER_SEC, timeval};
use crate::kernel::fdtable::FileNo;
use crate::kernel::net::addr::{Addr, Family, encode};
use crate::kernel::net::options::Options;
use crate::kernel::net::queue::{Rights, Ucred};
use crate::kernel::net::stream::Incoming;
use crate::kernel::uaccess::{copy_from_user, copy_to_user};
use crate::syscalls::context::Ctx;
use crate::syscalls::fd::limit;
use crate::syscalls::net::address::{Socket, caller};
use crate::syscalls::process::pidfd;

/// Bytes of `struct cmsghdr`.
const HEADER: usize = 16;
/// Most bytes of ancillary data of a message that is sent, `/proc/sys/net/core/optmem_max`.
const OPTMEM_MAX: u64 = 131_072;

/// Ancillary data of a message that is sent.
#[derive(Debug)]
pub(super) struct Sent {
    /// Descriptions, without references to them yet.
    pub(super) files: Vec<FileNo>,
    pub(super) cred: Ucred,
    /// SCM_CREDENTIALS was there.
    pub(super) cred_given: bool,
    /// IP_TTL or IPV6_HOPLIMIT; IP_TOS or IPV6_TCLASS.
    pub(super) hops: Option<u8>,
    pub(super) service: Option<u8>,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

/// A number up to 255; -1 stands for the socket's own. EINVAL for others.
fn number(data: &[u8], least: i32) -> Result<Option<u8>, Errno> {
    let value = word(data, 0) as i32;
    if data.len() != 4 || !(least..=255).contains(&value) {
        return Err(Errno::EINVAL);
    }
    Ok(u8::try_from(value).ok())
}

/// Reads the ancillary data of a message; ENOBUFS, EFAULT, EINVAL, EBADF, EPERM.
pub(super) fn get(ctx: &mut Ctx, socket: Socket, addr: u64, len: u64) -> Result<Sent, Errno> {
    let mut sent =
        Sent { files: Vec::new(), cred: caller(ctx), cred_given: false, hops: None, service: None };
    if len > OPTMEM_MAX {
        return Err(Errno::ENOBUFS);
    }
    let mut bytes = vec![0; len as usize];
    copy_from_user(ctx.mem, addr, &mut bytes)?;
    let mut rest = &bytes[..];
    while rest.len() >= HEADER {
        let size = usize::try_from(u64::from(word(rest, 0)) | u64::from(word(rest, 4)) << 32);
        let size = size.ok().filter(|size| (HEADER..=rest.len()).contains(size)).ok_or(Errno::EINVAL)?;
        let (level, kind, data) = (word(rest, 8), word(rest, 12), &rest[HEADER..size]);
        match (level, kind, socket.family) {
            (SOL_SOCKET, SCM_RIGHTS, Family::Unix) => {
                for fd in data.as_chunks::<4>().0 {
                    sent.files.push(ctx.kernel.fds().get(i32::from_le_bytes(*fd))?);
                }
                if sent.files.len() > SCM_MAX_FD {
                    return Err(Errno::EINVAL);
                }
            }
            (SOL_SOCKET, SCM_CREDENTIALS, Family::Unix) if data.len() == 12 => {
                let own = &ctx.kernel.task().cred.user_ns;
                let uid = own.uids.kernel_id(word(data, 4)).ok_or(Errno::EINVAL)?;
                let gid = own.gids.kernel_id(word(data, 8)).ok_or(Errno::EINVAL)?;
                let pid = ctx.kernel.global_pid(word(data, 0) as i32);
                let cred = Ucred { pid, uid, gid };
                check_credentials(ctx, cred)?;
                (sent.cred, sent.cred_given) = (cred, true);
            }
            (SOL_SOCKET, SCM_RIGHTS | SCM_CREDENTIALS, Family::Inet | Family::Inet6) => {}
            (SOL_SOCKET, ..) => return Err(Errno::EINVAL),
            (IPPROTO_IP, IP_TTL, Family::Inet) => sent.hops = Some(number(data, 1)?.unwrap_or(0)),
            (IPPROTO_IP, IP_TOS, Family::Inet) if data.len() == 1 => sent.service = Some(data[0]),
            (IPPROTO_IP, IP_TOS, Family::Inet) => sent.service = number(data, 0)?,
            (IPPROTO_IPV6, IPV6_HOPLIMIT, Family::Inet6) => sent.hops = number(data, -1)?,
            (IPPROTO_IPV6, IPV6_TCLASS, Family::Inet6) => sent.service = number(data, -1)?,
            (IPPROTO_IP, IP_PKTINFO, Family::Inet) if data.len() == 12 => {}
            (IPPROTO_IPV6, IPV6_PKTINFO, Family::Inet6) if data.len() >= 20 => {}
            (IPPROTO_IP, _, Family::Inet) | (IPPROTO_IPV6, _, Family::Inet6) => return Err(Errno::EINVAL),
            _ => {}
        }
        rest = rest.get(size.next_multiple_of(8)..).unwrap_or_default();
    }
    Ok(sent)
}

/// Checks that the caller may say of itself what it says, `scm_check_creds`; EPERM.
fn check_credentials(ctx: &Ctx, cred: Ucred) -> Result<(), Errno> {
    let own = &ctx.kernel.task().cred;
    let known = |ids: [u32; 3], id: u32, capability| ids.contains(&id) || own.capable_here(capability);
    let (uid, gid) = (own.uid, own.gid);
    let fits = (cred.pid == ctx.kernel.process().pid || own.capable_here(CAP_SYS_ADMIN))
        && known([uid.real, uid.effective, uid.saved], cred.uid, CAP_SETUID)
        && known([gid.real, gid.effective, gid.saved], cred.gid, CAP_SETGID);
    if fits { Ok(()) } else { Err(Errno::EPERM) }
}

/// Holds the descriptions of a message that is about to be sent; ETOOMANYREFS.
pub(super) fn hold(ctx: &mut Ctx, files: &[FileNo]) -> Result<Option<Rights>, Errno> {
    if files.is_empty() {
        return Ok(None);
    }
    let cred = &ctx.kernel.task().cred;
    let uid = cred.uid.real;
    let most = ctx.kernel.process().limits.soft(Resource::Nofile);
    let free = cred.capable(CAP_SYS_RESOURCE) || cred.capable(CAP_SYS_ADMIN);
    if ctx.kernel.fs.net.in_flight_of(uid) as u64 > most && !free {
        return Err(Errno::ETOOMANYREFS);
    }
    for file in files {
        ctx.kernel.files.hold(*file);
    }
    Ok(Some(Rights { files: files.to_vec(), uid }))
}

/// Room for the ancillary data of a message that is received.
pub(super) struct Room {
    at: u64,
    left: usize,
    /// Bytes that were written.
    pub(super) used: usize,
    /// MSG_CTRUNC if there was too little.
    pub(super) flags: u32,
}

impl Room {
    pub(super) fn new(at: u64, len: u64) -> Room {
        Room { at, left: if at == 0 { 0 } else { usize::try_from(len).unwrap_or(0) }, used: 0, flags: 0 }
    }

    /// Writes a piece, cut where the room ends.
    fn put(&mut self, ctx: &mut Ctx, level: u32, kind: u32, data: &[u8]) -> Result<(), Errno> {
        if self.left < HEADER {
            self.flags |= MSG_CTRUNC;
            return Ok(());
        }
        let mut len = HEADER + data.len();
        if len > self.left {
            self.flags |= MSG_CTRUNC;
            len = self.left;
        }
        let mut piece = (len as u64).to_le_bytes().to_vec();
        piece.extend(level.to_le_bytes());
        piece.extend(kind.to_le_bytes());
        piece.extend_from_slice(&data[..len - HEADER]);
        copy_to_user(ctx.mem, self.at, &piece)?;
        let space = len.next_multiple_of(8).min(self.left);
        (self.at, self.left, self.used) = (self.at + space as u64, self.left - space, self.used + space);
        Ok(())
    }

    /// Writes why a packet came back, `struct sock_extended_err`: its port is nobody's.
    fn put_error(&mut self, ctx: &mut Ctx, incoming: &Incoming) -> Result<(), Errno> {
        let Some(Addr::Inet(to)) = incoming.from else { return Ok(()) };
        let (family, level, name, cause) = match to.is_ipv4() {
            true => (Family::Inet, IPPROTO_IP, IP_RECVERR, [SO_EE_ORIGIN_ICMP, 3, 3, 0]),
            false => (Family::Inet6, IPPROTO_IPV6, IPV6_RECVERR, [SO_EE_ORIGIN_ICMP6, 1, 4, 0]),
        };
        let mut data = u32::from(Errno::ECONNREFUSED.0).to_le_bytes().to_vec();
        data.extend(cause);
        data.extend([0; 8]);
        data.extend(encode(family, Some(&Addr::Inet(SocketAddr::new(to.ip(), 0)))));
        self.put(ctx, level, name, &data)
    }

    /// Writes what belongs to a message. Descriptions without a descriptor in the end are given up;
    /// `held`: there are references to them.
    pub(super) fn fill(
        &mut self,
        ctx: &mut Ctx,
        socket: Socket,
        incoming: &Incoming,
        (held, cloexec): (bool, bool),
    ) -> Result<(), Errno> {
        let sock = ctx.kernel.fs.net.sock(socket.id)?;
        let (credentials, pidfd) = (sock.is_on(SO_PASSCRED), sock.is_on(SO_PASSPIDFD));
        let left = if sock.finished && sock.received.is_empty() { 1 } else { sock.received.len() };
        let options = sock.options.clone();
        if incoming.returned {
            return self.put_error(ctx, incoming);
        }
        if !incoming.end {
            self.put_stamps(ctx, socket, &options)?;
        }
        match socket.family {
            Family::Unix if credentials => {
                let cred = incoming.cred.unwrap_or(Ucred::NOBODY);
                let own = &ctx.kernel.task().cred.user_ns;
                let pid = ctx.kernel.shown_pid(cred.pid) as u32;
                let words = [pid, own.uids.shown(cred.uid), own.gids.shown(cred.gid)];
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.put(ctx, SOL_SOCKET, SCM_CREDENTIALS, &bytes)?;
            }
            Family::Netlink if options.is_on(SOL_NETLINK, NETLINK_PKTINFO) => {
                self.put(ctx, SOL_NETLINK, NETLINK_PKTINFO, &[0; 4])?; // for no group
            }
            Family::Inet | Family::Inet6 if socket.is_tcp() && options.is_on(IPPROTO_TCP, TCP_INQ) => {
                self.put(ctx, IPPROTO_TCP, TCP_INQ, &(left as u32).to_le_bytes())?;
            }
            Family::Inet | Family::Inet6 => {
                let Some(to) = incoming.to else { return Ok(()) };
                let on = |level, name| options.is_on(level, name);
                for (option, name, word) in
                    [(SO_RCVMARK, SO_MARK, incoming.mark), (SO_RCVPRIORITY, SO_PRIORITY, incoming.priority)]
                {
                    if on(SOL_SOCKET, option) {
                        self.put(ctx, SOL_SOCKET, name, &word.to_le_bytes())?;
                    }
                }
                let sent_to = encode(socket.family, Some(&Addr::Inet(to)));
                match to.ip() {
                    IpAddr::V4(ip) => {
                        if on(IPPROTO_IP, IP_PKTINFO) {
                            let info = [&1u32.to_le_bytes()[..], &ip.octets(), &ip.octets()].concat();
                            self.put(ctx, IPPROTO_IP, IP_PKTINFO, &info)?;
                        }
                        if on(IPPROTO_IP, IP_RECVTTL) {
                            self.put(ctx, IPPROTO_IP, IP_TTL, &u32::from(incoming.hops).to_le_bytes())?;
                        }
                        if on(IPPROTO_IP, IP_RECVTOS) {
                            self.put(ctx, IPPROTO_IP, IP_TOS, &[incoming.service])?;
                        }
                        if on(IPPROTO_IP, IP_RECVORIGDSTADDR) {
                            self.put(
                                ctx,
                                IPPROTO_IP,
                                IP_RECVORIGDSTADDR,
                                &encode(Family::Inet, Some(&Addr::Inet(to))),
                            )?;
                        }
                    }
                    IpAddr::V6(ip) => {
                        if on(IPPROTO_IPV6, IPV6_RECVPKTINFO) {
                            let info = [&ip.octets()[..], &1u32.to_le_bytes()].concat();
                            self.put(ctx, IPPROTO_IPV6, IPV6_PKTINFO, &info)?;
                        }
                        if on(IPPROTO_IPV6, IPV6_RECVHOPLIMIT) {
                            let hops = u32::from(incoming.hops).to_le_bytes();
                            self.put(ctx, IPPROTO_IPV6, IPV6_HOPLIMIT, &hops)?;
                        }
                        if on(IPPROTO_IPV6, IPV6_RECVTCLASS) {
                            let class = u32::from(incoming.service).to_le_bytes();
                            self.put(ctx, IPPROTO_IPV6, IPV6_TCLASS, &class)?;
                        }
                        if on(IPPROTO_IPV6, IPV6_FLOWINFO) && incoming.service != 0 {
                            let info = u32::from(incoming.service) << 20;
                            self.put(ctx, IPPROTO_IPV6, IPV6_FLOWINFO, &info.to_be_bytes())?;
                        }
                        if on(IPPROTO_IPV6, IPV6_2292PKTINFO) {
                            let info = [&ip.octets()[..], &1u32.to_le_bytes()].concat();
                            self.put(ctx, IPPROTO_IPV6, IPV6_2292PKTINFO, &info)?;
                        }
                        if on(IPPROTO_IPV6, IPV6_2292HOPLIMIT) {
                            let hops = u32::from(incoming.hops).to_le_bytes();
                            self.put(ctx, IPPROTO_IPV6, IPV6_2292HOPLIMIT, &hops)?;
                        }
                        if on(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR) {
                            self.put(ctx, IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, &sent_to)?;
                        }
                    }
                }
            }
            _ => {}
        }
        if !incoming.files.is_empty() {
            self.give_descriptors(ctx, &incoming.files, held, cloexec)?;
        }
        if socket.family == Family::Unix && pidfd {
            self.give_pidfd(ctx, incoming)?;
        }
        if socket.family == Family::Unix && options.is_on(SOL_SOCKET, SO_INQ) {
            self.put(ctx, SOL_SOCKET, SO_INQ, &(left as u32).to_le_bytes())?;
        }
        Ok(())
    }

    /// Writes when a message came, SO_TIMESTAMP and its kin.
    fn put_stamps(&mut self, ctx: &mut Ctx, socket: Socket, options: &Options) -> Result<(), Errno> {
        /// SOF_TIMESTAMPING_RX_SOFTWARE and SOF_TIMESTAMPING_SOFTWARE.
        const RECEIVED: i64 = 0x18;
        let now = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions());
        let exact = [now / NSEC_PER_SEC, now % NSEC_PER_SEC];
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        for (kind, words) in [
            (SO_TIMESTAMPNS, exact),
            (SO_TIMESTAMPNS_NEW, exact),
            (SO_TIMESTAMP, timeval(now)),
            (SO_TIMESTAMP_NEW, timeval(now)),
        ] {
            if options.is_on(SOL_SOCKET, kind) {
                self.put(ctx, SOL_SOCKET, kind, &bytes(&words))?;
            }
        }
        let flags = options.number(SOL_SOCKET, SO_TIMESTAMPING).unwrap_or(0);
        if socket.family.is_inet() && flags & RECEIVED == RECEIVED {
            let is_new = options.is_on(SOL_SOCKET, SO_TIMESTAMPING_NEW);
            let kind = if is_new { SO_TIMESTAMPING_NEW } else { SO_TIMESTAMPING };
            self.put(ctx, SOL_SOCKET, kind, &bytes(&[exact[0], exact[1], 0, 0, 0, 0]))?;
        }
        Ok(())
    }

    /// Gives a descriptor of the process that sent a message, SO_PASSPIDFD.
    fn give_pidfd(&mut self, ctx: &mut Ctx, incoming: &Incoming) -> Result<(), Errno> {
        if self.left < HEADER + 4 {
            self.flags |= MSG_CTRUNC;
            return Ok(());
        }
        let sender = incoming.cred.and_then(|cred| ctx.kernel.find_process(cred.pid));
        let Some(sender) = sender else { return Ok(()) };
        let Ok(fd) = pidfd::open(ctx, sender, 0) else { return Ok(()) };
        self.put(ctx, SOL_SOCKET, SCM_PIDFD, &(fd as u32).to_le_bytes())
    }

    /// Gives descriptions descriptors, as many as there is room for, `scm_detach_fds`.
    fn give_descriptors(
        &mut self,
        ctx: &mut Ctx,
        files: &[FileNo],
        held: bool,
        cloexec: bool,
    ) -> Result<(), Errno> {
        let room = self.left.saturating_sub(HEADER) / 4;
        let most = limit(ctx);
        let mut given = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let fd = match at < room {
                true => ctx.kernel.fds_mut().install(*file, cloexec, 0, most).ok(),
                false => None,
            };
            match fd {
                Some(fd) => {
                    if !held {
                        ctx.kernel.files.hold(*file);
                    }
                    given.extend(fd.to_le_bytes());
                }
                None => {
                    if held {
                        ctx.kernel.fs.net.drop_files(files[at..].to_vec());
                    }
                    break;
                }
            }
        }
        if given.len() < files.len() * 4 {
            self.flags |= MSG_CTRUNC;
        }
        if given.is_empty() { Ok(()) } else { self.put(ctx, SOL_SOCKET, SCM_RIGHTS, &given) }
    }
}
