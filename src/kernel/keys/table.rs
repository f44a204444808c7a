//! All keys of the machine, and what they take of their users' quotas.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::errno::Errno;
use crate::abi::key::{KEY_ALL, KEY_NEED_LINK, KEY_NEED_READ, KEY_POS_SHIFT, KEY_USR_SHIFT};
use crate::abi::key::{KEY_NEED_SEARCH, KEY_NEED_SETATTR, KEY_NEED_VIEW, KEY_NEED_WRITE};
use crate::kernel::keys::key::{Content, Key, KeyType, LINK_QUOTA, Serial};
use crate::kernel::namespace::kind::NsId;
use crate::kernel::random::Random;

/// Most keys and bytes of a user, and of root: `/proc/sys/kernel/keys`.
pub(crate) const MAX_KEYS: u64 = 200;
pub(crate) const MAX_BYTES: u64 = 20_000;
pub(crate) const ROOT_MAX_KEYS: u64 = 1_000_000;
pub(crate) const ROOT_MAX_BYTES: u64 = 25_000_000;

/// Tells the stream of serial numbers apart from others with the same seed.
const SERIAL_STREAM: u64 = 0x6b65_7973;

/// Keys and bytes of a user.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyUser {
    /// All keys.
    pub(crate) keys: u64,
    /// Those that count against the quota, and their bytes.
    pub(crate) counted: u64,
    pub(crate) bytes: u64,
}

/// Way in which a new key counts against its owner's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quota {
    /// It must have room.
    Within,
    /// It has always.
    Overrun,
    /// It does not count.
    Outside,
}

/// Keyrings that every user has, by namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserKeyrings {
    pub(super) user: Serial,
    pub(super) session: Serial,
}

/// All keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    keys: BTreeMap<Serial, Key>,
    /// Keyrings in the order in which they were made.
    named: BTreeMap<u64, Serial>,
    made: u64,
    users: BTreeMap<u32, KeyUser>,
    pub(super) user_keyrings: BTreeMap<(NsId, u32), UserKeyrings>,
    pub(super) persistent: BTreeMap<(NsId, u32), Serial>,
    serials: Random,
    /// Something may be left that nobody refers to.
    pub(super) stale: bool,
    /// Second at which keyrings forget the next key.
    next: Option<i64>,
    /// Bytes that all take on the host.
    bytes: u64,
}

impl Keys {
    /// No keys; the seed decides their numbers.
    pub(crate) fn new(seed: u64) -> Keys {
        Keys {
            keys: BTreeMap::new(),
            named: BTreeMap::new(),
            made: 0,
            users: BTreeMap::new(),
            user_keyrings: BTreeMap::new(),
            persistent: BTreeMap::new(),
            serials: Random::new(seed ^ SERIAL_STREAM),
            stale: false,
            next: None,
            bytes: 0,
        }
    }

    /// Tells if there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes that they take on the host.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A key.
    pub(crate) fn get(&self, serial: Serial) -> Option<&Key> {
        self.keys.get(&serial)
    }

    /// A key with its number.
    pub(super) fn entry(&self, serial: Serial) -> Option<(Serial, &Key)> {
        self.keys.get(&serial).map(|key| (serial, key))
    }

