//! Kinds of namespaces, and those that a task is in.

use crate::abi::process::*;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Cgroup,
    Ipc,
    Mnt,
    Net,
    Pid,
    Time,
    User,
    Uts,
}

impl Kind {
    /// Its name in `/proc/PID/ns`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Cgroup => "cgroup",
            Kind::Ipc => "ipc",
            Kind::Mnt => "mnt",
            Kind::Net => "net",
            Kind::Pid => "pid",
            Kind::Time => "time",
            Kind::User => "user",
            Kind::Uts => "uts",
        }
    }

    /// Its flag of clone(2).
    pub(crate) fn flag(self) -> u64 {
        match self {
            Kind::Cgroup => CLONE_NEWCGROUP,
            Kind::Ipc => CLONE_NEWIPC,
            Kind::Mnt => CLONE_NEWNS,
            Kind::Net => CLONE_NEWNET,
            Kind::Pid => CLONE_NEWPID,
            Kind::Time => CLONE_NEWTIME,
            Kind::User => CLONE_NEWUSER,
            Kind::Uts => CLONE_NEWUTS,
        }
    }

    /// The machine's first namespace of the kind: the inode number that Linux gives it.
    pub(crate) const fn first(self) -> NsId {
        NsId(match self {
            Kind::Time => 0xefff_fffa,
            Kind::Cgroup => 0xefff_fffb,
            Kind::Pid => 0xefff_fffc,
            Kind::User => 0xefff_fffd,
            Kind::Uts => 0xefff_fffe,
            Kind::Ipc => 0xefff_ffff,
            Kind::Net => 0xf000_0000,
            Kind::Mnt => 0xf000_0001,
        })
    }
}

/// A namespace, by the inode number that its link in `/proc/PID/ns` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NsId(pub(crate) u32);

/// Links of `/proc/PID/ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NsLink {
    /// The namespace that the task is in.
    Own(Kind),
    /// The one that its children begin in; of the kinds that a task cannot change itself.
    OfChildren(Kind),
}

impl NsLink {
    /// The kind that it leads to.
    pub(crate) fn kind(self) -> Kind {
        match self {
            NsLink::Own(kind) | NsLink::OfChildren(kind) => kind,
        }
    }
}

/// The namespaces of a task but its user namespace, which its credentials name, `struct nsproxy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces {
    pub(crate) cgroup: NsId,
    pub(crate) ipc: NsId,
    pub(crate) mnt: NsId,
    pub(crate) net: NsId,
    pub(crate) pid: NsId,
    pub(crate) pid_of_children: NsId,
    pub(crate) time: NsId,
    pub(crate) time_of_children: NsId,
    pub(crate) uts: NsId,
}

impl Namespaces {
    /// Those of the machine's first task.
    pub(crate) const FIRST: Namespaces = Namespaces {
        cgroup: Kind::Cgroup.first(),
        ipc: Kind::Ipc.first(),
        mnt: Kind::Mnt.first(),
        net: Kind::Net.first(),
        pid: Kind::Pid.first(),
        pid_of_children: Kind::Pid.first(),
        time: Kind::Time.first(),
        time_of_children: Kind::Time.first(),
        uts: Kind::Uts.first(),
    };

    /// All of them.
    pub(crate) fn all(&self) -> [NsId; 9] {
        let Namespaces { cgroup, ipc, mnt, net, pid, pid_of_children, time, time_of_children, uts } = *self;
        [cgroup, ipc, mnt, net, pid, pid_of_children, time, time_of_children, uts]
    }

    /// The one that a link leads to; none for the user's.
    pub(crate) fn get(&self, link: NsLink) -> Option<NsId> {
        Some(match link {
            NsLink::OfChildren(Kind::Pid) => self.pid_of_children,
            NsLink::OfChildren(Kind::Time) => self.time_of_children,
            NsLink::Own(kind) | NsLink::OfChildren(kind) => match kind {
                Kind::Cgroup => self.cgroup,
                Kind::Ipc => self.ipc,
                Kind::Mnt => self.mnt,
                Kind::Net => self.net,
                Kind::Pid => self.pid,
                Kind::Time => self.time,
                Kind::Uts => self.uts,
                Kind::User => return None,
            },
        })
    }

    /// Those that a child begins in.
    pub(crate) fn of_child(self) -> Namespaces {
        Namespaces { pid: self.pid_of_children, time: self.time_of_children, ..self }
    }

    /// Takes another namespace: the own one, but of the kinds that only children begin in.
    pub(crate) fn set(&mut self, kind: Kind, id: NsId) {
        match kind {
            Kind::Cgroup => self.cgroup = id,
            Kind::Ipc => self.ipc = id,
            Kind::Mnt => self.mnt = id,
            Kind::Net => self.net = id,
            Kind::Pid => self.pid_of_children = id,
            Kind::Time => self.time_of_children = id,
            Kind::Uts => self.uts = id,
            Kind::User => {}
        }
    }
}
