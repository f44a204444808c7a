//! The commands of keyctl(2).

use crate::abi::capability::CAP_SETUID;
use crate::abi::errno::Errno;
use crate::abi::key::*;
use crate::kernel::keys::key::KeyType;
use crate::kernel::keys::lookup::Need;
use crate::kernel::keys::search::{KeyRef, Search};
use crate::kernel::namespace::user::IdMap;
use crate::kernel::uaccess::copy_to_user;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::key::strings::{CONTENT_MAX, content, description, type_name};

/// A command: its arguments and the second that it is.
type Command = fn(&mut Ctx, [u64; 4], i64) -> SysResult;

/// The commands by their numbers.
pub(super) const COMMANDS: &[(u32, Command)] = &[
    (KEYCTL_GET_KEYRING_ID, get_keyring_id),
    (KEYCTL_JOIN_SESSION_KEYRING, join_session_keyring),
    (KEYCTL_UPDATE, update),
    (KEYCTL_REVOKE, revoke),
    (KEYCTL_CHOWN, chown),
    (KEYCTL_SETPERM, setperm),
    (KEYCTL_DESCRIBE, describe),
    (KEYCTL_CLEAR, clear),
    (KEYCTL_LINK, link),
    (KEYCTL_UNLINK, unlink),
    (KEYCTL_SEARCH, search),
    (KEYCTL_READ, read),
    (KEYCTL_INSTANTIATE, instantiate),
    (KEYCTL_NEGATE, negate),
    (KEYCTL_SET_REQKEY_KEYRING, set_reqkey_keyring),
    (KEYCTL_SET_TIMEOUT, set_timeout),
    (KEYCTL_ASSUME_AUTHORITY, assume_authority),
    (KEYCTL_GET_SECURITY, get_security),
    (KEYCTL_SESSION_TO_PARENT, session_to_parent),
    (KEYCTL_REJECT, reject),
    (KEYCTL_INSTANTIATE_IOV, instantiate),
    (KEYCTL_INVALIDATE, invalidate),
    (KEYCTL_GET_PERSISTENT, get_persistent),
    (KEYCTL_RESTRICT_KEYRING, restrict_keyring),
    (KEYCTL_MOVE, move_key),
    (KEYCTL_CAPABILITIES, capabilities),
];

/// Bytes of a page, the most of an update.
const PAGE: u64 = 4096;

/// The key `id` for which the caller has these permissions; a special keyring is made.
fn made(ctx: &mut Ctx, id: u64, need: u32, now: i64) -> Result<KeyRef, Errno> {
    ctx.kernel.key_ref(id as i32, true, Need::Permission(need), now)
}

/// The same of one that is there.
fn there(ctx: &mut Ctx, id: u64, need: u32, now: i64) -> Result<KeyRef, Errno> {
    ctx.kernel.key_ref(id as i32, false, Need::Permission(need), now)
}

/// KEYCTL_GET_KEYRING_ID.
fn get_keyring_id(ctx: &mut Ctx, [id, create, ..]: [u64; 4], now: i64) -> SysResult {
    let create = create as i32 != 0;
    let found = ctx.kernel.key_ref(id as i32, create, Need::Permission(KEY_NEED_SEARCH), now)?;
    Ok(found.serial.0 as u64)
}

/// KEYCTL_JOIN_SESSION_KEYRING.
fn join_session_keyring(ctx: &mut Ctx, [name, ..]: [u64; 4], _: i64) -> SysResult {
    if name == 0 {
        return Ok(ctx.kernel.new_session_keyring()?.0 as u64);
    }
    let name = description(ctx, name)?;
    if name.starts_with(b".") {
        return Err(Errno::EPERM.into());
    }
    if name.is_empty() {
        return Err(Errno::EINVAL.into());
    }
    Ok(ctx.kernel.join_session_keyring(&name)?.0 as u64)
}

/// KEYCTL_UPDATE.
fn update(ctx: &mut Ctx, [id, addr, len, _]: [u64; 4], now: i64) -> SysResult {
    let content = content(ctx, addr, len, PAGE)?;
    let key = there(ctx, id, KEY_NEED_WRITE, now)?;
    ctx.kernel.update_key(key.serial, content)?;
    Ok(0)
}

/// KEYCTL_REVOKE.
fn revoke(ctx: &mut Ctx, [id, ..]: [u64; 4], now: i64) -> SysResult {
    let key = match there(ctx, id, KEY_NEED_WRITE, now) {
        Err(Errno::EACCES) => there(ctx, id, KEY_NEED_SETATTR, now)?,
        found => found?,
    };
    ctx.kernel.revoke_key(key.serial, now)?;
    Ok(0)
}

