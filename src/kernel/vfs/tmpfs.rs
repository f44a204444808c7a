//! What bounds a tmpfs, tmpfs(5): the pages and inodes that it may have, and the options of
//! mount(2) that say so. The pages are counted where they are, in a pool of guest memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::abi::errno::Errno;
use crate::guest::{GuestMemory, PAGE_SIZE, PoolId};
use crate::kernel::cred::Credentials;
use crate::kernel::procfs::machine::TOTAL_MEMORY;

/// Pages of the machine's memory.
const TOTAL_PAGES: u64 = TOTAL_MEMORY / PAGE_SIZE;
/// Pages, and inodes, of a tmpfs that is given no other number: `shmem_default_max_blocks` and
/// `shmem_default_max_inodes`.
const DEFAULT: u64 = TOTAL_PAGES / 2;
/// Room that Linux counts an inode with, `BOGO_INODE_SIZE`, which bounds their number.
const INODE_SIZE: u64 = 1024;
/// Bytes of a target, with its NUL, that a symbolic link holds without a page, `SHORT_SYMLINK_LEN`.
const SHORT_TARGET: usize = 128;
/// The permissions of the top of a tmpfs and of a ramfs.
const MODE: u32 = 0o1777;
const RAMFS_MODE: u32 = 0o755;
/// The policies of memory, which make no difference on a machine with one node.
const POLICIES: [&str; 5] = ["default", "local", "interleave", "prefer", "bind"];
/// Flags of a mount by name, which have no effect here.
const FLAGS: [&str; 8] = ["async", "dirsync", "lazytime", "mand", "nolazytime", "nomand", "rw", "sync"];

/// Options of mount(2) that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    blocks: Option<u64>,
    inodes: Option<u64>,
    mode: Option<u32>,
    /// Ids of the first user namespace.
    uid: Option<u32>,
    gid: Option<u32>,
    huge: Option<String>,
    inode64: Option<bool>,
    policy: Option<String>,
    noswap: bool,
    pub(crate) read_only: bool,
}

/// A number at the start of a text, as C writes it, and what is behind it: `simple_strtoull` with
/// base 0. A number that is too large wraps.
fn number(text: &str) -> (u64, &str) {
    let bytes = text.as_bytes();
    let (radix, digits) = match bytes {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, &text[2..]),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let end = digits.find(|digit: char| !digit.is_digit(radix)).unwrap_or(digits.len());
    let add = |value: u64, digit: char| {
        value.wrapping_mul(radix.into()).wrapping_add(digit.to_digit(radix).unwrap_or(0).into())
    };
    (digits[..end].chars().fold(0, add), &digits[end..])
}

/// A number with a unit, and what is behind it, `memparse`.
fn amount(text: &str) -> (u64, &str) {
    let (value, rest) = number(text);
    let unit = rest.chars().next().and_then(|unit| "KMGTPE".find(unit.to_ascii_uppercase()));
    match unit {
        Some(power) => (value << (10 * (power + 1)), &rest[1..]),
        None => (value, rest),
    }
}

/// The pages that `size` asks for; EINVAL.
fn size(text: &str) -> Result<u64, Errno> {
    let (bytes, rest) = amount(text);
    let (bytes, rest) = match rest.strip_prefix('%') {
        Some(rest) => (bytes.wrapping_mul(PAGE_SIZE).wrapping_mul(TOTAL_PAGES) / 100, rest),
        None => (bytes, rest),
    };
    if rest.is_empty() { Ok(bytes.div_ceil(PAGE_SIZE)) } else { Err(Errno::EINVAL) }
}

/// An amount up to a bound; EINVAL.
fn up_to(text: &str, most: u64) -> Result<u64, Errno> {
    let (value, rest) = amount(text);
    if rest.is_empty() && value <= most { Ok(value) } else { Err(Errno::EINVAL) }
}

/// An id as a program gives it; EINVAL.
fn id(text: &str) -> Result<u32, Errno> {
    let (value, rest) = number(text);
    let value = u32::try_from(value).ok().filter(|_| rest.is_empty() && text.len() <= 20);
    value.ok_or(Errno::EINVAL)
}

