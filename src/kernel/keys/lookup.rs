//! Keys as calls name them, `security/keys/process_keys.c`, and the verbs of keyctl(2).

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::key::*;
use crate::kernel::arena::TaskId;
use crate::kernel::cred::Ids;
use crate::kernel::keys::key::{Content, Key, KeyType, Serial};
use crate::kernel::keys::search::{KeyRef, Search};
use crate::kernel::keys::table::{Quota, UserKeyrings, fresh, keyring_permissions, usual_permissions};
use crate::kernel::state::Kernel;

/// Permissions of the keyrings of a user: the owner may do all with it, and nobody change it.
const USER_KEYRING: u32 = (KEY_ALL & !KEY_NEED_SETATTR) << KEY_POS_SHIFT | KEY_ALL << KEY_USR_SHIFT;
/// Permissions of the keyring that outlives a user's processes.
const PERSISTENT: u32 =
    (KEY_ALL & !KEY_NEED_SETATTR) << KEY_POS_SHIFT | (KEY_NEED_VIEW | KEY_NEED_READ) << KEY_USR_SHIFT;
/// Seconds for which it does, `persistent_keyring_expiry`.
const PERSISTENT_EXPIRY: i64 = 259_200;

/// Permissions that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// These permissions, KEY_NEED_*.
    Permission(u32),
    /// Only its number, to remove links to it.
    Unlink,
    /// The call checks by itself.
    Deferred,
}

impl Kernel {
    /// The keyrings of the running task's user in its namespace, which are made when they are first
    /// asked for; EDQUOT.
    fn user_keyrings(&mut self) -> Result<UserKeyrings, Errno> {
        let cred = &self.task().cred;
        let (namespace, uid) = (cred.user_ns.id, cred.uid.real);
        if let Some(known) = self.keys.user_keyrings.get(&(namespace, uid)) {
            return Ok(*known);
        }
        let shown = cred.user_ns.uids.shown(uid);
        let owner = (uid, None);
        let name = format!("_uid.{shown}");
        let user = self.keys.add_keyring(name.as_bytes(), owner, USER_KEYRING, Quota::Within)?;
        let name = format!("_uid_ses.{shown}");
        let session = self.keys.add_keyring(name.as_bytes(), owner, USER_KEYRING, Quota::Within);
        let linked = session.and_then(|session| self.keys.link(session, user).map(|()| session));
        self.keys.stale |= linked.is_err();
        let found = UserKeyrings { user, session: linked? };
        self.keys.user_keyrings.insert((namespace, uid), found);
        Ok(found)
    }

    /// Searches the keyrings of the running task, `search_cred_keyrings_rcu`; EAGAIN if there is
    /// nothing.
    pub(crate) fn search_own_keyrings(&self, search: &Search<'_>) -> Result<KeyRef, Errno> {
        let keyrings = self.task().keyrings;
        let cred = &self.task().cred;
        let of_user = self.keys.user_keyrings.get(&(cred.user_ns.id, cred.uid.real));
        let session = keyrings.session.or(of_user.map(|rings| rings.session));
        // A keyring without the key counts for more than one in which it is of no use any more.
        let (mut nothing, mut error) = (false, Errno::EAGAIN);
        for serial in [keyrings.thread, keyrings.process, session].into_iter().flatten() {
            match self.keys.search(KeyRef { serial, possessed: true }, search) {
                Ok(found) => return Ok(found),
                Err(Errno::EAGAIN) => nothing = true,
                Err(errno) => error = errno,
            }
        }
        Err(if nothing { Errno::EAGAIN } else { error })
    }

    /// Tells if the running task possesses a key.
    pub(in crate::kernel) fn possesses(&self, serial: Serial, key: &Key) -> bool {
        let search = Search {
            kind: key.kind,
            description: &key.description,
            exact: Some(serial),
            cred: &self.task().cred,
            now: None,
            skips_expired: false,
        };
        self.search_own_keyrings(&search).is_ok()
    }