/// KEYCTL_CHOWN.
fn chown(ctx: &mut Ctx, [id, uid, gid, _]: [u64; 4], now: i64) -> SysResult {
    const KEEP: u32 = u32::MAX;
    let namespace = ctx.kernel.task().cred.user_ns.clone();
    let wanted = |id: u32, map: &IdMap| match id {
        KEEP => Ok(None),
        id => map.kernel_id(id).map(Some).ok_or(Errno::EINVAL),
    };
    let (uid, gid) = (wanted(uid as u32, &namespace.uids)?, wanted(gid as u32, &namespace.gids)?);
    if uid.is_none() && gid.is_none() {
        return Ok(0);
    }
    let key = made(ctx, id, KEY_NEED_SETATTR, now)?;
    ctx.kernel.own_key(key.serial, uid, gid)?;
    Ok(0)
}

/// KEYCTL_SETPERM.
fn setperm(ctx: &mut Ctx, [id, perm, ..]: [u64; 4], now: i64) -> SysResult {
    const ALL: u32 = KEY_ALL << KEY_POS_SHIFT | KEY_ALL << KEY_USR_SHIFT | KEY_ALL << KEY_GRP_SHIFT | KEY_ALL;
    let perm = perm as u32;
    if perm & !ALL != 0 {
        return Err(Errno::EINVAL.into());
    }
    let key = made(ctx, id, KEY_NEED_SETATTR, now)?;
    ctx.kernel.set_key_permissions(key.serial, perm)?;
    Ok(0)
}

/// Gives bytes if the buffer has room for all; their number.
fn give(ctx: &mut Ctx, bytes: &[u8], buffer: u64, len: u64) -> SysResult {
    if buffer != 0 && len >= bytes.len() as u64 {
        copy_to_user(ctx.mem, buffer, bytes)?;
    }
    Ok(bytes.len() as u64)
}

/// KEYCTL_DESCRIBE.
fn describe(ctx: &mut Ctx, [id, buffer, len, _]: [u64; 4], now: i64) -> SysResult {
    let found = there(ctx, id, KEY_NEED_VIEW, now)?;
    let key = ctx.kernel.keys.get(found.serial).ok_or(Errno::ENOKEY)?;
    let namespace = &ctx.kernel.task().cred.user_ns;
    let uid = namespace.uids.shown(key.uid);
    let gid = namespace.gids.shown(key.gid.unwrap_or(u32::MAX));
    let head = format!("{};{};{};{:08x};", key.kind.name(), uid as i32, gid as i32, key.perm);
    let text = [head.as_bytes(), &key.description, b"\0"].concat();
    give(ctx, &text, buffer, len)
}

/// KEYCTL_CLEAR.
fn clear(ctx: &mut Ctx, [id, ..]: [u64; 4], now: i64) -> SysResult {
    let keyring = made(ctx, id, KEY_NEED_WRITE, now)?;
    ctx.kernel.clear_keyring(keyring.serial)?;
    Ok(0)
}

/// KEYCTL_LINK.
fn link(ctx: &mut Ctx, [id, keyring, ..]: [u64; 4], now: i64) -> SysResult {
    let keyring = made(ctx, keyring, KEY_NEED_WRITE, now)?;
    let key = made(ctx, id, KEY_NEED_LINK, now)?;
    ctx.kernel.link_key(keyring.serial, key.serial)?;
    Ok(0)
}

/// KEYCTL_UNLINK.
fn unlink(ctx: &mut Ctx, [id, keyring, ..]: [u64; 4], now: i64) -> SysResult {
    let keyring = there(ctx, keyring, KEY_NEED_WRITE, now)?;
    let key = ctx.kernel.key_ref(id as i32, false, Need::Unlink, now)?;
    ctx.kernel.unlink_key(keyring.serial, key.serial)?;
    Ok(0)
}

/// KEYCTL_SEARCH.
fn search(ctx: &mut Ctx, [keyring, kind, name, target]: [u64; 4], now: i64) -> SysResult {
    let kind = type_name(ctx, kind)?;
    let name = description(ctx, name)?;
    let root = there(ctx, keyring, KEY_NEED_SEARCH, now)?;
    let target = match target as i32 {
        0 => None,
        _ => Some(made(ctx, target, KEY_NEED_WRITE, now)?),
    };
    let search = Search::asked_for(&kind, &name, &ctx.kernel.task().cred, now)?;
    let found = Search::told(ctx.kernel.keys.search(root, &search))?;
    if let Some(target) = target {
        let key = ctx.kernel.keys.get(found.serial).ok_or(Errno::ENOKEY)?;
        if !key.allows(&ctx.kernel.task().cred, found.possessed, KEY_NEED_LINK) {
            return Err(Errno::EACCES.into());
        }
        ctx.kernel.link_key(target.serial, found.serial)?;
    }
    Ok(found.serial.0 as u64)
}

