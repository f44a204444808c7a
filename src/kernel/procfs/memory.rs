//! Texts about the memory of a process.

use crate::guest::{GuestMemory, Mapping, PAGE_SIZE, Prot, VmFlags};

/// Mappings that a part of a text is about.
const PART: usize = 512;

/// The part of a text that begins with the mapping behind an address, and the address of the next.
pub(super) fn part(
    from: u64,
    mem: &dyn GuestMemory,
    entry: fn(&Mapping, &dyn GuestMemory) -> String,
) -> (Vec<u8>, Option<u64>) {
    let (mut text, mut at) = (Vec::new(), from);
    for _ in 0..PART {
        let Some(map) = mem.next_mapping(at) else { return (text, None) };
        text.extend(entry(&map, mem).into_bytes());
        at = map.end;
    }
    (text, Some(at))
}

/// A mapping in `/proc/PID/maps`.
pub(super) fn maps(map: &Mapping, _mem: &dyn GuestMemory) -> String {
    line(map)
}

/// Its line, as `show_map_vma` prints it.
fn line(map: &Mapping) -> String {
    let bit = |prot: Prot, letter| if map.prot.allows(prot) { letter } else { '-' };
    // Shared memory without a file of the program's is a file of the kernel's.
    let nobodys = map.file.is_none() && map.shared && map.label.is_none();
    let none = if nobodys { (1, 1) } else { (0, 0) };
    let (dev, inode) = map.file.as_ref().map_or(none, |file| (file.device, file.inode));
    let line = format!(
        "{:08x}-{:08x} {}{}{}{} {:08x} {:02x}:{:02x} {inode} ",
        map.start,
        map.end,
        bit(Prot::READ, 'r'),
        bit(Prot::WRITE, 'w'),
        bit(Prot::EXEC, 'x'),
        if map.shared { 's' } else { 'p' },
        map.offset,
        dev >> 8,
        dev & 0xff
    );
    let named = map.name.as_ref().map(|name| match map.shared {
        true => format!("[anon_shmem:{name}]"),
        false => format!("[anon:{name}]"),
    });
    let path = map.file.as_ref().map(|file| &*file.path);
    let zero = if nobodys { "/dev/zero (deleted)" } else { "" };
    let name = path.or(map.label).or(named.as_deref()).unwrap_or(zero);
    if name.is_empty() { format!("{line}\n") } else { format!("{line:<73}{}\n", name.replace('\n', "\\012")) }
}

/// Bytes of the mappings that are meant.
pub(super) fn bytes(mappings: &[Mapping], which: impl Fn(&Mapping) -> bool) -> u64 {
    mappings.iter().filter(|map| which(map)).map(|map| map.end - map.start).sum()
}

/// Numbers of a mapping, in bytes, as `/proc/PID/smaps` has them.
#[derive(Clone, Copy, Default)]
struct Usage {
    resident: u64,
    anonymous: u64,
    shmem: u64,
    shared: u64,
    locked: u64,
}

impl Usage {
    /// The touched pages of a mapping. Pages of files that may be stored to count as changed.
    fn of(map: &Mapping, mem: &dyn GuestMemory) -> Usage {
        let resident = mem.present_pages(map.start, map.end).len() as u64 * PAGE_SIZE;
        let anonymous = map.is_anonymous() || !map.shared && map.prot.allows(Prot::WRITE);
        let only = |wanted: bool| if wanted { resident } else { 0 };
        Usage {
            resident,
            anonymous: only(anonymous),
            shmem: only(map.shared && map.file.is_none()),
            shared: only(map.shared),
            locked: only(map.is_locked()),
        }
    }

    fn add(self, other: Usage) -> Usage {
        Usage {
            resident: self.resident + other.resident,
            anonymous: self.anonymous + other.anonymous,
            shmem: self.shmem + other.shmem,
            shared: self.shared + other.shared,
            locked: self.locked + other.locked,
        }
    }

