//! From segments to mappings, page by page as the kernel's `elf_load` makes them.

use crate::abi::mm::MMAP_MIN_ADDR;
use crate::guest::{PAGE_SIZE, Prot, USER_END, page_down};
use crate::loader::elf::image::{Image, Segment, page_end};
use crate::loader::error::LoadError;

/// Contents of a mapping of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapSource {
    /// A private view of the program's file from `offset`, a multiple of the page size.
    File {
        /// Offset in the file.
        offset: u64,
    },
    /// Zeroed memory.
    Anonymous,
}

/// One mapping to make, private and at exactly this address (MAP_FIXED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadMapping {
    /// First address, a multiple of the page size.
    pub addr: u64,
    /// Bytes, a multiple of the page size and not 0.
    pub len: u64,
    /// Permissions.
    pub prot: Prot,
    /// Contents.
    pub source: MapSource,
    /// Addresses to clear once it is mapped, from the first to before the second: what the file has
    /// after the segment in its last page. Never empty.
    pub zero: Option<(u64, u64)>,
}

impl Image {
    /// The mappings that load the image with `bias` (see [`Image::bias_at`]; rounded down to a
    /// page), to be made in this order: where segments share a page the later one has it. Fails if
    /// a segment comes to lie outside of what a program may map.
    pub fn plan(&self, bias: u64) -> Result<Vec<LoadMapping>, LoadError> {
        let bias = page_down(bias);
        let mut mappings = Vec::new();
        for (index, segment) in self.segments.iter().enumerate() {
            let addr = segment.vaddr.wrapping_add(bias);
            if addr >= USER_END || segment.mem_size > USER_END - addr {
                return Err(LoadError::Range { index, addr, mem_size: segment.mem_size });
            }
            if page_down(addr) < MMAP_MIN_ADDR && segment.mem_size > 0 {
                return Err(LoadError::TooLow { index, addr: page_down(addr) });
            }
            plan_segment(segment, addr, &mut mappings);
        }
        Ok(mappings)
    }
}

fn plan_segment(segment: &Segment, addr: u64, mappings: &mut Vec<LoadMapping>) {
    let start = page_down(addr);
    let file_end = addr.saturating_add(segment.file_size);
    let mut mapped_to = start;
    if segment.file_size > 0 {
        mapped_to = page_end(file_end);
        // The kernel tries to clear the tail in every case; in a page it cannot write it fails and
        // goes on.
        let tail = segment.mem_size > segment.file_size && file_end < mapped_to;
        mappings.push(LoadMapping {
            addr: start,
            len: mapped_to - start,
            prot: segment.prot,
            source: MapSource::File { offset: segment.offset - segment.offset % PAGE_SIZE },
            zero: (tail && segment.prot.allows(Prot::WRITE)).then_some((file_end, mapped_to)),
        });
    }
    let end = page_end(addr.saturating_add(segment.mem_size));
    if segment.mem_size > segment.file_size && end > mapped_to {
        // vm_brk_flags gives data permissions whatever the segment asks; only execution is asked
        // for.
        let exec = if segment.prot.allows(Prot::EXEC) { Prot::EXEC } else { Prot::NONE };
        mappings.push(LoadMapping {
            addr: mapped_to,
            len: end - mapped_to,
            prot: Prot::RW.with(exec),
            source: MapSource::Anonymous,
            zero: None,
        });
    }
}