/// KEYCTL_READ: what may be read, and what the caller possesses.
fn read(ctx: &mut Ctx, [id, buffer, len, _]: [u64; 4], now: i64) -> SysResult {
    let found = ctx.kernel.key_ref(id as i32, false, Need::Deferred, now).map_err(|_| Errno::ENOKEY)?;
    let key = ctx.kernel.keys.get(found.serial).ok_or(Errno::ENOKEY)?;
    if !found.possessed && !key.allows(&ctx.kernel.task().cred, false, KEY_NEED_READ) {
        return Err(Errno::EACCES.into());
    }
    if !key.kind.is_readable() {
        return Err(Errno::EOPNOTSUPP.into());
    }
    key.validate(now)?;
    // Linux looks at the length of a buffer of up to a page alone.
    if key.kind == KeyType::Keyring && len <= PAGE && !len.is_multiple_of(4) {
        return Err(Errno::EINVAL.into());
    }
    let text = key.text();
    give(ctx, &text, buffer, len)
}

/// KEYCTL_INSTANTIATE and KEYCTL_INSTANTIATE_IOV: no task is ever asked to.
fn instantiate(_: &mut Ctx, [_, _, len, _]: [u64; 4], _: i64) -> SysResult {
    Err(if len > CONTENT_MAX { Errno::EINVAL } else { Errno::EPERM }.into())
}

/// KEYCTL_NEGATE.
fn negate(_: &mut Ctx, _: [u64; 4], _: i64) -> SysResult {
    Err(Errno::EPERM.into())
}

/// KEYCTL_REJECT.
fn reject(_: &mut Ctx, [_, _, errno, _]: [u64; 4], _: i64) -> SysResult {
    const MAX_ERRNO: u32 = 4095;
    // ERESTARTSYS and its like are the kernel's own.
    let good = (1..MAX_ERRNO).contains(&(errno as u32)) && !matches!(errno as u32, 512 | 513 | 514 | 516);
    Err(if good { Errno::EPERM } else { Errno::EINVAL }.into())
}

/// KEYCTL_SET_REQKEY_KEYRING: where keys would go that request_key(2) made.
fn set_reqkey_keyring(ctx: &mut Ctx, [default, ..]: [u64; 4], now: i64) -> SysResult {
    let default = default as i32;
    let before = ctx.kernel.task().keyrings.default;
    let ring = match default {
        KEY_REQKEY_DEFL_NO_CHANGE => return Ok(before as u64),
        KEY_REQKEY_DEFL_THREAD_KEYRING => Some(KEY_SPEC_THREAD_KEYRING),
        KEY_REQKEY_DEFL_PROCESS_KEYRING => Some(KEY_SPEC_PROCESS_KEYRING),
        0..=KEY_REQKEY_DEFL_USER_SESSION_KEYRING | KEY_REQKEY_DEFL_REQUESTOR_KEYRING => None,
        _ => return Err(Errno::EINVAL.into()),
    };
    if let Some(ring) = ring {
        ctx.kernel.key_ref(ring, true, Need::Deferred, now)?;
    }
    ctx.kernel.task_mut().keyrings.default = default;
    Ok(before as u64)
}

/// KEYCTL_SET_TIMEOUT.
fn set_timeout(ctx: &mut Ctx, [id, seconds, ..]: [u64; 4], now: i64) -> SysResult {
    let key = made(ctx, id, KEY_NEED_SETATTR, now)?;
    let seconds = i64::from(seconds as u32);
    let expires = (seconds > 0).then(|| now.saturating_add(seconds));
    ctx.kernel.set_key_end(key.serial, expires)?;
    Ok(0)
}

/// KEYCTL_ASSUME_AUTHORITY: there is never any to assume.
fn assume_authority(_: &mut Ctx, [id, ..]: [u64; 4], _: i64) -> SysResult {
    match id as i32 {
        0 => Ok(0),
        id if id < 0 => Err(Errno::EINVAL.into()),
        _ => Err(Errno::ENOKEY.into()),
    }
}

