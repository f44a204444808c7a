//! A key, a keyring, and who may do what with it.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::key::{KEY_GRP_SHIFT, KEY_POS_SHIFT, KEY_USR_SHIFT};
use crate::kernel::cred::Credentials;

/// Seconds after which keyrings forget a key that was revoked or has expired, `key_gc_delay`.
const GC_DELAY: i64 = 300;
/// Most bytes of a `user` or `logon` key.
const USER_MAX: usize = 32_767;
/// Most bytes of a `big_key`, and what each counts against its user's quota.
const BIG_MAX: usize = 1 << 20;
const BIG_QUOTA: u64 = 16;
/// Bytes of a link that count against the quota, `KEYQUOTA_LINK_BYTES`.
pub(super) const LINK_QUOTA: u64 = 4;
/// Bytes that a key takes on the host beside its content, and a link.
const KEY_BYTES: u64 = 256;
const LINK_BYTES: u64 = 96;

/// The number of a key, `key_serial_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial(pub(crate) i32);

/// Keyrings of a task, `struct cred`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keyrings {
    pub(crate) thread: Option<Serial>,
    /// Threads have it that were made after it.
    pub(crate) process: Option<Serial>,
    /// Children and programs that are executed have it too.
    pub(crate) session: Option<Serial>,
    /// KEY_REQKEY_DEFL_*, KEYCTL_SET_REQKEY_KEYRING.
    pub(crate) default: i32,
}

impl Keyrings {
    /// Those of a process that a task makes.
    pub(super) fn of_child(self) -> Keyrings {
        Keyrings { thread: None, process: None, ..self }
    }

    pub(in crate::kernel) fn all(self) -> impl Iterator<Item = Serial> {
        [self.thread, self.process, self.session].into_iter().flatten()
    }
}

/// A type of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyType {
    /// Bytes that may be read.
    User,
    /// Bytes that may not.
    Logon,
    /// Many bytes.
    BigKey,
    /// Links to keys.
    Keyring,
}

impl KeyType {
    /// The type of a name.
    pub(crate) fn named(name: &[u8]) -> Option<KeyType> {
        let all = [KeyType::User, KeyType::Logon, KeyType::BigKey, KeyType::Keyring];
        all.into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            KeyType::User => "user",
            KeyType::Logon => "logon",
            KeyType::BigKey => "big_key",
            KeyType::Keyring => "keyring",
        }
    }

    /// Tells if programs may read such keys.
    pub(crate) fn is_readable(self) -> bool {
        self != KeyType::Logon
    }

    /// Tells if such keys may get another content.
    pub(crate) fn is_updatable(self) -> bool {
        self != KeyType::Keyring
    }

    /// Checks the content of a new key; EINVAL.
    pub(super) fn check_content(self, content: &[u8]) -> Result<(), Errno> {
        let most = match self {
            KeyType::User | KeyType::Logon => USER_MAX,
            KeyType::BigKey => BIG_MAX,
            KeyType::Keyring => return if content.is_empty() { Ok(()) } else { Err(Errno::EINVAL) },
        };
        if (1..=most).contains(&content.len()) { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Checks a description, which for `logon` keys names a service before a colon; EINVAL.
    pub(super) fn check_description(self, description: &[u8]) -> Result<(), Errno> {
        let service = description.iter().position(|byte| *byte == b':');
        let good = self != KeyType::Logon || service.is_some_and(|at| at > 0);
        if good && !description.is_empty() { Ok(()) } else { Err(Errno::EINVAL) }
    }
}

/// Content of a key.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Bytes.
    Payload(Vec<u8>),
    /// Keys by type and description; another of the same takes the place of one.
    Links(BTreeMap<(KeyType, Vec<u8>), Serial>),
}

/// A key.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) kind: KeyType,
    pub(crate) description: Vec<u8>,
    /// Its owner, whose quota it counts against.
    pub(crate) uid: u32,
    /// Its group, if it has one.
    pub(crate) gid: Option<u32>,
    /// KEY_POS_*, KEY_USR_*, KEY_GRP_*, KEY_OTH_*.
    pub(crate) perm: u32,
    pub(super) content: Content,
    /// Second of CLOCK_REALTIME from which on it has expired.
    pub(crate) expires: Option<i64>,
    /// Second at which it was revoked.
    pub(crate) revoked: Option<i64>,
    pub(crate) invalidated: bool,
    /// It counts against the quota.
    pub(crate) in_quota: bool,
    /// No further key may be linked to it, KEYCTL_RESTRICT_KEYRING.
    pub(super) restricted: bool,
}

