//! The ties between an object and its debug files (build-id, `.gnu_debuglink`,
//! `.gnu_debugaltlink`), and the paths where Valgrind 3.19 looks for them, in its order (as strace
//! shows it).
//!
//! The sections of the links are a few bytes each; `goblin` has no reader for them, but for notes.

use std::path::{Path, PathBuf};

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::note::{NT_GNU_BUILD_ID, NoteDataIterator};
use goblin::elf::section_header::SHT_SYMTAB;
use zlib_rs::crc32::crc32;

use crate::guest::PageSource;
use crate::symbols::elf::{ElfFile, string};
use crate::symbols::give_up::GiveUp;

/// The directory where distributions install debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";
/// Largest build-id taken, in bytes; linkers make 8 to 32.
const MAX_BUILD_ID: usize = 64;

/// The links of an ELF file to the files that complete it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The build-id of `.note.gnu.build-id`.
    pub build_id: Option<Vec<u8>>,
    /// File name and CRC-32 of `.gnu_debuglink` (GDB manual, "Separate Debug Files").
    pub debuglink: Option<(String, u32)>,
    /// File name and build-id of `.gnu_debugaltlink`, or file name and checksum of `.debug_sup`
    /// (DWARF 5, 7.3.6): the file with what dwz(1) moved out of this one.
    pub debugaltlink: Option<(String, Vec<u8>)>,
    /// The checksum by which `.debug_sup` says that this is such a file.
    pub supplement: Option<Vec<u8>>,
    /// True if the file has a `.symtab`.
    pub has_symtab: bool,
    /// True if the file has `.debug_info`.
    pub has_dwarf: bool,
}

impl Links {
    /// Reads the links of an object or debug file.
    pub fn of(elf: &ElfFile) -> Self {
        let contents = |name| elf.section(name).and_then(|section| elf.contents(section));
        let sup = contents(".debug_sup").and_then(|section| debug_sup(&section));
        let (user, supplement) = match sup {
            Some((name, id, false)) => (Some((name, id)), None),
            Some((_, id, true)) => (None, Some(id)),
            None => (None, None),
        };
        Self {
            build_id: contents(".note.gnu.build-id").and_then(|notes| build_id(&notes)),
            debuglink: contents(".gnu_debuglink").and_then(|link| debuglink(&link)),
            debugaltlink: contents(".gnu_debugaltlink").and_then(|link| debugaltlink(&link)).or(user),
            supplement,
            has_symtab: elf.section_of_type(SHT_SYMTAB).is_some(),
            has_dwarf: elf.has_dwarf(),
        }
    }

    /// True if a separate debug file would add anything.
    pub fn needs_debug_file(&self) -> bool {
        !self.has_symtab || !self.has_dwarf
    }

    /// True if `candidate` is the debug file of this object: the one with its build-id if it has
    /// one, else the one whose CRC-32 is that of the debuglink.
    pub fn is_debug_file(&self, candidate: &ElfFile) -> bool {
        match (&self.build_id, &self.debuglink) {
            (Some(id), _) => Self::of(candidate).build_id.as_ref() == Some(id),
            (None, Some((_, crc))) => crc32_of_file(&**candidate.source(), candidate.give_up()) == *crc,
            (None, None) => false,
        }
    }

    /// True if `candidate` is the alternate file that this file names, by build-id or checksum.
    pub fn is_alternate_file(&self, candidate: &ElfFile) -> bool {
        let Some((_, id)) = &self.debugaltlink else { return false };
        let links = Self::of(candidate);
        links.build_id.as_ref() == Some(id) || links.supplement.as_ref() == Some(id)
    }

    /// The paths to try for the debug file of the object at `object` (absolute), first to last: by
    /// build-id, then by debuglink name beside the object, in `.debug`, and below `DEBUG_ROOT`. A
    /// directory below `usr` is also tried as if it were below `/` (usr-merge).
    pub fn debug_files(&self, object: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.build_id.as_deref().and_then(by_build_id).into_iter().collect();
        let Some((name, _)) = &self.debuglink else { return paths };
        if name.starts_with('/') {
            paths.push(PathBuf::from(name));
        }
        let directory = object.parent().unwrap_or(Path::new("/"));
        let mut directories = vec![directory.to_path_buf()];
        directories.extend(usr_merged(directory));
        // A name is joined as text: an absolute one stays below the directory.
        let below = |root: &Path, part: &str| root.join(part.trim_start_matches('/'));
        paths.extend(directories.iter().map(|path| below(path, name)));
        paths.extend(directories.iter().map(|path| below(&path.join(".debug"), name)));
        let root = |path: &PathBuf| below(Path::new(DEBUG_ROOT), &path.to_string_lossy());
        paths.extend(directories.iter().map(|path| below(&root(path), name)));
        paths
    }

