//! Address spaces: what the kernel remembers of one beside its pages, `struct mm_struct`. The pages
//! are behind `guest::GuestMemory`.

use std::collections::BTreeMap;

use crate::abi::process::{PR_MDWE_NO_INHERIT, PR_MDWE_REFUSE_EXEC_GAIN};
use crate::guest::{FileId, GuestMemory, PAGE_SIZE, Prot, SpaceId, VmFlags};
use crate::kernel::aio::AioContext;
use crate::kernel::arena::{Key, MmId};
use crate::kernel::vfs::mount::At;

/// Most bytes of arguments or environment that are shown, as many as execve(2) takes.
const MAX_WORDS: u64 = 6 << 20;

/// Places of a program's parts, each a first address and one behind the last; PR_SET_MM of prctl(2)
/// changes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Code.
    pub code: (u64, u64),
    /// Data.
    pub data: (u64, u64),
    /// The stack pointer at the start.
    pub stack: u64,
    /// Strings of the arguments.
    pub args: (u64, u64),
    /// Strings of the environment.
    pub env: (u64, u64),
}

/// The pages of an address space.
pub(super) fn space_of(mm: MmId) -> SpaceId {
    SpaceId(mm.index() as u32)
}

/// The bytes of a range, as far as they can be read.
fn read(mem: &mut dyn GuestMemory, (start, end): (u64, u64)) -> Vec<u8> {
    let mut bytes = vec![0; end.saturating_sub(start).min(MAX_WORDS) as usize];
    let readable = mem.read(start, &mut bytes).err().unwrap_or(bytes.len());
    bytes.truncate(readable);
    bytes
}

/// An address space.
#[derive(Clone, Debug)]
pub struct Mm {
    /// Path of the program in the guest's view, which `/proc/self/exe` names.
    pub exe: String,
    /// Device and number of the program's file.
    pub(crate) exe_file: Option<(u64, u64)>,
    /// Its place in the tree, which is held.
    pub(crate) exe_at: Option<At>,
    /// Arguments with which it was started.
    pub argv: Vec<Vec<u8>>,
    /// Environment with which it was started.
    pub envp: Vec<Vec<u8>>,
    /// Places of the program's parts.
    pub places: Places,
    /// Auxiliary vector as it lies on the stack, for `/proc/self/auxv`.
    pub auxv: Vec<u8>,
    /// prctl(2) PR_SET_DUMPABLE.
    pub dumpable: u64,
    /// prctl(2) PR_SET_THP_DISABLE, as PR_GET_THP_DISABLE answers.
    pub(crate) thp_disable: u64,
    /// prctl(2) PR_SET_MDWE.
    pub(crate) mdwe: u64,
    /// prctl(2) PR_SET_MEMORY_MERGE.
    pub(crate) merge_any: bool,
    /// Properties of new mappings, mlockall(2) MCL_FUTURE.
    pub def_flags: VmFlags,
    /// Kinds of mapping in a core dump, `/proc/PID/coredump_filter` of core(5).
    pub(crate) coredump_filter: u64,
    /// modify_ldt(2) has made it a local descriptor table.
    pub(crate) has_ldt: bool,
    /// Commands registered with membarrier(2).
    pub membarrier: u32,
    /// Contexts of io_setup(2) by the address of their rings, with the bytes of those.
    pub(crate) aio: BTreeMap<u64, (AioContext, u64)>,
    bytes: u64,
}

impl Mm {
    /// An address space without a program.
    pub(super) fn new() -> Mm {
        Mm {
            exe: String::new(),
            exe_file: None,
            exe_at: None,
            argv: Vec::new(),
            envp: Vec::new(),
            places: Places::default(),
            auxv: Vec::new(),
            dumpable: 1,
            thp_disable: 0,
            mdwe: 0,
            merge_any: false,
            def_flags: VmFlags::NONE,
            coredump_filter: 0x33,
            has_ldt: false,
            membarrier: 0,
            aio: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Bytes that the words of the program take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + (self.aio.len() * 2 * size_of::<(u64, (AioContext, u64))>()) as u64
    }

    /// A copy for a child, fork(2): pages that it gets later are not kept in memory.
    pub(super) fn fork(&self) -> Mm {
        Mm { def_flags: VmFlags::NONE, aio: BTreeMap::new(), mdwe: self.inherited_mdwe(), ..self.clone() }
    }

    /// Begins anew with the program that execve(2) starts.
    pub(super) fn exec(
        &mut self,
        exe: &FileId,
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
        places: Places,
        auxv: &[u8],
    ) {
        let (thp_disable, coredump_filter) = (self.thp_disable, self.coredump_filter);
        let (mdwe, merge_any) = (self.inherited_mdwe(), self.merge_any);
        let words = argv.iter().chain(envp).map(|word| word.len() + size_of::<Vec<u8>>());
        *self = Mm {
            exe: exe.path.as_ref().to_owned(),
            exe_file: Some((exe.device, exe.inode)),
            exe_at: self.exe_at,
            argv: argv.to_vec(),
            envp: envp.to_vec(),
            places,
            auxv: auxv.to_vec(),
            bytes: words.sum::<usize>() as u64,
            thp_disable,
            mdwe,
            merge_any,
            coredump_filter,
            ..Mm::new()
        };
    }

    /// PR_SET_MDWE of a child, or of the next program.
    fn inherited_mdwe(&self) -> u64 {
        if self.mdwe & PR_MDWE_NO_INHERIT != 0 { 0 } else { self.mdwe }
    }

    /// Tells if PR_SET_MDWE denies these permissions to memory that had `old`
    /// (`map_deny_write_exec`).
    pub(crate) fn denies_exec(&self, old: Prot, new: Prot) -> bool {
        let gained = new.allows(Prot::EXEC) && (new.allows(Prot::WRITE) || !old.allows(Prot::EXEC));
        self.mdwe & PR_MDWE_REFUSE_EXEC_GAIN != 0 && gained
    }

    /// Properties of a new mapping beside those that were asked for.
    pub(crate) fn flags_of_new(&self, shared: bool) -> VmFlags {
        let merge = if self.merge_any && !shared { VmFlags::MERGEABLE } else { VmFlags::NONE };
        self.def_flags.with(merge)
    }

    /// The arguments as they are in memory now, `/proc/PID/cmdline`. A program may write a title
    /// over them, which goes on into the environment where their last byte is not zero
    /// (`get_mm_cmdline`).
    pub(super) fn cmdline(&self, mem: &mut dyn GuestMemory) -> Vec<u8> {
        let Places { args, env, .. } = self.places;
        let mut words = read(mem, args);
        if words.last().is_some_and(|last| *last != 0) && env.0 == args.1 {
            words.extend(read(mem, env));
            let title = words.iter().take(PAGE_SIZE as usize).position(|byte| *byte == 0);
            words.truncate(title.map_or(PAGE_SIZE as usize, |end| end + 1));
        }
        words
    }

    /// The environment as it is in memory now, `/proc/PID/environ`.
    pub(super) fn environ(&self, mem: &mut dyn GuestMemory) -> Vec<u8> {
        read(mem, self.places.env)
    }
}