impl Options {
    /// The options in the text of mount(2) by a task with these credentials; EINVAL. A ramfs knows
    /// of the mode alone, and ignores the others.
    pub(crate) fn parse(data: &[u8], ramfs: bool, cred: &Credentials) -> Result<Options, Errno> {
        let text = std::str::from_utf8(data).map_err(|_| Errno::EINVAL)?;
        let mut all = Options::default();
        // A list of nodes has commas too.
        let mut pieces: Vec<String> = Vec::new();
        for piece in text.split(',') {
            match pieces.last_mut() {
                Some(last) if piece.starts_with(|first: char| first.is_ascii_digit()) => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => pieces.push(piece.into()),
            }
        }
        for option in pieces.iter().filter(|option| !option.is_empty()) {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option.as_str(), None),
            };
            match (name, value) {
                ("ro", None) => all.read_only = true,
                (flag, None) if FLAGS.contains(&flag) => {}
                ("mode", Some(mode)) => {
                    all.mode = Some(u32::from_str_radix(mode, 8).map_err(|_| Errno::EINVAL)? & 0o7777);
                }
                ("mode", None) => return Err(Errno::EINVAL),
                _ if ramfs => {}
                (_, Some("")) => return Err(Errno::EINVAL),
                ("size", Some(value)) => all.blocks = Some(size(value)?),
                ("nr_blocks", Some(value)) => all.blocks = Some(up_to(value, i64::MAX as u64)?),
                ("nr_inodes", Some(value)) => all.inodes = Some(up_to(value, u64::MAX / INODE_SIZE)?),
                ("uid", Some(value)) => {
                    all.uid = Some(cred.user_ns.uids.kernel_id(id(value)?).ok_or(Errno::EINVAL)?);
                }
                ("gid", Some(value)) => {
                    all.gid = Some(cred.user_ns.gids.kernel_id(id(value)?).ok_or(Errno::EINVAL)?);
                }
                ("huge", Some("never")) => all.huge = None,
                ("huge", Some(value @ ("always" | "within_size" | "advise"))) => {
                    all.huge = Some(value.into());
                }
                ("mpol", Some(value)) => {
                    let policy = value.split([':', '=']).next().unwrap_or(value);
                    if !POLICIES.contains(&policy) {
                        return Err(Errno::EINVAL);
                    }
                    all.policy = Some(value.into()).filter(|_| policy != "default");
                }
                ("inode32", None) => all.inode64 = Some(false),
                ("inode64", None) => all.inode64 = Some(true),
                ("noswap", None) if cred.user_ns.is_first() => all.noswap = true,
                _ => return Err(Errno::EINVAL),
            }
        }
        Ok(all)
    }

    /// The options of a ramfs as `/proc/mounts` shows them.
    pub(crate) fn shown_of_ramfs(&self) -> String {
        self.mode.filter(|mode| *mode != RAMFS_MODE).map_or(String::new(), |mode| format!(",mode={mode:o}"))
    }

    /// The permissions and the owner of the top of a new file system.
    pub(crate) fn top(&self, ramfs: bool, cred: &Credentials) -> (u32, (u32, u32)) {
        let mode = self.mode.unwrap_or(if ramfs { RAMFS_MODE } else { MODE });
        (mode, (self.uid.unwrap_or(cred.uid.fs), self.gid.unwrap_or(cred.gid.fs)))
    }
}

/// A tmpfs.
#[derive(Clone, Debug)]
struct Tmpfs {
    /// The most pages, and the most inodes; 0 is no bound.
    blocks: u64,
    inodes: u64,
    /// Inodes, and names of each but the first.
    inodes_used: u64,
    mode: u32,
    owner: (u32, u32),
    huge: Option<String>,
    inode64: bool,
    policy: Option<String>,
    noswap: bool,
}

impl Tmpfs {
    /// The options that are not as they are by default, `shmem_show_options`.
    fn shown(&self) -> String {
        let mut text = String::new();
        if self.blocks != DEFAULT {
            let _ = write!(text, ",size={}k", self.blocks.saturating_mul(PAGE_SIZE / 1024));
        }
        if self.inodes != DEFAULT {
            let _ = write!(text, ",nr_inodes={}", self.inodes);
        }
        if self.mode != MODE {
            let _ = write!(text, ",mode={:o}", self.mode);
        }
        for (name, id) in [("uid", self.owner.0), ("gid", self.owner.1)] {
            if id != 0 {
                let _ = write!(text, ",{name}={id}");
            }
        }
        text.push_str(if self.inode64 { ",inode64" } else { "" });
        for (name, value) in [("huge", &self.huge), ("mpol", &self.policy)] {
            if let Some(value) = value {
                let _ = write!(text, ",{name}={value}");
            }
        }
        text.push_str(if self.noswap { ",noswap" } else { "" });
        text
    }

