//! The stack a program starts with: strings, auxiliary vector, environment and arguments, where
//! `fs/exec.c` and `create_elf_tables` of `fs/binfmt_elf.c` put them with randomization off.

use crate::guest::PAGE_SIZE;
use crate::guest::layout::StackOrder;
use crate::loader::elf::Image;
use crate::loader::error::LoadError;

/// MAX_ARG_STRLEN: the longest single string in bytes, its NUL included.
pub const MAX_ARG_STRLEN: usize = 32 * PAGE_SIZE as usize;

/// ARG_MAX of `<linux/limits.h>`: what fits at least, however small the stack's limit is.
const ARG_MAX: u64 = 131_072;

/// Three quarters of the default stack limit of 8 MiB: what fits at most, however large the stack's
/// limit is.
const ARG_TOTAL_MAX: u64 = (8 << 20) / 4 * 3;

/// AT_RSEQ_FEATURE_SIZE and AT_RSEQ_ALIGN of Linux 6.18; nobody reads them where their types are
/// hidden.
const RSEQ_FEATURE_SIZE: u64 = 28;
const RSEQ_ALIGN: u64 = 32;

/// AT_PLATFORM on x86-64.
const PLATFORM: &[u8] = b"x86_64";

/// Types of the auxiliary vector, getauxval(3) and `<linux/auxvec.h>`.
#[allow(missing_docs)]
pub mod at {
    pub const NULL: u64 = 0;
    pub const IGNORE: u64 = 1;
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const PLATFORM: u64 = 15;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const HWCAP2: u64 = 26;
    pub const EXECFN: u64 = 31;
    pub const MINSIGSTKSZ: u64 = 51;
}

/// Values of the auxiliary vector, without those that are always the same (page size, AT_CLKTCK
/// 100, AT_FLAGS 0, AT_PLATFORM `x86_64`) and for the addresses of strings. There is no
/// AT_SYSINFO_EHDR, because there is no vDSO, and no AT_RSEQ_*, because there is no rseq(2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuxValues {
    /// AT_PHDR: the program's headers in memory.
    pub phdr: u64,
    /// AT_PHENT.
    pub phent: u16,
    /// AT_PHNUM.
    pub phnum: u16,
    /// AT_BASE: the bias of the program interpreter, 0 without one.
    pub base: u64,
    /// AT_ENTRY: the program's own entry point.
    pub entry: u64,
    /// AT_UID.
    pub uid: u32,
    /// AT_EUID.
    pub euid: u32,
    /// AT_GID.
    pub gid: u32,
    /// AT_EGID.
    pub egid: u32,
    /// AT_SECURE.
    pub secure: bool,
    /// The bytes AT_RANDOM points to.
    pub random: [u8; 16],
    /// AT_HWCAP: EDX of CPUID leaf 1.
    pub hwcap: u64,
    /// AT_HWCAP2: bit 1 is FSGSBASE.
    pub hwcap2: u64,
    /// AT_MINSIGSTKSZ: bytes of a signal frame.
    pub minsigstksz: u64,
}

impl AuxValues {
    /// The values that follow from the program and its addresses; `interpreter_bias` is 0 without
    /// an interpreter. The rest is zero.
    pub fn for_image(image: &Image, bias: u64, interpreter_bias: u64) -> AuxValues {
        AuxValues {
            phdr: image.phdr_vaddr.wrapping_add(bias),
            phent: image.phent,
            phnum: image.phnum,
            base: interpreter_bias,
            entry: image.entry_at(bias),
            ..AuxValues::default()
        }
    }
}

/// Everything that goes on the stack.
#[derive(Clone, Debug)]
pub struct StackSpec {
    /// Arguments. As execve(2) does since Linux 5.18, an empty list becomes one empty string.
    pub argv: Vec<Vec<u8>>,
    /// Environment, in order.
    pub envp: Vec<Vec<u8>>,
    /// AT_EXECFN: the path given to execve(2); of a script, the script's.
    pub execfn: Vec<u8>,
    /// The auxiliary vector.
    pub aux: AuxValues,
    /// End of the stack, a multiple of the page size.
    pub top: u64,
    /// RLIMIT_STACK in bytes; a quarter of it may be arguments and environment.
    pub stack_size: u64,
    /// Addresses of the parts.
    pub order: StackOrder,
}

