//! Every namespace: its kind, the user namespace that it belongs to, and the names of machines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::namespace::user::UserNamespace;
use crate::kernel::uts::Names;

/// Number of the first namespace that a program makes, as Linux counts inodes without a device.
const FIRST_MADE: u32 = 0xf000_0002;
/// Most namespaces of a kind at a time, `/proc/sys/user/max_*_namespaces`.
pub(crate) const MOST: usize = 1024;

/// The namespaces beside the machine's first ones.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceTable {
    made: BTreeMap<NsId, (Kind, Arc<UserNamespace>)>,
    /// User namespaces with the maps that they have now.
    users: BTreeMap<NsId, Arc<UserNamespace>>,
    first: Arc<UserNamespace>,
    /// Names of the machine, the UTS namespaces.
    names: BTreeMap<NsId, Names>,
    last: u32,
}

impl NamespaceTable {
    /// The table of a machine that has just begun, with its first user namespace.
    pub(crate) fn new(first: &Arc<UserNamespace>) -> NamespaceTable {
        let names = BTreeMap::from([(Kind::Uts.first(), Names::default())]);
        let (made, users) = (BTreeMap::new(), BTreeMap::new());
        NamespaceTable { made, users, first: first.clone(), names, last: FIRST_MADE - 1 }
    }

    /// The user namespace that a namespace belongs to; of a user namespace, its parent.
    pub(crate) fn owner(&self, id: NsId) -> &Arc<UserNamespace> {
        self.made.get(&id).map_or(&self.first, |(_, owner)| owner)
    }

    /// A user namespace as it is now.
    pub(crate) fn user(&self, id: NsId) -> &Arc<UserNamespace> {
        self.users.get(&id).unwrap_or(&self.first)
    }

    /// Adds a namespace; ENOSPC.
    pub(crate) fn add(&mut self, kind: Kind, owner: &Arc<UserNamespace>) -> Result<NsId, Errno> {
        if self.made.values().filter(|(other, _)| *other == kind).count() >= MOST {
            return Err(Errno::ENOSPC);
        }
        self.last += 1;
        let id = NsId(self.last);
        self.made.insert(id, (kind, owner.clone()));
        Ok(id)
    }

    /// Notes a user namespace, or the maps that it has now.
    pub(crate) fn set_user(&mut self, namespace: Arc<UserNamespace>) {
        self.users.insert(namespace.id, namespace);
    }

    /// The names of the machine in a namespace.
    pub(crate) fn names(&self, id: NsId) -> &Names {
        self.names.get(&id).unwrap_or(&self.names[&Kind::Uts.first()])
    }

    /// The same to be changed.
    pub(crate) fn names_mut(&mut self, id: NsId) -> &mut Names {
        self.names.entry(id).or_default()
    }

    /// Forgets the namespaces that are not `used`, but those that `keeps` wants; gives them.
    pub(crate) fn collect(
        &mut self,
        used: &BTreeSet<NsId>,
        mut keeps: impl FnMut(Kind, NsId) -> bool,
    ) -> Vec<(Kind, NsId)> {
        let mut used = used.clone();
        let mut gone = Vec::new();
        self.made.retain(|id, (kind, owner)| {
            let user = *kind == Kind::User;
            let kept = user || used.contains(id) || keeps(*kind, *id);
            if kept && !user {
                used.insert(owner.id);
            }
            if !kept {
                gone.push((*kind, *id));
            }
            kept
        });
        // Those above one that is used are used.
        let users: Vec<Arc<UserNamespace>> = self.users.values().cloned().collect();
        let kept: Vec<&Arc<UserNamespace>> = users.iter().filter(|held| used.contains(&held.id)).collect();
        for held in kept {
            let above = std::iter::successors(held.parent.as_ref(), |above| above.parent.as_ref());
            used.extend(above.map(|above| above.id));
        }
        for held in users.iter().filter(|held| !used.contains(&held.id)) {
            self.made.remove(&held.id);
            self.users.remove(&held.id);
            gone.push((Kind::User, held.id));
        }
        for (_, id) in &gone {
            self.names.remove(id);
        }
        gone
    }
}
