//! execve(2) and execveat(2): checks the program and copies its arguments. The session loads it,
//! and calls `Kernel::exec` once nothing can fail any more.

use crate::abi::errno::Errno;

use crate::abi::fs::{AT_EMPTY_PATH, AT_EXECVE_CHECK, AT_FDCWD, AT_SYMLINK_NOFOLLOW, PATH_MAX};
use crate::abi::resource::Resource;
use crate::guest::{GuestMemory, PageSource};
use crate::kernel::uaccess::{get_u64, strncpy_from_user};
use crate::syscalls::context::{Break, Ctx, ExecRequest, SysResult};
use crate::syscalls::row::{Row, partial};

const NOTE: &str = "x86-64 ELF programs and #! scripts";

/// Calls that replace the program.
pub(super) const ROWS: &[Row] =
    &[partial(59, "execve", execve, NOTE), partial(322, "execveat", execveat, NOTE)];

/// Longest argument in bytes, its NUL counted.
pub(super) const MAX_ARG_STRLEN: usize = 131_072;
/// Bytes of arguments and environment that always fit.
const ARG_MAX: u64 = 131_072;
/// Three quarters of the default stack, the most that arguments and environment may take.
const ARG_CEILING: u64 = 6 << 20;

/// Bytes left for arguments and environment, execve(2) "Limits on size".
struct Room(u64);

impl Room {
    /// A quarter of the soft stack limit, within bounds.
    fn of(stack: u64) -> Room {
        Room((stack / 4).clamp(ARG_MAX, ARG_CEILING))
    }

    /// Takes `bytes`; E2BIG if they are not there.
    fn take(&mut self, bytes: u64) -> Result<(), Errno> {
        self.0 = self.0.checked_sub(bytes).ok_or(Errno::E2BIG)?;
        Ok(())
    }

    /// Copies a vector of strings that ends with a null pointer. A null vector is an empty one.
    /// Each string takes its bytes, its NUL and a pointer.
    fn strings(&mut self, mem: &mut dyn GuestMemory, vector: u64) -> Result<Vec<Vec<u8>>, Errno> {
        let mut strings = Vec::new();
        if vector == 0 {
            return Ok(strings);
        }
        let mut at = vector;
        loop {
            let addr = get_u64(mem, at)?;
            if addr == 0 {
                return Ok(strings);
            }
            let string = strncpy_from_user(mem, addr, MAX_ARG_STRLEN)?.ok_or(Errno::E2BIG)?;
            self.take(string.len() as u64 + 1 + 8)?;
            strings.push(string);
            at = at.checked_add(8).ok_or(Errno::EFAULT)?;
        }
    }
}

/// execve(2).
fn execve(ctx: &mut Ctx, [path, argv, envp, ..]: [u64; 6]) -> SysResult {
    exec(ctx, AT_FDCWD, path, argv, envp, 0)
}

/// execveat(2).
fn execveat(ctx: &mut Ctx, [dirfd, path, argv, envp, flags, _]: [u64; 6]) -> SysResult {
    exec(ctx, dirfd as i32, path, argv, envp, flags as u32)
}

/// In Linux's order: the path, the file, the arguments, and only then whether it is a program.
fn exec(ctx: &mut Ctx, dirfd: i32, path: u64, argv: u64, envp: u64, flags: u32) -> SysResult {
    let path = strncpy_from_user(ctx.mem, path, PATH_MAX)?.ok_or(Errno::ENAMETOOLONG)?;
    if path.is_empty() && flags & AT_EMPTY_PATH == 0 {
        return Err(Errno::ENOENT.into());
    }
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_EXECVE_CHECK) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (fs, caller, mem) = ctx.paths();
    let image = fs.image_at(&caller, dirfd, &path, flags, mem)?;
    let mut room = Room::of(ctx.kernel.process().limits.soft(Resource::Stack));
    let mut argv = room.strings(ctx.mem, argv)?;
    let envp = room.strings(ctx.mem, envp)?;
    if argv.is_empty() {
        // Since Linux 5.18 a program never sees an empty vector.
        argv.push(Vec::new());
    }
    if flags & AT_EXECVE_CHECK != 0 {
        return Ok(0);
    }
    recognise(image.source.as_ref())?;
    let nameless = path.is_empty();
    let closes =
        dirfd != AT_FDCWD && !path.starts_with(b"/") && ctx.kernel.fds().close_on_exec().contains(&dirfd);
    let filename = filename(dirfd, path);
    let request = ExecRequest { image, filename, nameless, closes, argv, envp };
    Err(Break::Exec(Box::new(request)))
}