    /// The key that a call names, by its number or as a special keyring, which `create` makes;
    /// `lookup_user_key`.
    ///
    /// # Errors
    /// EINVAL, ENOKEY, EKEYREVOKED, EKEYEXPIRED, EACCES, EDQUOT.
    pub(crate) fn key_ref(&mut self, id: i32, create: bool, need: Need, now: i64) -> Result<KeyRef, Errno> {
        let special = |serial: Option<Serial>| {
            serial.map(|serial| KeyRef { serial, possessed: true }).ok_or(Errno::ENOKEY)
        };
        let found = match id {
            KEY_SPEC_THREAD_KEYRING => {
                if create {
                    self.install_thread_keyring()?;
                }
                special(self.task().keyrings.thread)?
            }
            KEY_SPEC_PROCESS_KEYRING => {
                if create {
                    self.install_process_keyring()?;
                }
                special(self.task().keyrings.process)?
            }
            KEY_SPEC_SESSION_KEYRING => {
                let of_user = match self.task().keyrings.session {
                    None => Some(self.user_keyrings()?.session),
                    Some(_) => None,
                };
                let is_users =
                    |session: Serial| self.keys.user_keyrings.values().any(|rings| rings.session == session);
                let shared = self.task().keyrings.session.is_none_or(is_users);
                if create && shared {
                    self.new_session_keyring()?;
                } else if let Some(session) = of_user {
                    self.set_session_keyring(self.current(), session);
                }
                special(self.task().keyrings.session)?
            }
            KEY_SPEC_USER_KEYRING => special(Some(self.user_keyrings()?.user))?,
            KEY_SPEC_USER_SESSION_KEYRING => special(Some(self.user_keyrings()?.session))?,
            KEY_SPEC_REQKEY_AUTH_KEY | KEY_SPEC_REQUESTOR_KEYRING => return Err(Errno::ENOKEY),
            id if id < 1 => return Err(Errno::EINVAL),
            id => {
                let serial = Serial(id);
                let key = self.keys.get(serial).ok_or(Errno::ENOKEY)?;
                KeyRef { serial, possessed: self.possesses(serial, key) }
            }
        };
        if let Need::Permission(need) = need {
            let key = self.keys.get(found.serial).ok_or(Errno::ENOKEY)?;
            key.validate(now)?;
            if !key.allows(&self.task().cred, found.possessed, need) {
                return Err(Errno::EACCES);
            }
        }
        Ok(found)
    }

    /// Adds a key to a keyring, or gives the one of its description there this content, add_key(2).
    ///
    /// # Errors
    /// ENOTDIR, EINVAL, EACCES, EDQUOT, EPERM.
    pub(crate) fn add_key(
        &mut self,
        keyring: KeyRef,
        kind: KeyType,
        description: &[u8],
        content: Vec<u8>,
    ) -> Result<Serial, Errno> {
        let ring = self.keys.get(keyring.serial).ok_or(Errno::ENOKEY)?;
        let links = ring.link_map().ok_or(Errno::ENOTDIR)?;
        kind.check_content(&content)?;
        if description.is_empty() {
            return Err(Errno::EINVAL);
        }
        let index = (kind, description.to_vec());
        let there = links.get(&index).copied();
        self.keys.may_link(keyring.serial, &index)?;
        if self.keys.get(keyring.serial).is_some_and(|ring| ring.restricted) {
            return Err(Errno::EPERM);
        }
        let there = there.filter(|serial| {
            let usable = |key: &Key| !key.invalidated && key.revoked.is_none();
            kind.is_updatable() && self.keys.get(*serial).is_some_and(usable)
        });
        if let Some(serial) = there {
            let known = self.keys.get(serial).ok_or(Errno::ENOKEY)?;
            if !known.allows(&self.task().cred, keyring.possessed, KEY_NEED_WRITE) {
                return Err(Errno::EACCES);
            }
            self.update_key(serial, content)?;
            return Ok(serial);
        }
        kind.check_description(description)?;
        let cred = &self.task().cred;
        let owner = (cred.uid.fs, Some(cred.gid.fs));
        let perm = usual_permissions(kind);
        let serial = if kind == KeyType::Keyring {
            self.keys.add_keyring(description, owner, perm, Quota::Within)?
        } else {
            let content = Content::Payload(content);
            self.keys.add(Key { content, ..fresh(kind, description, owner, perm) }, Quota::Within)?
        };
        let linked = self.keys.link(keyring.serial, serial);
        self.keys.stale |= linked.is_err();
        linked.map(|()| serial)
    }