    fn most_pages(&self) -> u64 {
        if self.blocks == 0 { u64::MAX } else { self.blocks }
    }
}

/// Blocks and inodes of a file system, statfs(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) blocks: u64,
    pub(crate) blocks_free: u64,
    pub(crate) inodes: u64,
    pub(crate) inodes_free: u64,
}

/// Every tmpfs, by its device.
#[derive(Clone, Debug, Default)]
pub(crate) struct TmpfsTable(BTreeMap<u64, Tmpfs>);

impl TmpfsTable {
    /// Adds a tmpfs that has nothing yet, whose top has these permissions and this owner; the
    /// options to be shown.
    pub(super) fn add(&mut self, device: u64, options: &Options, (mode, owner): (u32, (u32, u32))) -> String {
        let tmpfs = Tmpfs {
            blocks: options.blocks.unwrap_or(DEFAULT),
            inodes: options.inodes.unwrap_or(DEFAULT),
            inodes_used: 0,
            mode,
            owner,
            huge: options.huge.clone(),
            inode64: options.inode64.unwrap_or(false),
            policy: options.policy.clone(),
            noswap: options.noswap,
        };
        let shown = tmpfs.shown();
        self.0.insert(device, tmpfs);
        shown
    }

    /// Forgets a tmpfs that was not mounted.
    pub(super) fn remove(&mut self, device: u64) {
        self.0.remove(&device);
    }

    /// Tests whether a device is that of a tmpfs, whatever bounds it has.
    pub(crate) fn has(&self, device: u64) -> bool {
        self.0.contains_key(&device)
    }

    /// The pool that the pages of files on a device are counted in, if there is a bound on them. It
    /// knows its bound then.
    pub(super) fn pool(&self, device: u64, mem: &mut dyn GuestMemory) -> Option<PoolId> {
        let tmpfs = self.0.get(&device).filter(|tmpfs| tmpfs.blocks > 0)?;
        let pool = PoolId(device);
        mem.pool_bound(pool, tmpfs.most_pages());
        Some(pool)
    }