impl Key {
    /// Checks that it can be used, `key_validate`; ENOKEY, EKEYREVOKED, EKEYEXPIRED.
    pub(crate) fn validate(&self, now: i64) -> Result<(), Errno> {
        if self.invalidated {
            Err(Errno::ENOKEY)
        } else if self.revoked.is_some() {
            Err(Errno::EKEYREVOKED)
        } else if self.has_expired(now) {
            Err(Errno::EKEYEXPIRED)
        } else {
            Ok(())
        }
    }

    /// Tells if its time is over.
    pub(super) fn has_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|at| now >= at)
    }

    /// Second from which on keyrings forget it.
    pub(super) fn forgotten_at(&self) -> Option<i64> {
        let gone = self.revoked.into_iter().chain(self.expires).map(|at| at.saturating_add(GC_DELAY));
        if self.invalidated { Some(0) } else { gone.min() }
    }

    /// Tells if keyrings forget it by now.
    pub(super) fn is_forgotten(&self, now: i64) -> bool {
        self.forgotten_at().is_some_and(|at| now >= at)
    }

    /// Tells if a task may do what needs these permissions, `key_task_permission`.
    pub(crate) fn allows(&self, cred: &Credentials, possessed: bool, need: u32) -> bool {
        let group = self.gid.is_some_and(|gid| cred.gid.fs == gid || cred.groups.contains(&gid));
        let mut granted = if self.uid == cred.uid.fs {
            self.perm >> KEY_USR_SHIFT
        } else if group && self.perm >> KEY_GRP_SHIFT & 0x3f != 0 {
            self.perm >> KEY_GRP_SHIFT
        } else {
            self.perm
        };
        if possessed {
            granted |= self.perm >> KEY_POS_SHIFT;
        }
        granted & need == need
    }

    /// Its keys, if it is a keyring.
    pub(crate) fn links(&self) -> impl Iterator<Item = Serial> {
        self.link_map().into_iter().flat_map(|links| links.values().copied())
    }

    /// Its keys by type and description, if it is a keyring.
    pub(super) fn link_map(&self) -> Option<&BTreeMap<(KeyType, Vec<u8>), Serial>> {
        match &self.content {
            Content::Links(links) => Some(links),
            Content::Payload(_) => None,
        }
    }

    /// Bytes that KEYCTL_READ gives.
    pub(crate) fn text(&self) -> Vec<u8> {
        match &self.content {
            Content::Payload(bytes) => bytes.clone(),
            Content::Links(links) => links.values().flat_map(|serial| serial.0.to_le_bytes()).collect(),
        }
    }

    /// Its line in `/proc/keys`, behind the type.
    pub(crate) fn described(&self) -> Vec<u8> {
        let rest = match &self.content {
            _ if self.revoked.is_some() => String::new(),
            Content::Payload(bytes) if self.kind == KeyType::BigKey => format!(": {} [buff]", bytes.len()),
            Content::Payload(bytes) => format!(": {}", bytes.len()),
            Content::Links(links) if links.is_empty() => ": empty".to_owned(),
            Content::Links(links) => format!(": {}", links.len()),
        };
        [&self.description[..], rest.as_bytes()].concat()
    }

    /// Bytes that count against the quota of its owner.
    pub(super) fn quota(&self) -> u64 {
        let content = match &self.content {
            Content::Payload(bytes) if bytes.is_empty() => 0,
            Content::Payload(_) if self.kind == KeyType::BigKey => BIG_QUOTA,
            Content::Payload(bytes) => bytes.len() as u64,
            Content::Links(links) => links.len() as u64 * LINK_QUOTA,
        };
        self.description.len() as u64 + 1 + content
    }

    /// Bytes that it takes on the host.
    pub(super) fn bytes(&self) -> u64 {
        let content = match &self.content {
            Content::Payload(bytes) => bytes.len() as u64,
            Content::Links(links) => {
                links.keys().map(|(_, description)| LINK_BYTES + description.len() as u64).sum()
            }
        };
        KEY_BYTES + self.description.len() as u64 + content
    }
}
