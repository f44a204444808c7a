//! A server on this machine's own loopback for the programs of `testdata/network`.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Bytes that `much` sends.
const MUCH: usize = 3_000_000;

/// A server that goes on until the test ends.
pub struct Server {
    tcp: SocketAddr,
    udp: SocketAddr,
    /// A port that nobody has while this is there.
    nobody: SocketAddr,
    connections: Arc<AtomicUsize>,
    kept: Arc<AtomicUsize>,
}

impl Server {
    /// Starts one; `None` if this machine does not have the address.
    pub fn start(ip: IpAddr) -> Option<Server> {
        let listener = TcpListener::bind((ip, 0)).ok()?;
        let packets = UdpSocket::bind((ip, 0)).expect("a port");
        let (tcp, udp) = (listener.local_addr().expect("one"), packets.local_addr().expect("one"));
        // A port of UDP and TCP that was free a moment ago.
        let nobody = {
            let free = TcpListener::bind((ip, 0)).expect("a port");
            free.local_addr().expect("one")
        };
        let (connections, kept) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, keeps) = (Arc::clone(&connections), Arc::clone(&kept));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, SeqCst);
                let keeps = Arc::clone(&keeps);
                // A client that goes away ends its thread.
                thread::spawn(move || serve(stream, &keeps));
            }
        });
        thread::spawn(move || {
            let mut buf = [0; 2000];
            while let Ok((len, from)) = packets.recv_from(&mut buf) {
                let _ = packets.send_to(&[b"udp:", &buf[..len]].concat(), from);
            }
        });
        Some(Server { tcp, udp, nobody, connections, kept })
    }

    /// The arguments of `testdata/network/client.c`.
    pub fn arguments(&self, what: &str) -> Vec<String> {
        let port = |at: SocketAddr| at.port().to_string();
        vec![self.tcp.ip().to_string(), port(self.tcp), port(self.udp), port(self.nobody), what.to_owned()]
    }

    /// The options that let a program reach all of it.
    pub fn options(&self) -> Vec<String> {
        [self.tcp, self.udp, self.nobody].iter().map(|at| format!("--allow-net={at}")).collect()
    }

    /// Its address of TCP.
    pub fn tcp(&self) -> SocketAddr {
        self.tcp
    }

    /// Connections that were made to it.
    pub fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }

    /// Bytes of connections that were to be kept, and have ended.
    pub fn kept(&self) -> usize {
        self.kept.load(SeqCst)
    }
}

/// Numbers that no two questions get.
static NUMBERS: AtomicUsize = AtomicUsize::new(1000);

fn serve(stream: TcpStream, kept: &AtomicUsize) -> std::io::Result<()> {
    let (mut reader, mut stream) = (stream.try_clone()?, stream);
    let mut line = Vec::new();
    let mut buf = vec![0; 1 << 16];
    // No more than the line is read.
    while line.last() != Some(&b'\n') && reader.read(&mut buf[..1])? == 1 {
        line.push(buf[0]);
    }
    match String::from_utf8_lossy(&line).trim_end() {
        "echo" => {
            let mut total = 0;
            loop {
                let len = reader.read(&mut buf)?;
                if len == 0 {
                    break;
                }
                if total < 100 {
                    stream.write_all(&buf[..len.min(100)])?;
                }
                total += len;
            }
            writeln!(stream, "total {total}")?;
        }
        "much" => stream.write_all(&vec![b'm'; MUCH])?,
        "silent" => drop(reader.read(&mut buf)?),
        // What nobody has read makes the end a reset.
        "reset" => {
            let _ = stream.peek(&mut buf)?;
        }
        "numbers" => {
            while reader.read(&mut buf[..1])? == 1 {
                write!(stream, "{}", NUMBERS.fetch_add(1, SeqCst))?;
            }
        }
        "keep" => {
            thread::sleep(std::time::Duration::from_millis(200));
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest)?;
            kept.fetch_add(rest.len(), SeqCst);
        }
        // The test has only looked if somebody is there.
        "" => {}
        other => panic!("{other:?}"),
    }
    Ok(())
}