/// The finished stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackImage {
    /// The stack pointer at the first instruction, a multiple of 16; `argc` is there.
    pub sp: u64,
    /// Bytes to write at `sp`, up to the top of the stack.
    pub bytes: Vec<u8>,
    /// First address of the arguments' strings and the one after the last, for
    /// `/proc/self/cmdline`.
    pub args: (u64, u64),
    /// The same of the environment, for `/proc/self/environ`.
    pub env: (u64, u64),
    /// The auxiliary vector as it stands on the stack, AT_NULL included, for `/proc/self/auxv`.
    pub auxv: Vec<(u64, u64)>,
}

/// Strings laid end to end.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    starts: Vec<u64>,
}

impl Strings {
    fn collect(strings: &[Vec<u8>], what: &'static str) -> Result<Strings, LoadError> {
        let mut out = Strings::default();
        for (index, string) in strings.iter().enumerate() {
            check_string(string, what, index)?;
            out.starts.push(out.bytes.len() as u64);
            out.bytes.extend_from_slice(string);
            out.bytes.push(0);
        }
        Ok(out)
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

fn check_string(string: &[u8], what: &'static str, index: usize) -> Result<(), LoadError> {
    if string.len() >= MAX_ARG_STRLEN {
        return Err(LoadError::StringTooLong { what, index, len: string.len() });
    }
    if string.contains(&0) {
        return Err(LoadError::StringHasNul { what, index });
    }
    Ok(())
}

/// Addresses of the strings, with the random bytes among them, and the stack pointer below them.
struct Places {
    args: u64,
    envs: u64,
    execfn: u64,
    platform: u64,
    random: u64,
    sp: u64,
    auxv: Vec<(u64, u64)>,
}

impl Places {
    /// From the top down: 8 zero bytes, the path of the program, the environment's strings, the
    /// arguments' strings, (aligned to 16) the platform's name, 16 random bytes, and (aligned to 16
    /// at its lower end) the auxiliary vector, the pointers to the environment, the pointers to the
    /// arguments and `argc`.
    fn linux(spec: &StackSpec, args: &Strings, envs: &Strings) -> Places {
        // check_total has bounded every length and made sure that the top is above all of it.
        let execfn = spec.top - 8 - (spec.execfn.len() as u64 + 1);
        let envs_at = execfn - envs.len();
        let args_at = envs_at - args.len();
        let platform = (args_at & !15) - (PLATFORM.len() as u64 + 1);
        let random = platform - spec.aux.random.len() as u64;
        let auxv = linux_auxv(&spec.aux, random, execfn, platform);
        let sp = (random - 8 * words(args, envs, &auxv)) & !15;
        Places { args: args_at, envs: envs_at, execfn, platform, random, sp, auxv }
    }

    /// As `setup_client_stack` of Valgrind 3.19 does it, from the bottom up: `argc` and all that
    /// follows it, a gap, and at the top, all in a row, the strings of the arguments and of the
    /// environment, the random bytes, the path and the platform's name, which end on the last byte
    /// but one or up to three before it.
    fn valgrind(spec: &StackSpec, args: &Strings, envs: &Strings) -> Places {
        let random_len = spec.aux.random.len() as u64;
        let execfn_len = spec.execfn.len() as u64 + 1;
        let len = args.len() + envs.len() + random_len + execfn_len + PLATFORM.len() as u64 + 1;
        let last = spec.top - 1;
        let args_at = last - len.next_multiple_of(4);
        let envs_at = args_at + args.len();
        let random = envs_at + envs.len();
        let execfn = random + random_len;
        let platform = execfn + execfn_len;
        let auxv = valgrind_auxv(&spec.aux, random, execfn, platform);
        let sp = (last - 8 * words(args, envs, &auxv) - len.next_multiple_of(8)) & !15;
        Places { args: args_at, envs: envs_at, execfn, platform, random, sp, auxv }
    }
}

/// `argc`, the pointers with a null behind each list, and the auxiliary vector: so many words of 8
/// bytes.
fn words(args: &Strings, envs: &Strings, auxv: &[(u64, u64)]) -> u64 {
    (1 + args.starts.len() + 1 + envs.starts.len() + 1 + 2 * auxv.len()) as u64
}

/// Lays the stack out.
///
/// Errors are those that execve(2) answers with E2BIG, and a NUL within a string.
pub fn build(spec: &StackSpec) -> Result<StackImage, LoadError> {
    let empty = [Vec::new()];
    let argv: &[Vec<u8>] = if spec.argv.is_empty() { &empty } else { &spec.argv };
    let args = Strings::collect(argv, "argument")?;
    let envs = Strings::collect(&spec.envp, "environment variable")?;
    check_string(&spec.execfn, "program name", 0)?;
    check_total(spec, &args, &envs)?;

    let places = match spec.order {
        StackOrder::Linux => Places::linux(spec, &args, &envs),
        StackOrder::Valgrind => Places::valgrind(spec, &args, &envs),
    };
    let mut bytes = Vec::with_capacity((spec.top - places.sp) as usize);
    let mut put = |word: u64| bytes.extend_from_slice(&word.to_le_bytes());
    put(args.starts.len() as u64);
    args.starts.iter().for_each(|start| put(places.args + start));
    put(0);
    envs.starts.iter().for_each(|start| put(places.envs + start));
    put(0);
    for &(kind, value) in &places.auxv {
        put(kind);
        put(value);
    }
    let platform = [PLATFORM, b"\0"].concat();
    let execfn = [spec.execfn.as_slice(), b"\0"].concat();
    let mut parts = [
        (places.random, spec.aux.random.as_slice()),
        (places.platform, &platform),
        (places.args, &args.bytes),
        (places.envs, &envs.bytes),
        (places.execfn, &execfn),
        (spec.top, &[]),
    ];
    parts.sort_by_key(|(addr, _)| *addr);
    for (addr, data) in parts {
        bytes.resize((addr - places.sp) as usize, 0);
        bytes.extend_from_slice(data);
    }
    let (args_end, envs_end) = (places.args + args.len(), places.envs + envs.len());
    Ok(StackImage {
        sp: places.sp,
        bytes,
        args: (places.args, args_end),
        env: (places.envs, envs_end),
        auxv: places.auxv,
    })
}

/// The limits of `bprm_stack_limits` and `bprm_hit_stack_limit`: pointers to all strings (at least
/// one argument's) and the strings themselves, the program's path among them.
fn check_total(spec: &StackSpec, args: &Strings, envs: &Strings) -> Result<(), LoadError> {
    let limit = (spec.stack_size / 4).clamp(ARG_MAX, ARG_TOTAL_MAX);
    let pointers = 8 * (args.starts.len() as u64 + envs.starts.len() as u64);
    let strings = args.len() + envs.len() + spec.execfn.len() as u64 + 1;
    let need = pointers + strings;
    // A page more for the fixed part: auxiliary vector, alignment, random bytes.
    if need > limit || spec.top < limit + PAGE_SIZE {
        return Err(LoadError::ArgumentsTooLong { need, limit: limit.min(spec.top) });
    }
    Ok(())
}

/// The order is the kernel's, as `LD_SHOW_AUXV=1 /bin/true` shows it on Linux 6.18, which has
/// AT_SYSINFO_EHDR first and AT_RSEQ_FEATURE_SIZE and AT_RSEQ_ALIGN last besides.
fn linux_auxv(aux: &AuxValues, random_at: u64, execfn_at: u64, platform_at: u64) -> Vec<(u64, u64)> {
    vec![
        (at::MINSIGSTKSZ, aux.minsigstksz),
        (at::HWCAP, aux.hwcap),
        (at::PAGESZ, PAGE_SIZE),
        (at::CLKTCK, 100),
        (at::PHDR, aux.phdr),
        (at::PHENT, u64::from(aux.phent)),
        (at::PHNUM, u64::from(aux.phnum)),
        (at::BASE, aux.base),
        (at::FLAGS, 0),
        (at::ENTRY, aux.entry),
        (at::UID, u64::from(aux.uid)),
        (at::EUID, u64::from(aux.euid)),
        (at::GID, u64::from(aux.gid)),
        (at::EGID, u64::from(aux.egid)),
        (at::SECURE, u64::from(aux.secure)),
        (at::RANDOM, random_at),
        (at::HWCAP2, aux.hwcap2),
        (at::EXECFN, execfn_at),
        (at::PLATFORM, platform_at),
        (at::NULL, 0),
    ]
}

/// The kernel's vector of Linux 6.3 and later, in its order, where the types that Valgrind 3.19
/// does not pass on have become AT_IGNORE: the vDSO, AT_MINSIGSTKSZ, AT_HWCAP2 and AT_RSEQ_*.
fn valgrind_auxv(aux: &AuxValues, random_at: u64, execfn_at: u64, platform_at: u64) -> Vec<(u64, u64)> {
    let mut auxv = linux_auxv(aux, random_at, execfn_at, platform_at);
    for (kind, _) in &mut auxv {
        if matches!(*kind, at::MINSIGSTKSZ | at::HWCAP2) {
            *kind = at::IGNORE;
        }
    }
    auxv.insert(0, (at::IGNORE, 0));
    auxv.splice(auxv.len() - 1..auxv.len() - 1, [(at::IGNORE, RSEQ_FEATURE_SIZE), (at::IGNORE, RSEQ_ALIGN)]);
    auxv
}

#[cfg(test)]
mod tests;
