//! Address spaces: what the kernel remembers of one beside its pages, `struct mm_struct`. The pages
//! are behind `guest::GuestMemory`.

use crate::guest::VmFlags;

/// An address space.
#[derive(Clone, Debug)]
pub struct Mm {
    /// Path of the program in the guest's view, which `/proc/self/exe` names.
    pub exe: String,
    /// Arguments, for `/proc/self/cmdline`.
    pub argv: Vec<Vec<u8>>,
    /// Environment at the start, for `/proc/self/environ`.
    pub envp: Vec<Vec<u8>>,
    /// Auxiliary vector as it lies on the stack, for `/proc/self/auxv`.
    pub auxv: Vec<u8>,
    /// prctl(2) PR_SET_DUMPABLE.
    pub dumpable: u64,
    /// prctl(2) PR_SET_THP_DISABLE.
    pub thp_disable: bool,
    /// Properties of new mappings, mlockall(2) MCL_FUTURE.
    pub def_flags: VmFlags,
    /// Commands registered with membarrier(2).
    pub membarrier: u32,
    bytes: u64,
}

impl Mm {
    /// An address space without a program.
    pub(super) fn new() -> Mm {
        Mm {
            exe: String::new(),
            argv: Vec::new(),
            envp: Vec::new(),
            auxv: Vec::new(),
            dumpable: 1,
            thp_disable: false,
            def_flags: VmFlags::NONE,
            membarrier: 0,
            bytes: 0,
        }
    }

    /// Bytes that the words of the program take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A copy for a child, fork(2): pages that it gets later are not kept in memory.
    pub(super) fn fork(&self) -> Mm {
        Mm { def_flags: VmFlags::NONE, ..self.clone() }
    }

    /// Begins anew with the program that execve(2) starts.
    pub(super) fn exec(&mut self, exe: &str, argv: &[Vec<u8>], envp: &[Vec<u8>], auxv: &[u8]) {
        let thp_disable = self.thp_disable;
        let words = argv.iter().chain(envp).map(|word| word.len() + size_of::<Vec<u8>>());
        *self = Mm {
            exe: exe.to_owned(),
            argv: argv.to_vec(),
            envp: envp.to_vec(),
            auxv: auxv.to_vec(),
            bytes: words.sum::<usize>() as u64,
            thp_disable,
            ..Mm::new()
        };
    }
}