    /// All keys by rising number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Serial, &Key)> {
        self.keys.iter().map(|(serial, key)| (*serial, key))
    }

    /// Users that have keys.
    pub(crate) fn users(&self) -> impl Iterator<Item = (u32, KeyUser)> {
        self.users.iter().map(|(uid, user)| (*uid, *user)).filter(|(_, user)| user.keys > 0)
    }

    /// Keyrings in the order in which they were made.
    pub(super) fn keyrings(&self) -> impl Iterator<Item = (Serial, &Key)> {
        self.named.values().filter_map(|serial| self.entry(*serial))
    }

    /// Most keys and bytes of a user.
    pub(crate) fn limits(uid: u32) -> (u64, u64) {
        if uid == 0 { (ROOT_MAX_KEYS, ROOT_MAX_BYTES) } else { (MAX_KEYS, MAX_BYTES) }
    }

    /// Tells if keys are to be dropped by now.
    pub(super) fn is_due(&self, now: i64) -> bool {
        self.stale || self.next.is_some_and(|at| now >= at)
    }

    /// Changes a key, and what it takes, whether there is room for it or not; ENOKEY.
    pub(super) fn change<T>(
        &mut self,
        serial: Serial,
        change: impl FnOnce(&mut Key) -> T,
    ) -> Result<T, Errno> {
        let key = self.keys.get_mut(&serial).ok_or(Errno::ENOKEY)?;
        let (quota, bytes) = (key.quota(), key.bytes());
        let result = change(key);
        self.next = self.next.into_iter().chain(key.forgotten_at()).min();
        if key.in_quota {
            let user = self.users.entry(key.uid).or_default();
            user.bytes = (user.bytes + key.quota()).saturating_sub(quota);
        }
        self.bytes = (self.bytes + key.bytes()).saturating_sub(bytes);
        Ok(result)
    }

    /// Tells if a user may have so many keys and bytes more.
    pub(super) fn has_room(&self, uid: u32, keys: u64, bytes: u64) -> Result<(), Errno> {
        let user = self.users.get(&uid).copied().unwrap_or_default();
        let (most_keys, most_bytes) = Keys::limits(uid);
        let fits = user.counted + keys <= most_keys && user.bytes + bytes <= most_bytes;
        if fits { Ok(()) } else { Err(Errno::EDQUOT) }
    }

    /// Adds a key; EDQUOT.
    pub(super) fn add(&mut self, key: Key, quota: Quota) -> Result<Serial, Errno> {
        let (uid, size) = (key.uid, key.quota());
        if quota == Quota::Within {
            self.has_room(uid, 1, size)?;
        }
        let user = self.users.entry(uid).or_default();
        user.keys += 1;
        if quota != Quota::Outside {
            (user.counted, user.bytes) = (user.counted + 1, user.bytes + size);
        }
        let serial = loop {
            // As Linux, which leaves 0 to 2 out.
            let serial = Serial(self.serials.below(0x7fff_fffd) as i32 + 3);
            if !self.keys.contains_key(&serial) {
                break serial;
            }
        };
        self.made += 1;
        if key.kind == KeyType::Keyring {
            self.named.insert(self.made, serial);
        }
        self.bytes += key.bytes();
        self.keys.insert(serial, Key { in_quota: quota != Quota::Outside, ..key });
        Ok(serial)
    }

    /// Adds an empty keyring; EDQUOT.
    pub(super) fn add_keyring(
        &mut self,
        description: &[u8],
        owner: (u32, Option<u32>),
        perm: u32,
        quota: Quota,
    ) -> Result<Serial, Errno> {
        let mut key = fresh(KeyType::Keyring, description, owner, perm);
        key.content = Content::Links(BTreeMap::new());
        self.add(key, quota)
    }

    /// Takes a key out, which nothing refers to.
    fn remove(&mut self, serial: Serial) {
        let Some(key) = self.keys.remove(&serial) else { return };
        self.bytes = self.bytes.saturating_sub(key.bytes());
        if let Some(user) = self.users.get_mut(&key.uid) {
            user.keys -= 1;
            if key.in_quota {
                (user.counted, user.bytes) =
                    (user.counted.saturating_sub(1), user.bytes.saturating_sub(key.quota()));
            }
        }
    }

    /// Gives a key to another user, with what it takes; EDQUOT.
    pub(super) fn give(&mut self, serial: Serial, uid: u32) -> Result<(), Errno> {
        let key = self.keys.get(&serial).ok_or(Errno::ENOKEY)?;
        let (from, size, counts) = (key.uid, key.quota(), key.in_quota);
        if from == uid {
            return Ok(());
        }
        if counts {
            self.has_room(uid, 1, size)?;
        }
        let add = if counts { (1, size) } else { (0, 0) };
        let to = self.users.entry(uid).or_default();
        (to.keys, to.counted, to.bytes) = (to.keys + 1, to.counted + add.0, to.bytes + add.1);
        if let Some(user) = self.users.get_mut(&from) {
            user.keys -= 1;
            user.counted = user.counted.saturating_sub(add.0);
            user.bytes = user.bytes.saturating_sub(add.1);
        }
        if let Some(key) = self.keys.get_mut(&serial) {
            key.uid = uid;
        }
        Ok(())
    }

    /// Links a key to a keyring, in the place of another of its type and description.
    ///
    /// # Errors
    /// ENOTDIR, EDQUOT; EPERM where nothing may be linked any more; EDEADLK, ELOOP.
    pub(super) fn link(&mut self, keyring: Serial, key: Serial) -> Result<(), Errno> {
        let linked = self.get(key).ok_or(Errno::ENOKEY)?;
        let index = (linked.kind, linked.description.clone());
        let is_keyring = linked.kind == KeyType::Keyring;
        self.may_link(keyring, &index)?;
        if self.get(keyring).is_some_and(|ring| ring.restricted) {
            return Err(Errno::EPERM);
        }
        if is_keyring {
            self.check_cycle(keyring, key)?;
        }
        let before = self.change(keyring, |ring| match &mut ring.content {
            Content::Links(links) => links.insert(index, key),
            Content::Payload(_) => None,
        })?;
        self.stale |= before.is_some();
        Ok(())
    }

    /// Checks that a keyring has room for a key of this type and description; ENOTDIR, EDQUOT.
    pub(super) fn may_link(&self, keyring: Serial, index: &(KeyType, Vec<u8>)) -> Result<(), Errno> {
        let ring = self.get(keyring).ok_or(Errno::ENOKEY)?;
        let links = ring.link_map().ok_or(Errno::ENOTDIR)?;
        if ring.in_quota && !links.contains_key(index) {
            self.has_room(ring.uid, 0, LINK_QUOTA)?;
        }
        Ok(())
    }

    /// Removes a link of a keyring; ENOTDIR, ENOENT.
    pub(super) fn unlink(&mut self, keyring: Serial, key: Serial) -> Result<(), Errno> {
        let ring = self.get(keyring).ok_or(Errno::ENOKEY)?;
        let links = ring.link_map().ok_or(Errno::ENOTDIR)?;
        let linked = self.get(key).ok_or(Errno::ENOENT)?;
        let index = (linked.kind, linked.description.clone());
        if links.get(&index) != Some(&key) {
            return Err(Errno::ENOENT);
        }
        self.change(keyring, |ring| {
            if let Content::Links(links) = &mut ring.content {
                links.remove(&index);
            }
        })?;
        self.stale = true;
        Ok(())
    }

    /// Empties a key.
    pub(super) fn clear(&mut self, serial: Serial) -> Result<(), Errno> {
        self.stale = true;
        self.change(serial, |key| match &mut key.content {
            Content::Links(links) => links.clear(),
            Content::Payload(bytes) => *bytes = Vec::new(),
        })
    }

    /// Forgets what is too old, and drops what nothing of `roots` leads to.
    pub(super) fn collect(&mut self, now: i64, roots: impl Iterator<Item = Serial>) {
        self.stale = false;
        let old: BTreeSet<Serial> =
            self.keys.iter().filter(|(_, key)| key.is_forgotten(now)).map(|(serial, _)| *serial).collect();
        if !old.is_empty() {
            let is_holder = |key: &Key| key.links().any(|serial| old.contains(&serial));
            let holders: Vec<Serial> =
                self.keys.iter().filter(|(_, key)| is_holder(key)).map(|(serial, _)| *serial).collect();
            for holder in holders {
                let _ = self.change(holder, |key| {
                    if let Content::Links(links) = &mut key.content {
                        links.retain(|_, serial| !old.contains(serial));
                    }
                }); // it is there
            }
        }
        let of_users = self.user_keyrings.values().flat_map(|rings| [rings.user, rings.session]);
        let mut todo: Vec<Serial> = roots.chain(of_users).chain(self.persistent.values().copied()).collect();
        let mut reached = BTreeSet::new();
        while let Some(serial) = todo.pop() {
            if reached.insert(serial) {
                todo.extend(self.get(serial).into_iter().flat_map(Key::links));
            }
        }
        let gone: Vec<Serial> =
            self.keys.keys().filter(|serial| !reached.contains(serial)).copied().collect();
        for serial in gone {
            self.remove(serial);
        }
        let keys = &self.keys;
        self.next = keys.values().filter_map(Key::forgotten_at).min();
        self.named.retain(|_, serial| keys.contains_key(serial));
        self.persistent.retain(|_, serial| keys.contains_key(serial));
    }
}

