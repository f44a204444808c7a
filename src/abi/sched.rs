//! Numbers of the scheduling calls: sched(7), getpriority(2).
#![allow(missing_docs)]

pub(crate) const SCHED_OTHER: u32 = 0;
pub(crate) const SCHED_FIFO: u32 = 1;
pub(crate) const SCHED_RR: u32 = 2;
pub(crate) const SCHED_BATCH: u32 = 3;
pub(crate) const SCHED_IDLE: u32 = 5;
pub(crate) const SCHED_DEADLINE: u32 = 6;
pub(crate) const SCHED_EXT: u32 = 7;
/// Returns to SCHED_OTHER in children; may be set with any policy.
pub(crate) const SCHED_RESET_ON_FORK: u32 = 0x4000_0000;
/// Bytes of the first version of `struct sched_attr`, and of the present one.
pub(crate) const SCHED_ATTR_SIZE_VER0: u32 = 48;
pub(crate) const SCHED_ATTR_SIZE_VER1: u32 = 56;
pub(crate) const SCHED_FLAG_RESET_ON_FORK: u64 = 1;
pub(crate) const SCHED_FLAG_KEEP_POLICY: u64 = 8;
pub(crate) const SCHED_FLAG_KEEP_PARAMS: u64 = 16;
pub(crate) const SCHED_FLAG_UTIL_CLAMP: u64 = 0x60;
pub(crate) const SCHED_FLAG_ALL: u64 = 0x7f;
/// Highest priority of SCHED_FIFO and SCHED_RR.
pub(crate) const MAX_RT_PRIO: u32 = 99;

pub(crate) const PRIO_PROCESS: u32 = 0;
pub(crate) const PRIO_PGRP: u32 = 1;
pub(crate) const PRIO_USER: u32 = 2;
