//! Why a file cannot be run, in words for the user and as a kind for execve(2).

use thiserror::Error;

/// Answer of execve(2) to an error. For a file that is itself an interpreter (PT_INTERP) the kernel
/// answers ELIBBAD where it would answer ENOEXEC for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// ENOEXEC: the file is of no format that runs here.
    NoExec,
    /// EINVAL: an ELF file whose segments cannot be mapped. (Linux finds out when the old program
    /// is gone already and kills the process; a caller that loads after the point of no return does
    /// the same.)
    Invalid,
    /// EIO: the file is shorter than its headers say.
    Io,
    /// EACCES: the name of an interpreter is empty, which names a directory.
    Access,
    /// ENOENT: an interpreter is missing.
    NotFound,
    /// ELOOP: interpreters of interpreters beyond [`crate::loader::script::MAX_DEPTH`].
    Loop,
    /// E2BIG: arguments and environment do not fit.
    TooBig,
}

/// Why a program cannot be loaded. Each is one line that follows the file's name, which the caller
/// adds: `cgemu: ./prog: <error>`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No bytes at all.
    #[error("the file is empty; build it again")]
    Empty,
    /// Neither ELF nor script; the text names the format if it is a known one.
    #[error("not an x86-64 Linux program: {0}")]
    NotElf(&'static str),
    /// The file ends inside its ELF header.
    #[error("truncated ELF header: the file has {0} bytes and the header takes 64; copy or build it again")]
    ShortHeader(u64),
    /// EI_CLASS is not ELFCLASS64. (Linux does not look at it; no linker makes such a file for
    /// x86-64.)
    #[error("32-bit ELF file (class 1): cgemu runs 64-bit x86-64 programs; build it without -m32 or -mx32")]
    Class32,
    /// EI_CLASS is neither ELFCLASS32 nor ELFCLASS64.
    #[error("invalid ELF class {0} (byte 4 of the file): the header is damaged; copy or build it again")]
    Class(u8),
    /// EI_DATA is not ELFDATA2LSB. (Linux does not look at it.)
    #[error("ELF data encoding {0} (byte 5 of the file) is not little-endian: build the program for x86-64")]
    Data(u8),
    /// e_machine is not EM_X86_64.
    #[error("built for {}: cgemu runs x86-64 programs; build it for x86_64-linux", machine(*.0))]
    Machine(u16),
    /// ET_REL.
    #[error("a relocatable object file, not a program: link it first")]
    Relocatable,
    /// ET_CORE.
    #[error("a core dump, not a program: give the program that left it")]
    Core,
    /// e_type is not one that the kernel loads.
    #[error(
        "ELF type {0} is not a program (2, ET_EXEC, or 3, ET_DYN): the header is damaged; build it again"
    )]
    Type(u16),
    /// e_phentsize is not 56.
    #[error("program headers of {0} bytes where ELF64 has 56: the header is damaged; build it again")]
    PhentSize(u16),
    /// e_phnum is 0.
    #[error("no program headers, so nothing to load: a program needs to be linked; give the linker's output")]
    NoProgramHeaders,
    /// e_phnum is over 1170 (the kernel's limit of 65536 bytes); PN_XNUM among them.
    #[error(
        "{0} program headers: Linux loads at most 1170; the header is damaged or the file is a core dump"
    )]
    TooManyProgramHeaders(u16),
    /// The table of program headers lies (partly) past the end of the file.
    #[error(
        "truncated: program headers at offset {offset:#x} need {need} bytes, the file has {len} in all; copy or build it again"
    )]
    ShortProgramHeaders {
        /// e_phoff.
        offset: u64,
        /// Bytes of the table.
        need: u64,
        /// Length of the file.
        len: u64,
    },
    /// PT_INTERP of fewer than 2 or more than 4096 bytes, or without the NUL at its end.
    #[error(
        "the interpreter's name (PT_INTERP at offset {0:#x}) is not a NUL-terminated path of 1 to 4095 bytes; build it again"
    )]
    InterpreterName(u64),
    /// PT_INTERP past the end of the file.
    #[error(
        "truncated: the interpreter's name (PT_INTERP at offset {0:#x}) lies past the end of the file; copy or build it again"
    )]
    ShortInterpreterName(u64),
    /// PT_INTERP or a `#!` line that holds an empty name.
    #[error("the interpreter's name is empty; build the program again, or name an interpreter after #!")]
    EmptyInterpreterName,
    /// The interpreter is not there; made by the caller, who looked.
    #[error("its interpreter {0} does not exist: install it, or link the program statically")]
    MissingInterpreter(String),
    /// No PT_LOAD.
    #[error("no loadable segment (PT_LOAD): nothing of the file would be in memory; build it again")]
    NoLoad,
    /// p_filesz over p_memsz.
    #[error(
        "segment {index} has {file_size:#x} bytes in the file and {mem_size:#x} in memory; the file part may not be larger, build it again"
    )]
    FileLarger {
        /// Which PT_LOAD, from 0.
        index: usize,
        /// p_filesz.
        file_size: u64,
        /// p_memsz.
        mem_size: u64,
    },
    /// A segment that reaches past the end of user space or wraps around.
    #[error("segment {index} ({mem_size:#x} bytes at {addr:#x}) does not fit below {limit:#x}, the end of user space; link it at a lower address", limit = crate::guest::USER_END)]
    Range {
        /// Which PT_LOAD, from 0.
        index: usize,
        /// p_vaddr, with the load bias where it is known.
        addr: u64,
        /// p_memsz.
        mem_size: u64,
    },
    /// A segment below vm.mmap_min_addr, which Linux keeps unmapped for ordinary users.
    #[error("segment {index} would be at {addr:#x}, below {limit:#x} (vm.mmap_min_addr); link it at a higher address", limit = crate::abi::mm::MMAP_MIN_ADDR)]
    TooLow {
        /// Which PT_LOAD, from 0.
        index: usize,
        /// Its first page.
        addr: u64,
    },
    /// p_offset and p_vaddr differ modulo the page size.
    #[error(
        "segment {index} cannot be mapped: offset {offset:#x} and address {addr:#x} differ modulo the page size 4096; link without -N (--omagic)"
    )]
    Misaligned {
        /// Which PT_LOAD, from 0.
        index: usize,
        /// p_offset.
        offset: u64,
        /// p_vaddr.
        addr: u64,
    },
    /// Two segments claim the same bytes. (Linux lets the later one win.)
    #[error(
        "segments {first} and {second} overlap at {addr:#x}: the program headers are damaged; build it again"
    )]
    Overlap {
        /// One PT_LOAD, from 0.
        first: usize,
        /// The other.
        second: usize,
        /// First address in both.
        addr: u64,
    },
    /// A whole page of a segment lies past the end of the file. (Linux maps it and sends SIGBUS on
    /// a touch.)
    #[error(
        "truncated: segment {index} needs the file's bytes up to {need:#x}, the file has {len:#x}; copy or build it again"
    )]
    ShortSegment {
        /// Which PT_LOAD, from 0.
        index: usize,
        /// End of the segment in the file.
        need: u64,
        /// Length of the file.
        len: u64,
    },
    /// e_entry outside user space.
    #[error("entry point {0:#x} is no address of a program: the header is damaged; build it again")]
    Entry(u64),
    /// A shared library without PT_INTERP and with e_entry 0. (Linux starts it, and it dies of
    /// SIGSEGV.)
    #[error("a shared library without an entry point: run a program that uses it")]
    SharedLibrary,
    /// A `#!` line with nothing in it but blanks.
    #[error("the #! line names no interpreter; write one, such as #!/bin/sh")]
    ScriptNoInterpreter,
    /// A `#!` line whose interpreter does not end within the kernel's 256 bytes.
    #[error(
        "the #! line is too long: the interpreter's name does not end within 256 bytes; use a shorter path"
    )]
    ScriptTooLong,
    /// Scripts run by scripts, too many of them; made by the caller, who counts.
    #[error("too many interpreters, each a #! script: Linux follows 5; name a program on the #! line")]
    ScriptLoop,
    /// A script named by a descriptor that execve(2) closes; made by the caller, who knows.
    #[error("its interpreter could not open it: the descriptor closes when it starts")]
    ScriptCloses,
    /// One argument or variable over MAX_ARG_STRLEN.
    #[error("{what} {index} has {len} bytes: execve takes at most 131071 in one string; pass a file instead")]
    StringTooLong {
        /// `argument` or `environment variable`.
        what: &'static str,
        /// Which one, from 0.
        index: usize,
        /// Its bytes, without the NUL.
        len: usize,
    },
    /// A NUL inside a string, which no execve(2) could pass.
    #[error("{what} {index} holds a NUL byte; remove it")]
    StringHasNul {
        /// `argument`, `environment variable` or `program name`.
        what: &'static str,
        /// Which one, from 0.
        index: usize,
    },
    /// All strings and pointers together over the limit.
    #[error(
        "arguments and environment need {need} bytes, more than the {limit} that a stack of this size allows; pass fewer of them"
    )]
    ArgumentsTooLong {
        /// Bytes of strings and pointers.
        need: u64,
        /// Most that there may be.
        limit: u64,
    },
}