/// AT_EXECFN of the new program, execveat(2): relative to a descriptor it begins with `/dev/fd`.
fn filename(dirfd: i32, path: Vec<u8>) -> Vec<u8> {
    if dirfd == AT_FDCWD || path.starts_with(b"/") {
        return path;
    }
    let mut name = format!("/dev/fd/{dirfd}").into_bytes();
    if !path.is_empty() {
        name.push(b'/');
        name.extend(path);
    }
    name
}

/// ENOEXEC unless the file is an ELF for this machine or names an interpreter.
fn recognise(source: &dyn PageSource) -> Result<(), Errno> {
    let mut head = [0; 64];
    let len = source.read_at(0, &mut head).map_err(|_| Errno::EIO)?;
    let script = head.starts_with(b"#!");
    // ELF, 64-bit, little-endian, ET_EXEC or ET_DYN, EM_X86_64.
    let program = len == head.len()
        && head.starts_with(b"\x7fELF\x02\x01")
        && matches!(u16::from_le_bytes([head[16], head[17]]), 2 | 3)
        && u16::from_le_bytes([head[18], head[19]]) == 62;
    if script || program { Ok(()) } else { Err(Errno::ENOEXEC) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscalls::testing::{DATA, Machine};

    #[test]
    fn arguments_are_copied() {
        let mut machine = Machine::new();
        machine.put(DATA, b"one\0two words\0");
        machine.put_words(DATA + 64, &[DATA, DATA + 4, 0]);
        let strings = Room::of(8 << 20).strings(&mut machine.mem, DATA + 64);
        assert_eq!(strings, Ok(vec![b"one".to_vec(), b"two words".to_vec()]));
        assert_eq!(Room::of(0).strings(&mut machine.mem, 0), Ok(Vec::new()));
        machine.put_words(DATA + 64, &[DATA, 8, 0]);
        assert_eq!(Room::of(0).strings(&mut machine.mem, DATA + 64), Err(Errno::EFAULT));
        assert_eq!(Room::of(0).strings(&mut machine.mem, 8), Err(Errno::EFAULT));
    }

    /// execve(2): a string may have 131072 bytes with its NUL; all of them a quarter of the stack
    /// limit, but 128 KiB at least and 6 MiB at most.
    #[test]
    fn arguments_have_limits() {
        assert_eq!((Room::of(8 << 20).0, Room::of(0).0, Room::of(u64::MAX).0), (2 << 20, 128 << 10, 6 << 20));
        let mut machine = Machine::new();
        let long = DATA + (1 << 24);
        machine.mem.anonymous(long, 256 << 10);
        machine.put(long, &[b'x'; MAX_ARG_STRLEN]);
        machine.put_words(DATA, &[long + 1, 0]);
        let strings = Room::of(8 << 20).strings(&mut machine.mem, DATA);
        assert_eq!(strings.map(|strings| strings[0].len()), Ok(MAX_ARG_STRLEN - 1));
        machine.put_words(DATA, &[long, 0]);
        assert_eq!(Room::of(8 << 20).strings(&mut machine.mem, DATA), Err(Errno::E2BIG));
        machine.put_words(DATA, &[long + 1; 32]);
        assert_eq!(Room::of(8 << 20).strings(&mut machine.mem, DATA), Err(Errno::E2BIG));
        // A vector without end: pointers count too.
        machine.mem.anonymous(long + (1 << 24), 2 << 20);
        machine.put_words(long + (1 << 24), &vec![DATA + 0x8000; 250_000]);
        assert_eq!(Room::of(8 << 20).strings(&mut machine.mem, long + (1 << 24)), Err(Errno::E2BIG));
    }

    #[test]
    fn names_below_a_descriptor() {
        let name = |dirfd, path: &[u8]| filename(dirfd, path.to_vec());
        assert_eq!(name(AT_FDCWD, b"a"), b"a");
        assert_eq!(name(7, b"/a"), b"/a");
        assert_eq!(name(7, b"a"), b"/dev/fd/7/a");
        assert_eq!(name(7, b""), b"/dev/fd/7");
    }

    struct Bytes(&'static [u8]);

    impl PageSource for Bytes {
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
            let bytes = self.0.get(offset as usize..).unwrap_or_default();
            let len = bytes.len().min(buf.len());
            buf[..len].copy_from_slice(&bytes[..len]);
            Ok(len)
        }

        fn len(&self) -> u64 {
            self.0.len() as u64
        }
    }

    #[test]
    fn only_programs_and_scripts_run() {
        assert_eq!(recognise(&Bytes(b"#!/bin/sh\n")), Ok(()));
        for bad in [&b""[..], b"#", b"hello", b"\x7fELF\x02\x01", &[0; 64]] {
            assert_eq!(recognise(&Bytes(bad)), Err(Errno::ENOEXEC));
        }
        const ELF: [u8; 64] = {
            let mut elf = [0; 64];
            elf[0] = 0x7f;
            elf[1] = b'E';
            elf[2] = b'L';
            elf[3] = b'F';
            elf[4] = 2;
            elf[5] = 1;
            elf[16] = 3;
            elf[18] = 62;
            elf
        };
        const ARM: [u8; 64] = {
            let mut elf = ELF;
            elf[18] = 183;
            elf
        };
        assert_eq!(recognise(&Bytes(&ELF)), Ok(()));
        assert_eq!(recognise(&Bytes(&ARM)), Err(Errno::ENOEXEC));
    }

    /// Answers of a native Linux for the same paths.
    #[test]
    fn what_is_named_is_checked_in_order() {
        use crate::syscalls::context::Action;
        const EXECVE: u64 = 59;
        let mut machine = Machine::new();
        for (path, argv, expected) in [
            (&b"/nope\0"[..], 0, -2),
            (b"/nope\0", 8, -2),
            (b"/etc/passwd\0", 0, -13),
            (b"/etc\0", 0, -13),
            (b"\0", 0, -2),
            (b"/etc/passwd/x\0", 8, -20),
            (b"/bin/sh\0", 8, -14),
        ] {
            machine.put(DATA, path);
            assert_eq!(machine.call(EXECVE, &[DATA, argv, 0]), expected, "{path:?}");
        }
        assert_eq!(machine.call(EXECVE, &[8, 0, 0]), -14);
        machine.put(DATA, &[b'a'; PATH_MAX]);
        assert_eq!(machine.call(EXECVE, &[DATA, 0, 0]), -36);
        machine.put(DATA, b"/bin/sh\0-c\0");
        machine.put_words(DATA + 64, &[DATA + 5, DATA + 8, 0]);
        match machine.action(EXECVE, &[DATA, DATA + 64, 0]) {
            Action::Exec(request) => {
                assert!(request.image.path.starts_with('/'));
                assert_eq!(request.filename, b"/bin/sh", "not where a link leads");
                assert_eq!((request.argv, request.envp), (vec![b"sh".to_vec(), b"-c".to_vec()], vec![]));
            }
            other => panic!("{other:?}"),
        }
        match machine.action(EXECVE, &[DATA, 0, 0]) {
            Action::Exec(request) => assert_eq!(request.argv, [b""], "never an empty vector"),
            other => panic!("{other:?}"),
        }
    }
}
