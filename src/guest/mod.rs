//! The emulated machine as kernel, loader and client requests see it: registers, memory and faults
//! of the running task, and the layout of its address space. The engine implements these traits;
//! tests implement them with plain values.

mod cpu;
#[cfg(test)]
pub(crate) mod fake;
mod fault;
pub mod layout;
mod memory;
mod page;

pub use cpu::{Gpr, GuestCpu};
pub use fault::Fault;
pub use layout::Layout;
pub use memory::{
    Backing, FileId, FileVersion, GuestMemory, MapRequest, MappedBytes, Mapping, MemError, MemoryUsage,
    ObjectId, PageSource, Place, PoolId, Prot, Remap, SpaceId, UserfaultId, VmFlags, between, within,
};
pub use page::{PAGE_SIZE, USER_END, page_down, page_up};
