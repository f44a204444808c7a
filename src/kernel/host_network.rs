//! Sockets of the host, each the far end of a socket of the emulated machine. Nothing here decides
//! who may reach what, and nothing is asked but through `Streams`, which keeps the answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno as HostErrno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, connect, recv, send, shutdown,
    socket_with, sockopt,
};

use crate::abi::errno::Errno;

/// Bytes that are received at a time, more than a packet has.
pub(crate) const PIECE: usize = 65_536;
/// Packets that are received at a time.
const PACKETS: usize = 16;

/// Wishes of a socket of the emulated machine to its far end.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    /// Number of the connection, which no other one ever has.
    pub(crate) number: u32,
    pub(crate) to: SocketAddr,
    /// UDP instead of TCP.
    pub(crate) datagrams: bool,
    /// Bytes to be sent: a piece of a stream, or packets.
    pub(crate) out: Vec<Vec<u8>>,
    /// It is the byte of urgent data.
    pub(crate) urgent: bool,
    /// Bytes that there is room for.
    pub(crate) room: usize,
    pub(crate) end: End,
}

/// End that a connection is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// None yet.
    Open,
    /// Nothing more is sent.
    Said,
    Closed,
    /// Closed by a reset.
    Reset,
}

/// News of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Connected,
    /// It could not be made, or is broken.
    Failed(Errno),
    Came(Vec<u8>),
    /// Nothing more will come.
    Ended,
    /// So many bytes of the stream, or packets, were sent.
    Sent(usize),
    SaidEnd,
}

/// The host's answer about all connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Nanoseconds for which it was waited.
    pub(crate) waited: u64,
    /// Standard input has something to read.
    pub(crate) input: bool,
    pub(crate) news: Vec<(u32, News)>,
}

impl Errand {
    /// Tells if it is done without any news of it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.end, End::Closed | End::Reset)
    }
}

impl Report {
    /// Bytes that it takes in a journal.
    pub(crate) fn size(&self) -> usize {
        let bytes = |news: &News| if let News::Came(bytes) = news { bytes.len() } else { 0 };
        self.news.iter().map(|(_, news)| size_of::<(u32, News)>() + bytes(news)).sum()
    }
}

#[derive(Debug)]
struct HostSocket {
    fd: OwnedFd,
    connected: bool,
}

/// Every socket of the host that a run has open.
#[derive(Debug, Default)]
pub(crate) struct HostSockets {
    open: BTreeMap<u32, HostSocket>,
}

/// Makes a socket and begins to connect it; true if that is done.
fn begin(errand: &Errand) -> Result<(OwnedFd, bool), HostErrno> {
    let family = if errand.to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let kind = if errand.datagrams { SocketType::DGRAM } else { SocketType::STREAM };
    let fd = socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    if !errand.datagrams {
        // Bytes are gathered on this side already, and urgent ones are not told apart.
        sockopt::set_tcp_nodelay(&fd, true)?;
        sockopt::set_socket_oobinline(&fd, true)?;
    }
    match connect(&fd, &errand.to) {
        Ok(()) => Ok((fd, true)),
        Err(HostErrno::INPROGRESS) => Ok((fd, false)),
        Err(errno) => Err(errno),
    }
}

impl HostSockets {
    /// Makes the sockets that are wanted and not there, and closes those that nobody wants.
    pub(crate) fn open(&mut self, errands: &[Errand]) -> Vec<(u32, News)> {
        let wanted = |number: &u32| errands.iter().any(|errand| errand.number == *number);
        self.open.retain(|number, _| wanted(number));
        let mut news = Vec::new();
        for errand in errands {
            match errand.end {
                End::Closed => drop(self.open.remove(&errand.number)),
                End::Reset => {
                    if let Some(socket) = self.open.remove(&errand.number) {
                        // Closed in any case.
                        let _ = sockopt::set_socket_linger(&socket.fd, Some(Duration::ZERO));
                    }
                }
                End::Open | End::Said if self.open.contains_key(&errand.number) => {}
                End::Open | End::Said => match begin(errand) {
                    Ok((fd, connected)) => {
                        self.open.insert(errand.number, HostSocket { fd, connected });
                        news.extend(connected.then_some((errand.number, News::Connected)));
                    }
                    Err(errno) => news.push((errand.number, News::Failed(errno.into()))),
                },
            }
        }
        news
    }

    /// The events to wait for.
    pub(crate) fn interests(&self, errands: &[Errand]) -> Vec<PollFd<'_>> {
        let all = errands.iter().filter_map(|errand| {
            let socket = self.open.get(&errand.number)?;
            let mut what = PollFlags::empty();
            what.set(PollFlags::IN, socket.connected && errand.room > 0);
            let tells = !errand.out.is_empty() || errand.end == End::Said;
            what.set(PollFlags::OUT, !socket.connected || tells);
            // Without an event to wait for, an error would end the wait again and again.
            (!what.is_empty()).then(|| PollFd::new(&socket.fd, what))
        });
        all.collect()
    }

    /// Moves what can be moved without waiting.
    pub(crate) fn go(&mut self, errands: &[Errand]) -> Vec<(u32, News)> {
        let mut news = Vec::new();
        for errand in errands {
            let Some(socket) = self.open.get_mut(&errand.number) else { continue };
            let mut own = Vec::new();
            if let Err(errno) = run(errand, socket, &mut own) {
                own.push(News::Failed(errno.into()));
                if !errand.datagrams {
                    self.open.remove(&errand.number);
                }
            }
            news.extend(own.into_iter().map(|news| (errand.number, news)));
        }
        news
    }
}

