//! Texts of `/proc/PID/net` that depend on the machine's sockets, in the columns of Linux.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use crate::abi::net::*;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::{Addr, Family, unspecified};
use crate::kernel::net::lingering::Lingering;
use crate::kernel::net::sock::{Sock, State};
use crate::kernel::net::table::Net;
use crate::kernel::vfs::proc_file::NetFile;

/// Stand-in for the address of a kernel's object, which nobody may see.
const POINTER: &str = "0000000000000000";
/// Bytes of a line of `/proc/net/tcp` and of `/proc/net/udp`, which are padded.
const TCP_LINE: usize = 149;
const UDP_LINE: usize = 127;

/// The sockets of a namespace.
struct View<'a> {
    net: &'a Net,
    namespace: NsId,
}

impl View<'_> {
    /// Rests of connections of a family.
    fn lingering(&self, family: Family) -> Vec<&Lingering> {
        let all = self.net.lingering(self.namespace).map(|(_, left)| left);
        all.filter(|left| left.family == family).collect()
    }

    fn iter(&self) -> impl Iterator<Item = &Sock> {
        self.net
            .iter()
            .map(|(_, sock)| sock)
            .filter(|sock| sock.namespace == self.namespace && sock.outside.is_none())
    }
}

/// The text of a file.
pub(super) fn text(net: &Net, namespace: NsId, file: NetFile) -> String {
    let net = View { net, namespace };
    match file {
        NetFile::Tcp(family) => tcp(&net, family),
        NetFile::Udp(family, protocol) => udp(&net, family, protocol),
        NetFile::Unix => unix(&net),
        NetFile::Netlink => netlink(&net),
        NetFile::SockStat => sockstat(&net),
        NetFile::SockStat6 => sockstat6(&net),
        NetFile::Snmp => snmp(&net),
    }
}

/// An address as the tables write it: words of the machine's own order.
fn hex(family: Family, at: Option<SocketAddr>) -> String {
    let at = at.unwrap_or(unspecified(family, 0));
    let words = |octets: &[u8]| -> String {
        let words = octets.as_chunks::<4>().0.iter();
        words.map(|word| format!("{:08X}", u32::from_le_bytes(*word))).collect()
    };
    let ip = match (family, at.ip()) {
        (Family::Inet6, IpAddr::V4(ip)) => words(&ip.to_ipv6_mapped().octets()),
        (_, IpAddr::V6(ip)) => words(&ip.octets()),
        (_, IpAddr::V4(ip)) => words(&ip.octets()),
    };
    format!("{ip}:{:04X}", at.port())
}

/// The sockets of a protocol that the tables show: those with an address; first those that listen.
fn shown<'a>(net: &'a View, family: Family, protocol: u32) -> Vec<&'a Sock> {
    let all =
        net.iter().filter(|sock| sock.family == family && sock.protocol == protocol && sock.at().is_some());
    let mut all: Vec<&Sock> = all.filter(|sock| !sock.is_tcp() || sock.tcp_state() != TCP_CLOSE).collect();
    all.sort_by_key(|sock| sock.state != State::Listening);
    all
}

fn tcp(net: &View, family: Family) -> String {
    let six = family == Family::Inet6;
    let header = match six {
        true => {
            "  sl  local_address                         remote_address                        st tx_queue \
             rx_queue tr tm->when retrnsmt   uid  timeout inode"
        }
        false => {
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
        }
    };
    let (mut lines, mut behind) = (vec![header.to_owned()], Vec::new());
    let socks = shown(net, family, IPPROTO_TCP);
    let left = net.lingering(family);
    for (at, left) in (socks.len()..).zip(&left) {
        // In USER_HZ.
        let until = left.left(net.net.time) / 10_000_000;
        behind.push(format!(
            "{at:4}: {} {} {:02X} 00000000:00000000 03:{until:08X} 00000000     0        0 0 3 {POINTER}",
            hex(family, Some(left.local)),
            hex(family, Some(left.remote)),
            left.state(),
        ));
    }
    for (at, sock) in socks.into_iter().enumerate() {
        let listens = sock.state == State::Listening;
        let queued = if listens { sock.waiting.len() } else { sock.received.len() };
        // Retransmission and acknowledgement times, congestion window and slow start threshold.
        let window = if listens { "100 0 0 10 0" } else { "20 4 30 10 -1" };
        lines.push(format!(
            "{at:4}: {} {} {:02X} 00000000:{queued:08X} 00:00000000 00000000 {:5}        0 {} 1 {POINTER} {window}",
            hex(family, sock.at()),
            hex(family, sock.to()),
            sock.tcp_state(),
            sock.uid,
            sock.number,
        ));
    }
    lines.extend(behind);
    let width = if six { 0 } else { TCP_LINE };
    lines.iter().map(|line| format!("{line:<width$}\n")).collect()
}

