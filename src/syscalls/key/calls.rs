//! add_key(2), request_key(2) and the way to the commands of keyctl(2).

use crate::abi::errno::Errno;
use crate::abi::key::{KEY_NEED_WRITE, KEYCTL_CAPABILITIES};
use crate::kernel::keys::key::KeyType;
use crate::kernel::keys::lookup::Need;
use crate::kernel::keys::search::Search;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::key::keyctl;
use crate::syscalls::key::strings::{CONTENT_MAX, content, description, type_name};
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(248, "add_key", add_key).noted("types user, logon, big_key and keyring"),
    partial(249, "request_key", request_key, "no program is asked to make a key: ENOKEY"),
    partial(
        250,
        "keyctl",
        keyctl,
        "no KEYCTL_DH_COMPUTE, KEYCTL_PKEY_* and KEYCTL_WATCH_KEY, and no restrictions by type",
    ),
];

/// Drops what is left of other keys, and gives the second that it is.
fn begin(ctx: &mut Ctx) -> i64 {
    let now = ctx.kernel.real_time(ctx.cpu).sec;
    ctx.kernel.collect_keys(now);
    now
}

/// add_key(2).
fn add_key(ctx: &mut Ctx, [kind, name, addr, len, keyring, _]: [u64; 6]) -> SysResult {
    let now = begin(ctx);
    if len > CONTENT_MAX {
        return Err(Errno::EINVAL.into());
    }
    let kind = type_name(ctx, kind)?;
    let name = if name == 0 { Vec::new() } else { description(ctx, name)? };
    if name.starts_with(b".") && kind.starts_with(b"keyring") {
        return Err(Errno::EPERM.into());
    }
    let content = content(ctx, addr, len, CONTENT_MAX)?;
    let keyring = ctx.kernel.key_ref(keyring as i32, true, Need::Permission(KEY_NEED_WRITE), now)?;
    let kind = KeyType::named(&kind).ok_or(Errno::ENODEV)?;
    let serial = ctx.kernel.add_key(keyring, kind, &name, content)?;
    Ok(serial.0 as u64)
}

/// request_key(2): searches the keyrings of the task.
fn request_key(ctx: &mut Ctx, [kind, name, info, keyring, ..]: [u64; 6]) -> SysResult {
    let now = begin(ctx);
    let kind = type_name(ctx, kind)?;
    let name = description(ctx, name)?;
    if info != 0 {
        description(ctx, info)?;
    }
    let need = Need::Permission(KEY_NEED_WRITE);
    let target = match keyring as i32 {
        0 => None,
        id => Some(ctx.kernel.key_ref(id, true, need, now)?),
    };
    let search = Search::asked_for(&kind, &name, &ctx.kernel.task().cred, now)?;
    let search = Search { skips_expired: true, ..search };
    let found = Search::told(ctx.kernel.search_own_keyrings(&search))?;
    if let Some(target) = target {
        ctx.kernel.link_key(target.serial, found.serial)?;
    }
    Ok(found.serial.0 as u64)
}

/// keyctl(2).
fn keyctl(ctx: &mut Ctx, [command, arguments @ .., _]: [u64; 6]) -> SysResult {
    let now = begin(ctx);
    let command = command as u32;
    let handler = keyctl::COMMANDS.iter().find(|(known, _)| *known == command);
    match handler {
        Some((_, handler)) => handler(ctx, arguments, now),
        None => {
            if command <= KEYCTL_CAPABILITIES + 1 {
                let what = format!("command {command} is refused with EOPNOTSUPP");
                ctx.kernel.notices.count("keyctl: ", &what);
            }
            Err(Errno::EOPNOTSUPP.into())
        }
    }
}