    /// The pool, if a symbolic link with this target takes a page.
    pub(super) fn pool_of_link(
        &self,
        device: u64,
        target: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Option<PoolId> {
        self.pool(device, mem).filter(|_| target.len() >= SHORT_TARGET)
    }

    /// Tests whether pages of files on a device are bounded.
    pub(super) fn bounds(&self, device: u64) -> bool {
        self.0.get(&device).is_some_and(|tmpfs| tmpfs.blocks > 0)
    }

    /// Checks that there is room for an inode or a name; ENOSPC.
    pub(super) fn inode_room(&self, device: u64) -> Result<(), Errno> {
        let full = |tmpfs: &Tmpfs| tmpfs.inodes > 0 && tmpfs.inodes_used >= tmpfs.inodes;
        if self.0.get(&device).is_some_and(full) { Err(Errno::ENOSPC) } else { Ok(()) }
    }

    /// Counts an inode, or a further name of one.
    pub(super) fn inode_made(&mut self, device: u64) {
        if let Some(tmpfs) = self.0.get_mut(&device) {
            tmpfs.inodes_used += 1;
        }
    }

    /// Takes it back.
    pub(super) fn inode_gone(&mut self, device: u64) {
        if let Some(tmpfs) = self.0.get_mut(&device) {
            tmpfs.inodes_used = tmpfs.inodes_used.saturating_sub(1);
        }
    }

    /// The room of the tmpfs on a device; what has no bound is 0.
    pub(crate) fn space(&self, device: u64, mem: &dyn GuestMemory) -> Option<Space> {
        let tmpfs = self.0.get(&device)?;
        let used = mem.pool_used(PoolId(device));
        Some(Space {
            blocks: tmpfs.blocks,
            blocks_free: tmpfs.blocks.saturating_sub(used),
            inodes: tmpfs.inodes,
            inodes_free: tmpfs.inodes.saturating_sub(tmpfs.inodes_used),
        })
    }

    /// Gives a tmpfs other bounds, `shmem_reconfigure`; the options to be shown. EINVAL for less
    /// than it has, and for a bound where there was none.
    pub(crate) fn reconfigure(
        &mut self,
        device: u64,
        options: &Options,
        mem: &mut dyn GuestMemory,
    ) -> Result<Option<String>, Errno> {
        let Some(tmpfs) = self.0.get_mut(&device) else { return Ok(None) };
        let used = mem.pool_used(PoolId(device));
        let blocks = options.blocks.filter(|blocks| *blocks > 0);
        let inodes = options.inodes.filter(|inodes| *inodes > 0);
        let too_few = blocks.is_some_and(|most| tmpfs.blocks == 0 || most < used)
            || inodes.is_some_and(|most| tmpfs.inodes == 0 || most < tmpfs.inodes_used);
        if too_few || options.noswap != tmpfs.noswap {
            return Err(Errno::EINVAL);
        }
        tmpfs.blocks = options.blocks.unwrap_or(tmpfs.blocks);
        tmpfs.inodes = options.inodes.unwrap_or(tmpfs.inodes);
        tmpfs.inode64 = options.inode64.unwrap_or(tmpfs.inode64);
        if options.huge.is_some() {
            tmpfs.huge.clone_from(&options.huge);
        }
        if options.policy.is_some() {
            tmpfs.policy.clone_from(&options.policy);
        }
        mem.pool_bound(PoolId(device), tmpfs.most_pages());
        Ok(Some(tmpfs.shown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::fake::FakeMemory;

    #[test]
    fn numbers_are_those_of_c() {
        assert_eq!(["16", "0x10", "020", "0x", "1e"].map(|text| number(text).0), [16, 16, 16, 0, 1]);
        assert_eq!(
            [amount("3k"), amount("1Gb"), amount("0x1e"), amount("-1")],
            [(3072, ""), (1 << 30, "b"), (30, ""), (0, "-1")]
        );
        assert_eq!(
            [size("65537"), size("10%"), size("10%k"), size("64kk")],
            [
                Ok(17),
                Ok((TOTAL_PAGES * PAGE_SIZE / 10).div_ceil(PAGE_SIZE)),
                Err(Errno::EINVAL),
                Err(Errno::EINVAL)
            ]
        );
        // Linux 6.18 shows size=195680098164736k for it.
        assert_eq!(size("99999999999999999999999"), Ok(48_920_024_541_184));
        assert_eq!(
            [id("0x10"), id("010"), id("-1"), id("4294967296")].map(Result::ok),
            [Some(16), Some(8), None, None]
        );
    }

    #[test]
    fn bounds_come_late_only_where_there_were_some() {
        let (mut all, mut mem, device) = (TmpfsTable::default(), FakeMemory::new(), 64);
        let options = |blocks, inodes| Options { blocks, inodes, ..Options::default() };
        let top = (0o700, (0, 5));
        assert_eq!(all.add(device, &options(Some(4), Some(2)), top), ",size=16k,nr_inodes=2,mode=700,gid=5");
        all.inode_made(device);
        assert_eq!(all.inode_room(device), Ok(()));
        all.inode_made(device);
        assert_eq!(all.inode_room(device), Err(Errno::ENOSPC));
        let pool = all.pool_of_link(device, &[b'x'; 128], &mut mem).expect("a bound");
        assert_eq!(all.pool_of_link(device, &[b'x'; 127], &mut mem), None);
        [(); 2].into_iter().for_each(|()| assert_eq!(mem.pool_take(pool), Ok(())));
        let space = Space { blocks: 4, blocks_free: 2, inodes: 2, inodes_free: 0 };
        assert_eq!(all.space(device, &mem), Some(space));
        let mut remount = |blocks, inodes| all.reconfigure(device, &options(blocks, inodes), &mut mem);
        assert_eq!(remount(Some(1), None), Err(Errno::EINVAL));
        assert_eq!(remount(None, Some(1)), Err(Errno::EINVAL));
        assert_eq!(remount(Some(2), None), Ok(Some(",size=8k,nr_inodes=2,mode=700,gid=5".into())));
        assert_eq!(remount(Some(0), Some(0)), Ok(Some(",size=0k,nr_inodes=0,mode=700,gid=5".into())));
        assert_eq!(remount(Some(9), None), Err(Errno::EINVAL));
        assert_eq!(all.inode_room(device), Ok(()));
        assert_eq!(all.space(device, &mem), Some(Space::default()));
    }
}
