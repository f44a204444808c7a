//! The options of TCP that are more than a number of the table, tcp(7).

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::net::options::Privileges;
use crate::kernel::net::sock::State;
use crate::kernel::uaccess::{copy_from_user, get_bytes};
use crate::syscalls::context::Ctx;
use crate::syscalls::net::address::Socket;
use crate::syscalls::net::option_value::{Given, number, set_number};

/// Bytes of a segment on the loopback.
const LOOPBACK_MSS: u32 = 65_483;
/// Seconds after which a segment is sent again at first, and at most.
const TIMEOUT_INIT: u64 = 1;
const RTO_MAX: u64 = 120;
/// Least TCP_WINDOW_CLAMP, half of the least SO_RCVBUF.
const LEAST_WINDOW: i32 = 1152;
/// Longest queue of TCP_FASTOPEN.
const LONGEST_QUEUE: i32 = 4096;
/// Microseconds of a tick.
const TICK: i32 = 4000;
/// Bytes of `struct tcp_info`.
const TCP_INFO_SIZE: usize = 280;

/// Seconds as times that a segment is sent again, and back: `secs_to_retrans`, `retrans_to_secs`.
fn whole_retransmissions(seconds: i32) -> i64 {
    let (mut count, mut timeout, mut period) = (u8::from(seconds > 0), TIMEOUT_INIT, TIMEOUT_INIT);
    while i64::from(seconds) > period as i64 && count > 0 && count < u8::MAX {
        count += 1;
        timeout = (timeout * 2).min(RTO_MAX);
        period += timeout;
    }
    if count > 0 { period as i64 } else { 0 }
}

/// Sets an option of IPPROTO_TCP.
pub(super) fn set_tcp(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    given: Given,
    may: Privileges,
) -> Result<(), Errno> {
    let state = ctx.kernel.fs.net.sock(socket.id)?.state;
    let (closed, open) = (state == State::Closed, matches!(state, State::Closed | State::Listening));
    match name {
        TCP_CONGESTION | 31 if given.len < 1 => return Err(Errno::EINVAL),
        TCP_CONGESTION => {
            let mut bytes = vec![0; given.len.min(15) as usize];
            copy_from_user(ctx.mem, given.addr, &mut bytes)?;
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            return if matches!(&bytes[..end], b"cubic" | b"reno") { Ok(()) } else { Err(Errno::ENOENT) };
        }
        31 => return Err(Errno::ENOENT), // TCP_ULP
        TCP_FASTOPEN_KEY => {
            if !matches!(given.len, 16 | 32) {
                return Err(Errno::EINVAL);
            }
            let bytes = get_bytes(ctx.mem, given.addr, given.len as usize)?;
            ctx.kernel.fs.net.sock_mut(socket.id)?.options.put_bytes(IPPROTO_TCP, name, bytes);
            return Ok(());
        }
        _ => {}
    }
    let value = given.int(ctx)?;
    let wrong_state = match name {
        TCP_WINDOW_CLAMP => value == 0 && !closed,
        TCP_FASTOPEN | TCP_FASTOPEN_NO_COOKIE => !open,
        TCP_FASTOPEN_CONNECT => !closed,
        _ => false,
    };
    if wrong_state {
        return Err(Errno::EINVAL);
    }
    let value = match name {
        TCP_MAXSEG if value == 0 => 536,
        TCP_LINGER2 => match value {
            ..0 => -1,
            0 => 60,
            _ => value.min(RTO_MAX as i32),
        },
        TCP_DEFER_ACCEPT => whole_retransmissions(value) as i32,
        TCP_WINDOW_CLAMP if value != 0 => value.max(LEAST_WINDOW),
        TCP_FASTOPEN => value.min(LONGEST_QUEUE),
        TCP_RTO_MIN_US | TCP_DELACK_MAX_US if (0..i32::MAX - TICK).contains(&value) => {
            (value as u32).next_multiple_of(TICK as u32) as i32
        }
        14 | 22 | 32 => return Err(Errno::EINVAL), // TCP_MD5SIG, TCP_REPAIR_OPTIONS, TCP_MD5SIG_EXT
        21 if closed => return Err(Errno::EINVAL), // TCP_QUEUE_SEQ
        20 | 21 | 24 | 29 | 42 => return Err(Errno::EPERM), // what only TCP_REPAIR allows
        _ => value,
    };
    set_number(ctx, socket, IPPROTO_TCP, name, value, may)?;
    let options = &mut ctx.kernel.fs.net.sock_mut(socket.id)?.options;
    match name {
        TCP_THIN_DUPACK => options.put(IPPROTO_TCP, name, 0),
        TCP_SAVE_SYN if value != 0 => {
            ctx.kernel.notices.count("setsockopt: ", "TCP_SAVE_SYN: no headers are kept");
        }
        _ => {}
    }
    Ok(())
}

/// An option of IPPROTO_TCP.
pub(super) fn get_tcp(ctx: &mut Ctx, socket: Socket, name: u32) -> Result<Vec<u8>, Errno> {
    let now = ctx.kernel.clock.monotonic_ns(ctx.cpu.instructions());
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let connected = sock.state == State::Connected;
    Ok(match name {
        TCP_CONGESTION => b"cubic\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
        TCP_MAXSEG if connected => LOOPBACK_MSS.to_le_bytes().to_vec(),
        TCP_INFO => {
            let mut info = vec![0; TCP_INFO_SIZE];
            info[0] = sock.tcp_state();
            let mut put = |at: usize, word: u32| info[at..at + 4].copy_from_slice(&word.to_le_bytes());
            match sock.state {
                State::Listening => {
                    put(24, sock.waiting.len() as u32); // tcpi_unacked
                    put(28, sock.backlog as u32); // tcpi_sacked
                }
                _ if connected => [16, 20].into_iter().for_each(|at| put(at, LOOPBACK_MSS)),
                _ => {
                    put(4, 1 << 24); // tcpi_delivery_rate_app_limited
                    put(8, (TIMEOUT_INIT * 1_000_000) as u32); // tcpi_rto
                    put(16, 536); // tcpi_snd_mss
                }
            }
            info
        }
        20 | 21 | 29 | 35 => return Err(Errno::EINVAL), // what only TCP_REPAIR allows, TCP_ZEROCOPY_RECEIVE
        42 => return Err(Errno::EPERM),                 // TCP_AO_REPAIR
        24 => ((now / (NSEC_PER_SEC / 1000)) as u32).to_le_bytes().to_vec(), // TCP_TIMESTAMP
        26 | 28 | 31 => Vec::new(),                     // TCP_CC_INFO, TCP_SAVED_SYN, TCP_ULP
        TCP_FASTOPEN_KEY => sock.options.bytes(IPPROTO_TCP, name),
        _ => (number(sock, IPPROTO_TCP, name)? as i32).to_le_bytes().to_vec(),
    })
}