/// A key without content.
pub(super) fn fresh(kind: KeyType, description: &[u8], owner: (u32, Option<u32>), perm: u32) -> Key {
    Key {
        kind,
        description: description.to_vec(),
        uid: owner.0,
        gid: owner.1,
        perm,
        content: Content::Payload(Vec::new()),
        expires: None,
        revoked: None,
        invalidated: false,
        in_quota: true,
        restricted: false,
    }
}

/// Permissions of keys of add_key(2): all of whoever possesses them that their type has, and
/// viewing of the owner.
pub(super) fn usual_permissions(kind: KeyType) -> u32 {
    let mut possessor = KEY_NEED_VIEW | KEY_NEED_WRITE | KEY_NEED_SEARCH | KEY_NEED_LINK | KEY_NEED_SETATTR;
    if kind.is_readable() {
        possessor |= KEY_NEED_READ;
    }
    possessor << KEY_POS_SHIFT | KEY_NEED_VIEW << KEY_USR_SHIFT
}

/// Permissions of keyrings that the kernel makes: these of the owner, all of whoever possesses
/// them.
pub(super) fn keyring_permissions(owner: u32) -> u32 {
    KEY_ALL << KEY_POS_SHIFT | owner << KEY_USR_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: (u32, Option<u32>) = (1000, Some(1000));

    fn key(keys: &mut Keys, name: &str, content: &[u8]) -> Result<Serial, Errno> {
        let fresh = fresh(KeyType::User, name.as_bytes(), OWNER, 0);
        keys.add(Key { content: Content::Payload(content.to_vec()), ..fresh }, Quota::Within)
    }

    fn counted(keys: &Keys) -> (u64, u64, u64) {
        keys.users().next().map_or((0, 0, 0), |(_, user)| (user.keys, user.counted, user.bytes))
    }

    #[test]
    fn what_nothing_leads_to_is_dropped_with_what_it_took() {
        let mut keys = Keys::new(0);
        let ring = keys.add_keyring(b"ring", OWNER, 0, Quota::Overrun).expect("room");
        let inner = keys.add_keyring(b"inner", OWNER, 0, Quota::Within).expect("room");
        let small = key(&mut keys, "small", b"abc").expect("room");
        for (keyring, linked) in [(ring, inner), (inner, small)] {
            assert_eq!(keys.link(keyring, linked), Ok(()));
        }
        assert_eq!(
            (keys.link(inner, ring), keys.link(small, ring)),
            (Err(Errno::EDEADLK), Err(Errno::ENOTDIR))
        );
        assert_eq!(counted(&keys), (3, 3, 5 + 6 + 6 + 3 + 2 * LINK_QUOTA));
        keys.collect(0, [ring].into_iter());
        assert_eq!(counted(&keys).0, 3);
        assert_eq!(keys.unlink(ring, inner), Ok(()));
        assert!(keys.is_due(0));
        keys.collect(0, [ring].into_iter());
        assert_eq!((counted(&keys), keys.get(small).is_none()), ((1, 1, 5), true));
        keys.collect(0, std::iter::empty());
        assert!(keys.is_empty() && keys.bytes() == 0 && keys.named.is_empty());
    }

    #[test]
    fn users_have_quotas() {
        let mut keys = Keys::new(0);
        let large = key(&mut keys, "large", &[0; 19_000]).expect("room");
        assert_eq!(key(&mut keys, "more", &[0; 1000]), Err(Errno::EDQUOT));
        assert_eq!(keys.give(large, 0), Ok(()));
        for number in 0..MAX_KEYS {
            assert!(key(&mut keys, &number.to_string(), b"x").is_ok());
        }
        assert_eq!(key(&mut keys, "last", b"x"), Err(Errno::EDQUOT));
    }

    #[test]
    fn keyrings_forget_revoked_keys_after_a_while() {
        let mut keys = Keys::new(0);
        let ring = keys.add_keyring(b"ring", OWNER, 0, Quota::Within).expect("room");
        let old = key(&mut keys, "old", b"x").expect("room");
        assert_eq!(keys.link(ring, old), Ok(()));
        assert_eq!(keys.change(old, |key| key.revoked = Some(1000)), Ok(()));
        assert!(!keys.is_due(1299) && keys.is_due(1300));
        keys.collect(1300, [ring].into_iter());
        assert!(keys.get(old).is_none() && keys.get(ring).is_some_and(|ring| ring.links().next().is_none()));
    }
}