    /// Adds the rows to `text`; `rollup` has some more, and a shared page counts for its one
    /// process alone.
    fn rows(self, rollup: bool, text: &mut String) {
        let dirty = self.anonymous + self.shmem;
        let clean = self.resident - dirty;
        let mut row = |name, bytes| row(text, name, bytes / 1024);
        row("Rss", self.resident);
        row("Pss", self.resident);
        row("Pss_Dirty", dirty);
        if rollup {
            row("Pss_Anon", self.anonymous);
            row("Pss_File", clean);
            row("Pss_Shmem", self.shmem);
        }
        row("Shared_Clean", 0);
        row("Shared_Dirty", 0);
        row("Private_Clean", clean);
        row("Private_Dirty", dirty);
        row("Referenced", self.resident);
        row("Anonymous", self.anonymous);
        for name in [
            "LazyFree",
            "AnonHugePages",
            "ShmemPmdMapped",
            "FilePmdMapped",
            "Shared_Hugetlb",
            "Private_Hugetlb",
        ] {
            row(name, 0);
        }
        row("Swap", 0);
        row("SwapPss", 0);
        row("Locked", self.locked);
    }
}

/// Adds a row to `text`: a name and a number of kB. There may be a million of them, so they are not
/// formatted.
pub(super) fn row(text: &mut String, name: &str, kilobytes: u64) {
    const SPACES: &str = "                ";
    let right = |text: &mut String, width: usize, part: usize| {
        text.push_str(SPACES.get(part..width).unwrap_or_default());
    };
    text.push_str(name);
    text.push(':');
    right(text, 16, name.len() + 1);
    let number = kilobytes.to_string();
    right(text, 8, number.len());
    text.push_str(&number);
    text.push_str(" kB\n");
}

/// A mapping in `/proc/PID/smaps`.
pub(super) fn smaps(map: &Mapping, mem: &dyn GuestMemory) -> String {
    let mut text = line(map);
    text.reserve(800);
    for (name, bytes) in
        [("Size", map.end - map.start), ("KernelPageSize", PAGE_SIZE), ("MMUPageSize", PAGE_SIZE)]
    {
        row(&mut text, name, bytes / 1024);
    }
    Usage::of(map, mem).rows(false, &mut text);
    text.push_str("THPeligible:    0\nVmFlags:");
    let flags = [
        ("rd", map.prot.allows(Prot::READ)),
        ("wr", map.prot.allows(Prot::WRITE)),
        ("ex", map.prot.allows(Prot::EXEC)),
        ("sh", map.shared),
        ("mr", true),
        ("mw", map.may_write),
        ("me", !map.flags.has(VmFlags::NEVER_EXEC)),
        ("ms", map.shared),
        ("gd", map.is_stack()),
        ("lo", map.is_locked()),
        ("sr", map.flags.has(VmFlags::SEQ_READ)),
        ("rr", map.flags.has(VmFlags::RAND_READ)),
        ("dc", map.flags.has(VmFlags::DONTCOPY)),
        ("lf", map.flags.has(VmFlags::LOCKONFAULT)),
        ("ac", map.is_accounted()),
        ("nr", map.flags.has(VmFlags::NORESERVE)),
        ("wf", map.flags.has(VmFlags::WIPEONFORK)),
        ("dd", map.flags.has(VmFlags::DONTDUMP)),
        ("hg", map.flags.has(VmFlags::HUGEPAGE)),
        ("nh", map.flags.has(VmFlags::NOHUGEPAGE)),
        ("mg", map.flags.has(VmFlags::MERGEABLE)),
        ("um", map.userfault.is_some()),
    ];
    for (name, _) in flags.iter().filter(|(_, set)| *set) {
        text.push(' ');
        text.push_str(name);
    }
    text.push_str(" \n");
    text
}

/// `/proc/PID/smaps_rollup`.
pub(super) fn smaps_rollup(mappings: &[Mapping], mem: &dyn GuestMemory) -> String {
    let (start, end) = match (mappings.first(), mappings.last()) {
        (Some(first), Some(last)) => (first.start, last.end),
        _ => (0, 0),
    };
    let total = mappings.iter().map(|map| Usage::of(map, mem)).fold(Usage::default(), Usage::add);
    let head = format!("{start:08x}-{end:08x} ---p 00000000 00:00 0 ");
    let mut text = format!("{head:<73}[rollup]\n");
    total.rows(true, &mut text);
    text
}
