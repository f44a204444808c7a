//! Namespaces, namespaces(7): what a task sees of the machine that others need not see. `kind`
//! names the kinds, `user` has user namespaces with their maps of ids, `table` every namespace,
//! `ipcs` the System V objects of each, `mounts` changes of mounts, `pids` numbers of tasks, and
//! `enter` the ways into another: unshare(2), clone(2) and setns(2).

pub(crate) mod enter;
pub(crate) mod ipcs;
pub(crate) mod kind;
pub(crate) mod mounts;
pub(crate) mod pids;
pub(crate) mod table;
pub(crate) mod user;