    /// Gives a key another content, and no end; EOPNOTSUPP, EINVAL, EDQUOT.
    pub(crate) fn update_key(&mut self, serial: Serial, content: Vec<u8>) -> Result<(), Errno> {
        let key = self.keys.get(serial).ok_or(Errno::ENOKEY)?;
        if !key.kind.is_updatable() {
            return Err(Errno::EOPNOTSUPP);
        }
        key.kind.check_content(&content)?;
        let next =
            Key { content: Content::Payload(content), ..fresh(key.kind, &key.description, (0, None), 0) };
        let grown = next.quota().saturating_sub(key.quota());
        if key.in_quota && grown > 0 {
            self.keys.has_room(key.uid, 0, grown)?;
        }
        self.keys.change(serial, |key| {
            key.content = next.content;
            key.expires = None;
        })
    }

    /// Revokes a key, and drops its content.
    pub(crate) fn revoke_key(&mut self, serial: Serial, now: i64) -> Result<(), Errno> {
        self.keys.change(serial, |key| {
            key.revoked.get_or_insert(now);
        })?;
        self.keys.clear(serial)
    }

    /// Empties a keyring; ENOTDIR.
    pub(crate) fn clear_keyring(&mut self, serial: Serial) -> Result<(), Errno> {
        let is_keyring = self.keys.get(serial).is_some_and(|key| key.kind == KeyType::Keyring);
        if is_keyring { self.keys.clear(serial) } else { Err(Errno::ENOTDIR) }
    }

    /// Links a key to a keyring; ENOTDIR, EPERM, EDEADLK, ELOOP, EDQUOT.
    pub(crate) fn link_key(&mut self, keyring: Serial, key: Serial) -> Result<(), Errno> {
        self.keys.link(keyring, key)
    }

    /// Removes a link of a keyring; ENOTDIR, ENOENT.
    pub(crate) fn unlink_key(&mut self, keyring: Serial, key: Serial) -> Result<(), Errno> {
        self.keys.unlink(keyring, key)
    }

    /// Moves a link from a keyring to another, with `exclusive` only if there is no such key;
    /// ENOTDIR, ENOENT, EEXIST, and as `link_key`.
    pub(crate) fn move_key(
        &mut self,
        key: Serial,
        from: Serial,
        to: Serial,
        exclusive: bool,
    ) -> Result<(), Errno> {
        if from == to {
            return Ok(());
        }
        let moved = self.keys.get(key).ok_or(Errno::ENOKEY)?;
        let index = (moved.kind, moved.description.clone());
        let links = |serial| self.keys.get(serial).and_then(Key::link_map).ok_or(Errno::ENOTDIR);
        let (source, target) = (links(from)?, links(to)?);
        if source.get(&index) != Some(&key) {
            return Err(Errno::ENOENT);
        }
        if exclusive && target.contains_key(&index) {
            return Err(Errno::EEXIST);
        }
        self.keys.link(to, key)?;
        self.keys.unlink(from, key)
    }