fn udp(net: &View, family: Family, protocol: u32) -> String {
    let six = family == Family::Inet6;
    let header = match six {
        true => {
            "  sl  local_address                         remote_address                        st tx_queue \
             rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops"
        }
        false => {
            "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode \
             ref pointer drops"
        }
    };
    let mut lines = vec![header.to_owned()];
    for sock in shown(net, family, protocol) {
        lines.push(format!(
            "{:5}: {} {} {:02X} 00000000:{:08X} 00:00000000 00000000 {:5}        0 {} 2 {POINTER} 0",
            sock.at().map_or(0, |at| at.port()),
            hex(family, sock.at()),
            hex(family, sock.to()),
            sock.udp_state(),
            sock.received.room(),
            sock.uid,
            sock.number,
        ));
    }
    let width = if six { 0 } else { UDP_LINE };
    lines.iter().map(|line| format!("{line:<width$}\n")).collect()
}

fn unix(net: &View) -> String {
    /// A socket that listens, `__SO_ACCEPTCON`.
    const ACCEPTCON: u32 = 1 << 16;
    let mut text = "Num       RefCount Protocol Flags    Type St Inode Path\n".to_owned();
    for sock in net.iter().filter(|sock| sock.family == Family::Unix) {
        let flags = if sock.state == State::Listening { ACCEPTCON } else { 0 };
        // SS_UNCONNECTED, SS_CONNECTED.
        let state = if sock.peer.is_some() { 3 } else { 1 };
        let references = if sock.peer.is_some() { 3 } else { 2 };
        let _ = write!(
            text,
            "{POINTER}: {references:08X} 00000000 {flags:08X} {:04X} {state:02X} {:5}",
            sock.kind.number(),
            sock.number
        );
        let name = match &sock.local {
            Some(Addr::Path(path)) => format!(" {}", String::from_utf8_lossy(path)),
            Some(Addr::Abstract(name)) => format!(" @{}", String::from_utf8_lossy(name).replace('\0', "@")),
            _ => String::new(),
        };
        text.push_str(&name);
        text.push('\n');
    }
    text
}

fn netlink(net: &View) -> String {
    let mut text =
        "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n"
            .to_owned();
    for sock in net.iter().filter(|sock| sock.family == Family::Netlink) {
        let (port, groups) =
            if let Some(Addr::Netlink(port, groups)) = sock.local { (port, groups) } else { (0, 0) };
        let _ = writeln!(
            text,
            "{POINTER} {:<3} {port:<10} {groups:08x} {:<8} 0        0     2        0        {:<8}",
            sock.protocol,
            sock.received.room(),
            sock.number
        );
    }
    text
}

/// Sockets of TCP that have an address, and all of them.
fn tcp_sockets(net: &View, family: Family) -> (usize, usize) {
    let all = net.iter().filter(|sock| sock.family == family && sock.is_tcp()).count();
    (shown(net, family, IPPROTO_TCP).len(), all)
}

fn sockstat(net: &View) -> String {
    let (inuse, all) = tcp_sockets(net, Family::Inet);
    let (used, all) = (net.iter().count(), all + tcp_sockets(net, Family::Inet6).1);
    let left = net.net.lingering(net.namespace).count();
    let udp = |protocol| shown(net, Family::Inet, protocol).len();
    format!(
        "sockets: used {used}\nTCP: inuse {inuse} orphan 0 tw {left} alloc {all} mem 0\nUDP: inuse {} mem 0\n\
         UDPLITE: inuse {}\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n",
        udp(IPPROTO_UDP),
        udp(IPPROTO_UDPLITE)
    )
}

fn sockstat6(net: &View) -> String {
    let of = |protocol| shown(net, Family::Inet6, protocol).len();
    format!(
        "TCP6: inuse {}\nUDP6: inuse {}\nUDPLITE6: inuse {}\nRAW6: inuse 0\nFRAG6: inuse 0 memory 0\n",
        of(IPPROTO_TCP),
        of(IPPROTO_UDP),
        of(IPPROTO_UDPLITE)
    )
}

/// Counters of the protocols; packets are not counted.
fn snmp(net: &View) -> String {
    let connected = |family| {
        let all = shown(net, family, IPPROTO_TCP).into_iter();
        all.filter(|sock| matches!(sock.tcp_state(), TCP_ESTABLISHED | TCP_CLOSE_WAIT)).count()
    };
    let established = connected(Family::Inet) + connected(Family::Inet6);
    const UDP: &str = "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti \
                       MemErrors";
    format!(
        "Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards \
         InDelivers OutRequests OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs \
         FragFails FragCreates\nIp: 2 64 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
         Icmp: InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs InRedirects InEchos \
         InEchoReps InTimestamps InTimestampReps InAddrMasks InAddrMaskReps OutMsgs OutErrors OutDestUnreachs \
         OutTimeExcds OutParmProbs OutSrcQuenchs OutRedirects OutEchos OutEchoReps OutTimestamps OutTimestampReps \
         OutAddrMasks OutAddrMaskReps\nIcmp:{}\n\
         Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs \
         OutSegs RetransSegs InErrs OutRsts InCsumErrors\nTcp: 1 200 120000 -1 0 0 0 0 {established} 0 0 0 0 0 0\n\
         Udp: {UDP}\nUdp:{}\nUdpLite: {UDP}\nUdpLite:{}\n",
        " 0".repeat(27),
        " 0".repeat(9),
        " 0".repeat(9)
    )
}
