//! Searches of a tree of keyrings, `security/keys/keyring.c`.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::key::KEY_NEED_SEARCH;
use crate::kernel::cred::Credentials;
use crate::kernel::keys::key::{Key, KeyType, Serial};
use crate::kernel::keys::table::Keys;

/// Deepest nesting that is searched, `KEYRING_SEARCH_MAX_DEPTH`.
const MAX_DEPTH: usize = 6;

/// A key, and whether the caller possesses it: it is in a keyring of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRef {
    pub(crate) serial: Serial,
    pub(crate) possessed: bool,
}

/// The key that is searched for, and the task that does.
pub(crate) struct Search<'a> {
    pub(crate) kind: KeyType,
    pub(crate) description: &'a [u8],
    /// This one and no other with the description.
    pub(crate) exact: Option<Serial>,
    pub(crate) cred: &'a Credentials,
    /// Second of CLOCK_REALTIME; keys that cannot be used any more are found with `None`.
    pub(crate) now: Option<i64>,
    /// Those that have expired are as if they were not there.
    pub(crate) skips_expired: bool,
}

impl<'a> Search<'a> {
    /// A search that a program asks for, for a key that can be used at the second `now`.
    ///
    /// # Errors
    /// ENOKEY: nobody has keys of such a type.
    pub(crate) fn asked_for(
        kind: &[u8],
        description: &'a [u8],
        cred: &'a Credentials,
        now: i64,
    ) -> Result<Search<'a>, Errno> {
        let kind = KeyType::named(kind).ok_or(Errno::ENOKEY)?;
        Ok(Search { kind, description, exact: None, cred, now: Some(now), skips_expired: false })
    }

    /// Result of a search as a program is told it: ENOKEY where nothing was found.
    pub(crate) fn told(found: Result<KeyRef, Errno>) -> Result<KeyRef, Errno> {
        found.map_err(|errno| if errno == Errno::EAGAIN { Errno::ENOKEY } else { errno })
    }
}

/// Walk through the keyrings.
struct Walk<'a> {
    search: &'a Search<'a>,
    possessed: bool,
    /// The answer so far.
    result: Result<Serial, Errno>,
    /// The least depth at which a keyring was looked through.
    visited: BTreeMap<Serial, usize>,
}

impl Walk<'_> {
    /// Looks at a key with the right type and description; true if it is the one.
    fn is_it(&mut self, serial: Serial, key: &Key) -> bool {
        let Search { exact, cred, now, skips_expired, .. } = *self.search;
        if let Some(now) = now {
            if key.invalidated || key.revoked.is_some() {
                self.result = Err(Errno::EKEYREVOKED);
                return false;
            }
            if key.has_expired(now) {
                if !skips_expired {
                    self.result = Err(Errno::EKEYEXPIRED);
                }
                return false;
            }
        }
        if exact.is_some_and(|exact| exact != serial) {
            return false;
        }
        if !key.allows(cred, self.possessed, KEY_NEED_SEARCH) {
            self.result = Err(Errno::EACCES);
            return false;
        }
        self.result = Ok(serial);
        true
    }

    fn descend(&mut self, keys: &Keys, keyring: &Key, serial: Serial, depth: usize) -> bool {
        if keyring.invalidated || keyring.revoked.is_some() {
            return false;
        }
        if self.visited.get(&serial).is_some_and(|before| *before <= depth) {
            return false;
        }
        self.visited.insert(serial, depth);
        let Some(links) = keyring.link_map() else { return false };
        let index = (self.search.kind, self.search.description.to_vec());
        if let Some((serial, key)) = links.get(&index).and_then(|serial| keys.entry(*serial))
            && self.is_it(serial, key)
        {
            return true;
        }
        if depth == MAX_DEPTH {
            return false;
        }
        let nested = links.range((KeyType::Keyring, Vec::new())..).map(|(_, serial)| *serial);
        nested.filter_map(|serial| keys.entry(serial)).any(|(serial, below)| {
            below.allows(self.search.cred, self.possessed, KEY_NEED_SEARCH)
                && self.descend(keys, below, serial, depth + 1)
        })
    }
}

impl Keys {
    /// Searches a keyring and those in it.
    ///
    /// # Errors
    /// EAGAIN if nothing was found, else what was wrong with what was; ENOTDIR, EACCES.
    pub(crate) fn search(&self, root: KeyRef, search: &Search<'_>) -> Result<KeyRef, Errno> {
        let keyring = self.get(root.serial).ok_or(Errno::ENOKEY)?;
        if keyring.kind != KeyType::Keyring {
            return Err(Errno::ENOTDIR);
        }
        if !keyring.allows(search.cred, root.possessed, KEY_NEED_SEARCH) {
            return Err(Errno::EACCES);
        }
        let possessed = root.possessed;
        let mut walk = Walk { search, possessed, result: Err(Errno::EAGAIN), visited: BTreeMap::new() };
        let is_like = search.kind == KeyType::Keyring && search.description == keyring.description;
        if is_like {
            // The keyring itself: what is wrong with it ends the search.
            let before = walk.result;
            if walk.is_it(root.serial, keyring) || walk.result != before {
                return walk.result.map(|serial| KeyRef { serial, possessed });
            }
        }
        walk.descend(self, keyring, root.serial, 0);
        walk.result.map(|serial| KeyRef { serial, possessed })
    }

    /// Checks that a key can be linked to a keyring without a circle, and without a nesting that
    /// would not be searched; EDEADLK, ELOOP.
    pub(super) fn check_cycle(&self, keyring: Serial, key: Serial) -> Result<(), Errno> {
        let mut level = vec![key];
        for _ in 0..=MAX_DEPTH {
            if level.contains(&keyring) {
                return Err(Errno::EDEADLK);
            }
            let nested = |serial: &Serial| {
                let links = self.get(*serial).and_then(Key::link_map);
                let rings = links.map(|links| links.range((KeyType::Keyring, Vec::new())..));
                rings.into_iter().flatten().map(|(_, serial)| *serial).collect::<Vec<_>>()
            };
            level = level.iter().flat_map(nested).collect();
            level.sort_unstable();
            level.dedup();
            if level.is_empty() {
                return Ok(());
            }
        }
        Err(Errno::ELOOP)
    }
}