    /// Changes owner and group of a key; EACCES, EDQUOT.
    pub(crate) fn own_key(
        &mut self,
        serial: Serial,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(), Errno> {
        let key = self.keys.get(serial).ok_or(Errno::ENOKEY)?;
        let cred = &self.task().cred;
        let other_user = uid.is_some_and(|uid| uid != key.uid);
        let other_group = gid.is_some_and(|gid| key.gid != Some(gid) && !cred.in_group(gid));
        if (other_user || other_group) && !cred.capable(CAP_SYS_ADMIN) {
            return Err(Errno::EACCES);
        }
        if let Some(uid) = uid {
            self.keys.give(serial, uid)?;
        }
        match gid {
            Some(gid) => self.keys.change(serial, |key| key.gid = Some(gid)),
            None => Ok(()),
        }
    }

    /// Changes the permissions of a key; EACCES.
    pub(crate) fn set_key_permissions(&mut self, serial: Serial, perm: u32) -> Result<(), Errno> {
        let cred = &self.task().cred;
        let own = self.keys.get(serial).is_some_and(|key| key.uid == cred.uid.fs);
        if !own && !cred.capable(CAP_SYS_ADMIN) {
            return Err(Errno::EACCES);
        }
        self.keys.change(serial, |key| key.perm = perm)
    }

    /// Gives a key an end, or none.
    pub(crate) fn set_key_end(&mut self, serial: Serial, expires: Option<i64>) -> Result<(), Errno> {
        self.keys.change(serial, |key| key.expires = expires)
    }

    /// Makes a key useless at once.
    pub(crate) fn invalidate_key(&mut self, serial: Serial) -> Result<(), Errno> {
        self.keys.change(serial, |key| key.invalidated = true)?;
        self.keys.stale = true;
        Ok(())
    }

    /// Lets nothing be linked to a keyring any more; ENOTDIR, EEXIST.
    pub(crate) fn restrict_keyring(&mut self, serial: Serial) -> Result<(), Errno> {
        let key = self.keys.get(serial).ok_or(Errno::ENOKEY)?;
        match (key.kind, key.restricted) {
            (KeyType::Keyring, false) => self.keys.change(serial, |key| key.restricted = true),
            (KeyType::Keyring, true) => Err(Errno::EEXIST),
            _ => Err(Errno::ENOTDIR),
        }
    }

    /// Makes a keyring with a name the session keyring of the running task, an old one or a new
    /// one; EDQUOT.
    pub(crate) fn join_session_keyring(&mut self, name: &[u8]) -> Result<Serial, Errno> {
        let cred = &self.task().cred;
        let fits = |(_, key): &(Serial, &Key)| {
            let known = cred.user_ns.uids.id(key.uid).is_some();
            known
                && key.revoked.is_none()
                && key.description == name
                && key.allows(cred, false, KEY_NEED_SEARCH)
        };
        let found = self.keys.keyrings().find(fits).map(|(serial, _)| serial);
        let owner = (cred.uid.real, Some(cred.gid.real));
        let serial = match found {
            Some(serial) if self.task().keyrings.session == Some(serial) => return Ok(Serial(0)),
            Some(serial) => serial,
            None => {
                let perm = keyring_permissions(KEY_NEED_VIEW | KEY_NEED_READ | KEY_NEED_LINK);
                self.keys.add_keyring(name, owner, perm, Quota::Within)?
            }
        };
        self.set_session_keyring(self.current(), serial);
        Ok(serial)
    }

    /// Links the keyring of a user that outlives his processes to a keyring; ENOTDIR, EACCES,
    /// EDQUOT.
    pub(crate) fn persistent_keyring(
        &mut self,
        uid: u32,
        keyring: Serial,
        now: i64,
    ) -> Result<Serial, Errno> {
        let cred = &self.task().cred;
        let (namespace, shown) = (cred.user_ns.id, cred.user_ns.uids.shown(uid));
        if self.keys.get(keyring).is_some_and(|key| key.kind != KeyType::Keyring) {
            return Err(Errno::ENOTDIR);
        }
        let known = self.keys.persistent.get(&(namespace, uid)).copied();
        let valid = |serial: &Serial| self.keys.get(*serial).is_some_and(|key| key.validate(now).is_ok());
        let serial = match known.filter(valid) {
            Some(serial) => serial,
            None => {
                let name = format!("_persistent.{shown}");
                let serial =
                    self.keys.add_keyring(name.as_bytes(), (uid, None), PERSISTENT, Quota::Outside)?;
                self.keys.persistent.insert((namespace, uid), serial);
                serial
            }
        };
        let allowed = |key: &Key| key.allows(&self.task().cred, true, KEY_NEED_LINK);
        if !self.keys.get(serial).is_some_and(allowed) {
            return Err(Errno::EACCES);
        }
        self.keys.link(keyring, serial)?;
        self.set_key_end(serial, Some(now.saturating_add(PERSISTENT_EXPIRY)))?;
        Ok(serial)
    }

    /// Gives the parent of the running task's process the session keyring of the task; EPERM.
    pub(crate) fn session_keyring_to_parent(&mut self, session: Serial) -> Result<(), Errno> {
        let parent = self.process().parent.ok_or(Errno::EPERM)?;
        let [task]: [TaskId; 1] =
            self.other_process(parent).tasks[..].try_into().map_err(|_| Errno::EPERM)?;
        let (own, theirs) = (self.task(), self.other_task(task));
        if theirs.keyrings.session == own.keyrings.session {
            return Ok(());
        }
        let (uid, gid) = (own.cred.uid.effective, own.cred.gid.effective);
        let all = |ids: Ids, id: u32| [ids.real, ids.effective, ids.saved] == [id; 3];
        let owner = |serial: Serial| self.keys.get(serial).map(|key| key.uid);
        let owners = theirs.keyrings.session.into_iter().chain([session]);
        let same = all(theirs.cred.uid, uid) && all(theirs.cred.gid, gid);
        if !same || !owners.map(owner).all(|owner| owner == Some(uid)) {
            return Err(Errno::EPERM);
        }
        self.set_session_keyring(task, session);
        Ok(())
    }
}
