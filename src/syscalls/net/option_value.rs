//! Values of the options of sockets: as setsockopt(2) is given them, and those of the table.

use crate::abi::errno::Errno;
use crate::kernel::net::options::{Privileges, is_refused};
use crate::kernel::net::sock::{Kind, Sock};
use crate::kernel::uaccess::{copy_from_user, get_u32};
use crate::syscalls::context::Ctx;
use crate::syscalls::net::address::Socket;

/// Address and length of the value that setsockopt(2) is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) addr: u64,
    pub(super) len: i32,
}

impl Given {
    /// The value as a number; EINVAL if it is too short.
    pub(super) fn int(self, ctx: &mut Ctx) -> Result<i32, Errno> {
        Ok(words::<1>(ctx, self.addr, self.len)?[0] as i32)
    }

    /// The same for the options of IP, for which a byte will do, and nothing is 0.
    pub(super) fn byte_or_int(self, ctx: &mut Ctx) -> Result<i32, Errno> {
        match self.len {
            0 => Ok(0),
            1..4 => {
                let mut byte = [0];
                copy_from_user(ctx.mem, self.addr, &mut byte)?;
                Ok(byte[0].into())
            }
            _ => self.int(ctx),
        }
    }
}

/// Reads the words of an option; EINVAL if it is too short.
pub(super) fn words<const N: usize>(ctx: &mut Ctx, addr: u64, len: i32) -> Result<[u32; N], Errno> {
    if len < 4 * N as i32 {
        return Err(Errno::EINVAL);
    }
    let mut found = [0; N];
    for (at, word) in found.iter_mut().enumerate() {
        *word = get_u32(ctx.mem, addr.wrapping_add(4 * at as u64))?;
    }
    Ok(found)
}

/// Sets an option of the table; ENOPROTOOPT and what else its row says.
pub(super) fn set_number(
    ctx: &mut Ctx,
    socket: Socket,
    level: u32,
    name: u32,
    value: i32,
    may: Privileges,
) -> Result<(), Errno> {
    let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
    let which = (sock.family, sock.kind == Kind::Stream);
    let result = sock.options.set(which, (level, name), value, may);
    if result == Err(Errno::ENOPROTOOPT) && is_refused(level, name) {
        ctx.kernel.notices.count("setsockopt: ", &format!("option {name} of level {level}: not there"));
    }
    result
}

/// The number of an option of the table.
pub(super) fn number(sock: &Sock, level: u32, name: u32) -> Result<i64, Errno> {
    sock.options.get((sock.family, sock.kind == Kind::Stream), level, name)
}