    /// The paths to try for the alternate file that the file at `from` names.
    pub fn alternate_files(&self, from: &Path) -> Vec<PathBuf> {
        let Some((name, id)) = &self.debugaltlink else { return Vec::new() };
        // Joining takes an absolute name as it is.
        let named = from.parent().unwrap_or(Path::new("/")).join(name);
        std::iter::once(named).chain(by_build_id(id)).collect()
    }
}

/// `/usr/lib/debug/.build-id/xx/rest.debug`.
fn by_build_id(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_ROOT).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

/// The part behind the first component `usr` of an absolute directory, as an absolute directory.
fn usr_merged(directory: &Path) -> Option<PathBuf> {
    let mut components = directory.components();
    components.find(|component| component.as_os_str() == "usr")?;
    let rest = components.as_path();
    (!rest.as_os_str().is_empty()).then(|| Path::new("/").join(rest))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn aligned(size: usize) -> Option<usize> {
    Some(size.checked_add(3)? & !3)
}

fn build_id(notes: &[u8]) -> Option<Vec<u8>> {
    let ctx = Ctx::new(Container::Big, Endian::Little);
    let notes = NoteDataIterator { data: notes, size: notes.len(), offset: 0, ctx: (4, ctx) };
    let found = notes.flatten().find(|note| note.n_type == NT_GNU_BUILD_ID && note.name == "GNU")?;
    (1..=MAX_BUILD_ID).contains(&found.desc.len()).then(|| found.desc.to_vec())
}

fn debuglink(section: &[u8]) -> Option<(String, u32)> {
    let name = string(section, 0).filter(|name| !name.is_empty())?;
    let crc = number(section, aligned(name.len().checked_add(1)?)?)?;
    Some((String::from_utf8(name.to_vec()).ok()?, crc))
}

fn debugaltlink(section: &[u8]) -> Option<(String, Vec<u8>)> {
    let name = string(section, 0).filter(|name| !name.is_empty())?;
    let id = section.get(name.len().checked_add(1)?..)?;
    Some((String::from_utf8(name.to_vec()).ok()?, id.get(..MAX_BUILD_ID).unwrap_or(id).to_vec()))
}

/// File name, checksum, and whether this is the supplementary file itself.
fn debug_sup(section: &[u8]) -> Option<(String, Vec<u8>, bool)> {
    // The version is that of DWARF.
    let [5, 0, supplementary @ (0 | 1), rest @ ..] = section else { return None };
    let name = string(rest, 0)?;
    // The length is a LEB128 number, and one that is taken is of one byte.
    let (length, rest) = rest.get(name.len().checked_add(1)?..)?.split_first()?;
    let id = rest.get(..usize::from(*length)).filter(|id| (1..=MAX_BUILD_ID).contains(&id.len()))?;
    Some((String::from_utf8(name.to_vec()).ok()?, id.to_vec(), *supplementary == 1))
}

/// The CRC-32 of all bytes of a file, as `.gnu_debuglink` has it (that of IEEE 802.3 and zlib), or
/// of those before somebody asked to give up.
pub(crate) fn crc32_of_file(file: &dyn PageSource, give_up: &GiveUp) -> u32 {
    let mut buffer = vec![0; 1 << 16];
    let (mut crc, mut offset) = (0, 0u64);
    loop {
        let count = file.read_at(offset, &mut buffer).unwrap_or(0);
        let Some(bytes @ [_, ..]) = buffer.get(..count).filter(|_| !give_up.asked()) else { return crc };
        crc = crc32(crc, bytes);
        offset = offset.saturating_add(count as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_check_values() {
        // The catalogue's check value for CRC-32/ISO-HDLC, and zlib's for two other texts.
        for (text, expected) in [
            (&b"123456789"[..], 0xcbf4_3926),
            (b"", 0),
            (b"The quick brown fox jumps over the lazy dog", 0x414f_a339),
        ] {
            assert_eq!(crc32_of_file(&text.to_vec(), &GiveUp::default()), expected);
        }
    }

    #[test]
    fn notes() {
        let mut notes = Vec::new();
        for (kind, name, body) in [(1u32, &b"GNU\0"[..], &b"abcde"[..]), (3, b"GNU\0", b"\x01\x02\x03")] {
            notes.extend_from_slice(&(name.len() as u32).to_le_bytes());
            notes.extend_from_slice(&(body.len() as u32).to_le_bytes());
            notes.extend_from_slice(&kind.to_le_bytes());
            notes.extend_from_slice(name);
            notes.extend_from_slice(body);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id(&notes), Some(vec![1, 2, 3]));
        for length in 0..notes.len() - 1 {
            assert_eq!(build_id(&notes[..length]), None, "{length}");
        }
        assert_eq!(build_id(&[0xff; 64]), None);
    }

    /// As dwz 0.15 writes them with `--dwarf-5`.
    #[test]
    fn supplementary_files() {
        let user = b"\x05\0\0sup.dwz\0\x03abc";
        assert_eq!(debug_sup(user), Some(("sup.dwz".into(), b"abc".to_vec(), false)));
        assert_eq!(debug_sup(b"\x05\0\x01\0\x03abc"), Some((String::new(), b"abc".to_vec(), true)));
        for length in 0..user.len() {
            assert_eq!(debug_sup(&user[..length]), None, "{length}");
        }
        for bad in
            [&b"\x04\0\0s\0\x03abc"[..], b"\x05\0\x02s\0\x03abc", b"\x05\0\0s\0\0", b"\x05\0\0s\0\x83\0abc"]
        {
            assert_eq!(debug_sup(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn debuglinks() {
        assert_eq!(debuglink(b"a.debug\0\x01\x02\x03\x04"), Some(("a.debug".into(), 0x0403_0201)));
        assert_eq!(debuglink(b"ab.debug\0\0\0\0\x01\x02\x03\x04"), Some(("ab.debug".into(), 0x0403_0201)));
        assert_eq!(debuglink(b"ab.debug\0\0\0\0\x01\x02\x03"), None);
        assert_eq!(debuglink(b"\0\0\0\0\0\0\0\0"), None);
        assert_eq!(debuglink(b""), None);
    }

    fn links(id: &[u8], name: &str) -> Links {
        Links {
            build_id: (!id.is_empty()).then(|| id.to_vec()),
            debuglink: Some((name.to_owned(), 0)),
            ..Links::default()
        }
    }

    fn texts(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().filter_map(|path| path.to_str()).collect()
    }

    /// The order of open(2) calls that strace showed for Valgrind 3.19.
    #[test]
    fn order() {
        let links = links(&[0xfd, 0x0a, 0x7c], "prog.debug");
        let paths = links.debug_files(Path::new("/usr/local/bin/prog"));
        let expected = [
            "/usr/lib/debug/.build-id/fd/0a7c.debug",
            "/usr/local/bin/prog.debug",
            "/local/bin/prog.debug",
            "/usr/local/bin/.debug/prog.debug",
            "/local/bin/.debug/prog.debug",
            "/usr/lib/debug/usr/local/bin/prog.debug",
            "/usr/lib/debug/local/bin/prog.debug",
        ];
        assert_eq!(texts(&paths), expected);
    }

    #[test]
    fn usr_may_stand_further_in_or_be_missing() {
        let links = links(&[], "p.debug");
        let paths = links.debug_files(Path::new("/srv/usr/dbg/p"));
        assert_eq!(texts(&paths)[..2], ["/srv/usr/dbg/p.debug", "/dbg/p.debug"]);
        let paths = links.debug_files(Path::new("/opt/p"));
        let expected = ["/opt/p.debug", "/opt/.debug/p.debug", "/usr/lib/debug/opt/p.debug"];
        assert_eq!(texts(&paths), expected);
    }

    #[test]
    fn absolute_debuglinks_come_first() {
        let paths = links(&[], "/d/p.debug").debug_files(Path::new("/opt/p"));
        assert_eq!(texts(&paths)[..2], ["/d/p.debug", "/opt/d/p.debug"]);
    }

    #[test]
    fn nothing_to_go_by() {
        assert!(Links::default().debug_files(Path::new("/opt/p")).is_empty());
        assert!(Links::default().alternate_files(Path::new("/opt/p")).is_empty());
    }

    #[test]
    fn alternates() {
        let links =
            |name: &str| Links { debugaltlink: Some((name.into(), vec![1, 2, 3])), ..Links::default() };
        let by_id = "/usr/lib/debug/.build-id/01/0203.debug";
        let debug = Path::new("/usr/lib/debug/x/p.debug");
        assert_eq!(texts(&links("/a/b").alternate_files(debug)), ["/a/b", by_id]);
        assert_eq!(texts(&links("b").alternate_files(debug)), ["/usr/lib/debug/x/b", by_id]);
    }
}
