//! Keys, keyctl(2): `linux/keyctl.h` and `linux/key.h`.

/// KEY_SPEC_*, the special keyrings of a task.
pub(crate) const KEY_SPEC_THREAD_KEYRING: i32 = -1;
pub(crate) const KEY_SPEC_PROCESS_KEYRING: i32 = -2;
pub(crate) const KEY_SPEC_SESSION_KEYRING: i32 = -3;
pub(crate) const KEY_SPEC_USER_KEYRING: i32 = -4;
pub(crate) const KEY_SPEC_USER_SESSION_KEYRING: i32 = -5;
pub(crate) const KEY_SPEC_REQKEY_AUTH_KEY: i32 = -7;
pub(crate) const KEY_SPEC_REQUESTOR_KEYRING: i32 = -8;

/// KEY_REQKEY_DEFL_*, places for keys that request_key(2) makes.
pub(crate) const KEY_REQKEY_DEFL_NO_CHANGE: i32 = -1;
pub(crate) const KEY_REQKEY_DEFL_THREAD_KEYRING: i32 = 1;
pub(crate) const KEY_REQKEY_DEFL_PROCESS_KEYRING: i32 = 2;
pub(crate) const KEY_REQKEY_DEFL_USER_SESSION_KEYRING: i32 = 5;
pub(crate) const KEY_REQKEY_DEFL_REQUESTOR_KEYRING: i32 = 7;

/// Permissions, as those of whoever possesses a key; further down in the word come those of the
/// user, the group and others.
pub(crate) const KEY_NEED_VIEW: u32 = 0x01;
pub(crate) const KEY_NEED_READ: u32 = 0x02;
pub(crate) const KEY_NEED_WRITE: u32 = 0x04;
pub(crate) const KEY_NEED_SEARCH: u32 = 0x08;
pub(crate) const KEY_NEED_LINK: u32 = 0x10;
pub(crate) const KEY_NEED_SETATTR: u32 = 0x20;
pub(crate) const KEY_ALL: u32 = 0x3f;
pub(crate) const KEY_POS_SHIFT: u32 = 24;
pub(crate) const KEY_USR_SHIFT: u32 = 16;
pub(crate) const KEY_GRP_SHIFT: u32 = 8;

/// Commands of keyctl(2).
pub(crate) const KEYCTL_GET_KEYRING_ID: u32 = 0;
pub(crate) const KEYCTL_JOIN_SESSION_KEYRING: u32 = 1;
pub(crate) const KEYCTL_UPDATE: u32 = 2;
pub(crate) const KEYCTL_REVOKE: u32 = 3;
pub(crate) const KEYCTL_CHOWN: u32 = 4;
pub(crate) const KEYCTL_SETPERM: u32 = 5;
pub(crate) const KEYCTL_DESCRIBE: u32 = 6;
pub(crate) const KEYCTL_CLEAR: u32 = 7;
pub(crate) const KEYCTL_LINK: u32 = 8;
pub(crate) const KEYCTL_UNLINK: u32 = 9;
pub(crate) const KEYCTL_SEARCH: u32 = 10;
pub(crate) const KEYCTL_READ: u32 = 11;
pub(crate) const KEYCTL_INSTANTIATE: u32 = 12;
pub(crate) const KEYCTL_NEGATE: u32 = 13;
pub(crate) const KEYCTL_SET_REQKEY_KEYRING: u32 = 14;
pub(crate) const KEYCTL_SET_TIMEOUT: u32 = 15;
pub(crate) const KEYCTL_ASSUME_AUTHORITY: u32 = 16;
pub(crate) const KEYCTL_GET_SECURITY: u32 = 17;
pub(crate) const KEYCTL_SESSION_TO_PARENT: u32 = 18;
pub(crate) const KEYCTL_REJECT: u32 = 19;
pub(crate) const KEYCTL_INSTANTIATE_IOV: u32 = 20;
pub(crate) const KEYCTL_INVALIDATE: u32 = 21;
pub(crate) const KEYCTL_GET_PERSISTENT: u32 = 22;
pub(crate) const KEYCTL_RESTRICT_KEYRING: u32 = 29;
pub(crate) const KEYCTL_MOVE: u32 = 30;
pub(crate) const KEYCTL_CAPABILITIES: u32 = 31;

/// A flag of KEYCTL_MOVE.
pub(crate) const KEYCTL_MOVE_EXCL: u32 = 1;

/// Bits of the answer of KEYCTL_CAPABILITIES.
pub(crate) const KEYCTL_CAPS0_CAPABILITIES: u8 = 0x01;
pub(crate) const KEYCTL_CAPS0_PERSISTENT_KEYRINGS: u8 = 0x02;
pub(crate) const KEYCTL_CAPS0_BIG_KEY: u8 = 0x10;
pub(crate) const KEYCTL_CAPS0_INVALIDATE: u8 = 0x20;
pub(crate) const KEYCTL_CAPS0_RESTRICT_KEYRING: u8 = 0x40;
pub(crate) const KEYCTL_CAPS0_MOVE: u8 = 0x80;
pub(crate) const KEYCTL_CAPS1_NS_KEYRING_NAME: u8 = 0x01;
pub(crate) const KEYCTL_CAPS1_NS_KEY_TAG: u8 = 0x02;