/// KEYCTL_GET_SECURITY: there are no labels.
fn get_security(ctx: &mut Ctx, [id, buffer, len, _]: [u64; 4], now: i64) -> SysResult {
    there(ctx, id, KEY_NEED_VIEW, now)?;
    give(ctx, b"\0", buffer, len)
}

/// KEYCTL_SESSION_TO_PARENT.
fn session_to_parent(ctx: &mut Ctx, _: [u64; 4], now: i64) -> SysResult {
    let session = there(ctx, KEY_SPEC_SESSION_KEYRING as u64, KEY_NEED_LINK, now)?;
    ctx.kernel.session_keyring_to_parent(session.serial)?;
    Ok(0)
}

/// KEYCTL_INVALIDATE.
fn invalidate(ctx: &mut Ctx, [id, ..]: [u64; 4], now: i64) -> SysResult {
    let key = there(ctx, id, KEY_NEED_SEARCH, now)?;
    ctx.kernel.invalidate_key(key.serial)?;
    Ok(0)
}

/// KEYCTL_GET_PERSISTENT.
fn get_persistent(ctx: &mut Ctx, [uid, keyring, ..]: [u64; 4], now: i64) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let uid = match uid as u32 {
        u32::MAX => cred.uid.real,
        uid => {
            let uid = cred.user_ns.uids.kernel_id(uid).ok_or(Errno::EINVAL)?;
            if uid != cred.uid.real && uid != cred.uid.effective {
                cred.require_here(CAP_SETUID)?;
            }
            uid
        }
    };
    let keyring = made(ctx, keyring, KEY_NEED_WRITE, now)?;
    Ok(ctx.kernel.persistent_keyring(uid, keyring.serial, now)?.0 as u64)
}

/// KEYCTL_RESTRICT_KEYRING, without a type: that nothing may be linked any more.
fn restrict_keyring(ctx: &mut Ctx, [id, kind, restriction, _]: [u64; 4], now: i64) -> SysResult {
    let key = there(ctx, id, KEY_NEED_SETATTR, now)?;
    if (kind == 0) != (restriction == 0) {
        return Err(Errno::EINVAL.into());
    }
    if kind != 0 {
        let kind = type_name(ctx, kind)?;
        description(ctx, restriction)?;
        let is_keyring = ctx.kernel.keys.get(key.serial).is_some_and(|key| key.kind == KeyType::Keyring);
        return Err(match KeyType::named(&kind) {
            _ if !is_keyring => Errno::ENOTDIR,
            Some(_) => Errno::ENOENT,
            None => Errno::ENOKEY,
        }
        .into());
    }
    ctx.kernel.restrict_keyring(key.serial)?;
    Ok(0)
}

/// KEYCTL_MOVE.
fn move_key(ctx: &mut Ctx, [id, from, to, flags]: [u64; 4], now: i64) -> SysResult {
    let flags = flags as u32;
    if flags & !KEYCTL_MOVE_EXCL != 0 {
        return Err(Errno::EINVAL.into());
    }
    let key = made(ctx, id, KEY_NEED_LINK, now)?;
    let from = there(ctx, from, KEY_NEED_WRITE, now)?;
    let to = made(ctx, to, KEY_NEED_WRITE, now)?;
    ctx.kernel.move_key(key.serial, from.serial, to.serial, flags != 0)?;
    Ok(0)
}

/// KEYCTL_CAPABILITIES.
fn capabilities(ctx: &mut Ctx, [buffer, len, ..]: [u64; 4], _: i64) -> SysResult {
    const ALL: [u8; 2] = [
        KEYCTL_CAPS0_CAPABILITIES
            | KEYCTL_CAPS0_PERSISTENT_KEYRINGS
            | KEYCTL_CAPS0_BIG_KEY
            | KEYCTL_CAPS0_INVALIDATE
            | KEYCTL_CAPS0_RESTRICT_KEYRING
            | KEYCTL_CAPS0_MOVE,
        KEYCTL_CAPS1_NS_KEYRING_NAME | KEYCTL_CAPS1_NS_KEY_TAG,
    ];
    let both = ALL.len().min(len as usize);
    copy_to_user(ctx.mem, buffer, &ALL[..both])?;
    let mut at = both as u64;
    // What is beyond is cleared, piece by piece up to where that is not possible.
    while at < len {
        let piece = [0; 4096];
        let size = piece.len().min((len - at) as usize);
        copy_to_user(ctx.mem, buffer.wrapping_add(at), &piece[..size])?;
        at += size as u64;
    }
    Ok(ALL.len() as u64)
}
