//! What has to hold between the numbers in the headers before anything is computed from them.

use crate::guest::{PAGE_SIZE, Prot, USER_END, page_down};
use crate::loader::elf::image::{ElfType, Segment};
use crate::loader::error::LoadError;

/// Each segment by itself, then against the others. `file_len` is the length of the file in bytes.
pub(super) fn segments(segments: &[Segment], file_len: u64) -> Result<(), LoadError> {
    if segments.iter().all(|s| s.mem_size == 0 && s.file_size == 0) {
        return Err(LoadError::NoLoad);
    }
    for (index, s) in segments.iter().enumerate() {
        let Segment { vaddr, offset, file_size, mem_size, .. } = *s;
        if file_size > mem_size {
            return Err(LoadError::FileLarger { index, file_size, mem_size });
        }
        if vaddr >= USER_END || mem_size > USER_END - vaddr {
            return Err(LoadError::Range { index, addr: vaddr, mem_size });
        }
        if file_size == 0 {
            continue;
        }
        if offset % PAGE_SIZE != vaddr % PAGE_SIZE {
            return Err(LoadError::Misaligned { index, offset, addr: vaddr });
        }
        // Bytes missing from the last page read as zero, so only a page without any is an error.
        let need = offset.saturating_add(file_size);
        if page_down(need - 1) >= file_len {
            return Err(LoadError::ShortSegment { index, need, len: file_len });
        }
    }
    overlap(segments)
}

/// Segments may share a page, where the later one is mapped over the earlier; they may not share a
/// byte.
fn overlap(segments: &[Segment]) -> Result<(), LoadError> {
    let mut order: Vec<(u64, u64, usize)> = segments
        .iter()
        .enumerate()
        .filter(|(_, s)| s.mem_size > 0)
        .map(|(index, s)| (s.vaddr, s.vaddr.saturating_add(s.mem_size), index))
        .collect();
    order.sort_unstable();
    for (left, right) in order.iter().zip(order.iter().skip(1)) {
        if right.0 < left.1 {
            let (first, second) = (left.2.min(right.2), left.2.max(right.2));
            return Err(LoadError::Overlap { first, second, addr: right.0 });
        }
    }
    Ok(())
}

/// The entry point. A `dynamic` program has an interpreter, which is what the kernel enters.
pub(super) fn entry(
    entry: u64,
    elf_type: ElfType,
    dynamic: bool,
    segments: &[Segment],
) -> Result<(), LoadError> {
    if entry >= USER_END {
        return Err(LoadError::Entry(entry));
    }
    // Code at 0 is code only if it is not the ELF header that lies there.
    let runs_at_0 = segments
        .iter()
        .any(|s| s.vaddr == 0 && s.file_size > 0 && s.prot.allows(Prot::EXEC) && s.offset != 0);
    if entry == 0 && elf_type == ElfType::Dyn && !dynamic && !runs_at_0 {
        return Err(LoadError::SharedLibrary);
    }
    Ok(())
}
