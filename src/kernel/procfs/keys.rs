//! Texts of `/proc/keys` and `/proc/key-users`.

use std::collections::BTreeMap;

use crate::abi::key::KEY_NEED_VIEW;
use crate::kernel::keys::key::{Key, Serial};
use crate::kernel::keys::table::{KeyUser, Keys};
use crate::kernel::state::Kernel;

/// Time that a key has left, `proc_keys_show`.
fn time_left(key: &Key, now: i64) -> String {
    const UNITS: [(i64, i64, char); 5] = [
        (60, 1, 's'),
        (3600, 60, 'm'),
        (86_400, 3600, 'h'),
        (604_800, 86_400, 'd'),
        (i64::MAX, 604_800, 'w'),
    ];
    let Some(left) = key.expires.map(|at| at.saturating_sub(now)) else { return "perm".into() };
    if left <= 0 {
        return "expd".into();
    }
    let unit = UNITS.iter().find(|(below, ..)| left < *below);
    unit.map_or_else(String::new, |(_, each, letter)| format!("{}{letter}", left / each))
}

impl Kernel {
    /// `/proc/keys`: the keys that the reader may see.
    pub(super) fn proc_keys(&mut self, now: i64) -> Vec<u8> {
        self.collect_keys(now);
        let mut users: BTreeMap<Serial, usize> = BTreeMap::new();
        let of_tasks = self.tasks.iter().flat_map(|(_, task)| task.keyrings.all());
        for serial in self.keys.iter().flat_map(|(_, key)| key.links()).chain(of_tasks) {
            *users.entry(serial).or_default() += 1;
        }
        let cred = &self.task().cred;
        let mut text = Vec::new();
        for (serial, key) in self.keys.iter() {
            if !key.allows(cred, self.possesses(serial, key), KEY_NEED_VIEW) {
                continue;
            }
            let flag = |set: bool, letter: char| if set { letter } else { '-' };
            let head = format!(
                "{:08x} I{}-{}--{} {:5} {:>4} {:08x} {:5} {:5} {:<9.9} ",
                serial.0,
                flag(key.revoked.is_some(), 'R'),
                flag(key.in_quota, 'Q'),
                flag(key.invalidated, 'i'),
                users.get(&serial).copied().unwrap_or_default() + 1,
                time_left(key, now),
                key.perm,
                cred.user_ns.uids.shown(key.uid),
                cred.user_ns.gids.shown(key.gid.unwrap_or(u32::MAX)),
                key.kind.name(),
            );
            text.extend_from_slice(head.as_bytes());
            text.extend_from_slice(&key.described());
            text.push(b'\n');
        }
        text
    }

    /// `/proc/key-users`.
    pub(super) fn proc_key_users(&mut self, now: i64) -> String {
        self.collect_keys(now);
        let line = |(uid, user): (u32, KeyUser)| {
            let (most, most_bytes) = Keys::limits(uid);
            let (keys, counted, bytes) = (user.keys, user.counted, user.bytes);
            format!("{uid:5}: {:5} {keys}/{keys} {counted}/{most} {bytes}/{most_bytes}\n", keys + 1,)
        };
        self.keys.users().map(line).collect()
    }
}