impl LoadError {
    /// Answer of execve(2).
    pub fn kind(&self) -> LoadErrorKind {
        use LoadError as E;
        match self {
            E::FileLarger { .. }
            | E::Range { .. }
            | E::TooLow { .. }
            | E::Misaligned { .. }
            | E::Overlap { .. }
            | E::NoLoad
            | E::Entry(_) => LoadErrorKind::Invalid,
            E::ShortInterpreterName(_) | E::ShortSegment { .. } => LoadErrorKind::Io,
            E::EmptyInterpreterName => LoadErrorKind::Access,
            E::MissingInterpreter(_) | E::ScriptCloses => LoadErrorKind::NotFound,
            E::ScriptLoop => LoadErrorKind::Loop,
            E::StringTooLong { .. } | E::ArgumentsTooLong { .. } => LoadErrorKind::TooBig,
            E::StringHasNul { .. } => LoadErrorKind::Invalid,
            _ => LoadErrorKind::NoExec,
        }
    }
}

/// Names of the machines that a mixed-up file is most often built for; e_machine of the ELF
/// specification.
fn machine(number: u16) -> String {
    let name = match number {
        2 | 18 | 43 => "SPARC",
        3 => "32-bit x86 (i386)",
        8 => "MIPS",
        20 => "PowerPC",
        21 => "64-bit PowerPC",
        22 => "IBM S/390",
        40 => "32-bit Arm",
        183 => "AArch64",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        other => return format!("another machine (e_machine {other})"),
    };
    name.to_string()
}

/// A line about a file that is neither ELF nor script, by its first bytes.
pub(crate) fn not_elf(head: &[u8]) -> LoadError {
    let known: [(&[u8], &str); 7] = [
        (b"MZ", "a Windows or DOS program; build it for Linux"),
        (b"\xcf\xfa\xed\xfe", "a macOS program; build it for Linux"),
        (b"\xca\xfe\xba\xbe", "a Java class or a macOS program; run java on it, or build it for Linux"),
        (b"!<arch>\n", "a static library; link it into a program"),
        (b"\0asm", "a WebAssembly module; give the runtime that runs it"),
        (b"\x1f\x8b", "compressed with gzip; unpack it first"),
        (b"#!", "a #! script; run its interpreter"),
    ];
    match known.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, what)) => LoadError::NotElf(what),
        None => LoadError::NotElf(
            "no ELF file, and no #! line; give a linked program, or a script that names its interpreter",
        ),
    }
}