fn run(errand: &Errand, socket: &mut HostSocket, news: &mut Vec<News>) -> Result<(), HostErrno> {
    if !socket.connected {
        let mut fds = [PollFd::new(&socket.fd, PollFlags::OUT)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        if rustix::event::poll(&mut fds, Some(&now))? == 0 {
            return Ok(());
        }
        sockopt::socket_error(&socket.fd)??;
        socket.connected = true;
        news.push(News::Connected);
        return Ok(());
    }
    receive(errand, socket, news)?;
    let mut sent = 0;
    for piece in &errand.out {
        let flags = if errand.urgent { SendFlags::OOB } else { SendFlags::empty() };
        match send(&socket.fd, piece, flags | SendFlags::NOSIGNAL) {
            Ok(count) => sent += if errand.datagrams { 1 } else { count },
            Err(HostErrno::AGAIN | HostErrno::INTR) => break,
            Err(errno) => {
                news.extend((sent > 0).then_some(News::Sent(sent)));
                return Err(errno);
            }
        }
    }
    news.extend((sent > 0).then_some(News::Sent(sent)));
    if errand.end == End::Said {
        shutdown(&socket.fd, Shutdown::Write)?;
        news.push(News::SaidEnd);
    }
    Ok(())
}

fn receive(errand: &Errand, socket: &HostSocket, news: &mut Vec<News>) -> Result<(), HostErrno> {
    let pieces = if errand.datagrams { PACKETS } else { 1 };
    for _ in 0..pieces {
        if errand.room == 0 {
            break;
        }
        let most = if errand.datagrams { PIECE } else { errand.room.min(PIECE) };
        let mut bytes = vec![0; most];
        match recv(&socket.fd, &mut bytes[..], RecvFlags::empty()) {
            Ok((0, _)) if !errand.datagrams => news.push(News::Ended),
            Ok((count, _)) => {
                bytes.truncate(count);
                bytes.shrink_to_fit();
                news.push(News::Came(bytes));
            }
            Err(HostErrno::AGAIN | HostErrno::INTR) => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    fn errand(number: u32, to: SocketAddr) -> Errand {
        Errand { number, to, datagrams: false, out: Vec::new(), urgent: false, room: 10, end: End::Open }
    }

    /// Opens and goes until there is news.
    fn news(sockets: &mut HostSockets, errands: &[Errand]) -> Vec<(u32, News)> {
        for _ in 0..1000 {
            let mut news = sockets.open(errands);
            news.extend(sockets.go(errands));
            if !news.is_empty() {
                return news;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Vec::new()
    }

    #[test]
    fn a_connection_from_its_beginning_to_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (mut sockets, at) = (HostSockets::default(), listener.local_addr().unwrap());
        assert_eq!(news(&mut sockets, &[errand(1, at)]), [(1, News::Connected)]);
        let (mut there, _) = listener.accept().unwrap();
        let out = Errand { out: vec![b"question".to_vec()], ..errand(1, at) };
        assert_eq!(news(&mut sockets, &[out]), [(1, News::Sent(8))]);
        there.write_all(b"a long answer").unwrap();
        assert_eq!(news(&mut sockets, &[errand(1, at)]), [(1, News::Came(b"a long ans".to_vec()))]);
        assert_eq!(news(&mut sockets, &[errand(1, at)]), [(1, News::Came(b"wer".to_vec()))]);
        let said = Errand { end: End::Said, ..errand(1, at) };
        assert_eq!(news(&mut sockets, &[said]), [(1, News::SaidEnd)]);
        let mut text = String::new();
        there.read_to_string(&mut text).unwrap();
        assert_eq!(text, "question");
        drop(there);
        assert_eq!(news(&mut sockets, &[errand(1, at)]), [(1, News::Ended)]);
        sockets.open(&[]);
        assert!(sockets.open.is_empty());
    }

    #[test]
    fn nobody_is_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        drop(listener);
        let mut sockets = HostSockets::default();
        assert_eq!(news(&mut sockets, &[errand(1, at)]), [(1, News::Failed(Errno::ECONNREFUSED))]);
        assert!(sockets.open.is_empty());
    }

    #[test]
    fn packets() {
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = there.local_addr().unwrap();
        let mut sockets = HostSockets::default();
        let out = vec![b"one".to_vec(), Vec::new(), b"three".to_vec()];
        let errand = Errand { datagrams: true, out, ..errand(1, at) };
        assert_eq!(
            news(&mut sockets, std::slice::from_ref(&errand)),
            [(1, News::Connected), (1, News::Sent(3))]
        );
        let mut buf = [0; 9];
        let (len, from) = there.recv_from(&mut buf).unwrap();
        assert_eq!(&buf[..len], b"one");
        there.send_to(b"back", from).unwrap();
        let idle = Errand { out: Vec::new(), ..errand };
        assert_eq!(news(&mut sockets, &[idle]), [(1, News::Came(b"back".to_vec()))]);
    }
}
