//! Which files of the host the emulated machine shows: one table, and what the command line adds to
//! it. Decides by paths that are absolute and free of links, and opens nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::abi::fs::{S_IFDIR, S_IFLNK, S_IFMT};

/// The part of a path of the host that is shown. What is not shown is as if it were not there:
/// ENOENT, and no name in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The file, or the directory with all that is in it.
    Open,
    /// The same, of what every user of the host may read.
    Public,
    /// The directory, and in it only the names that lead to something that is shown.
    Bare,
    /// Nothing.
    Hidden,
}

impl View {
    /// Tells if a file with this `st_mode` is shown.
    fn shows(self, mode: u32) -> bool {
        match (self, mode & S_IFMT) {
            (View::Open, _) | (View::Public | View::Bare, S_IFLNK) | (View::Bare, S_IFDIR) => true,
            (View::Public, S_IFDIR) => mode & 0o5 == 0o5,
            (View::Public, _) => mode & 0o4 != 0,
            (View::Bare | View::Hidden, _) => false,
        }
    }
}

/// The table: a path has the view of the longest entry that it is or is below; below a bare
/// directory that is nothing. README.md shows it.
const TABLE: [(&str, View); 53] = [
    ("/", View::Bare),
    // The system.
    ("/bin", View::Public),
    ("/etc", View::Public),
    ("/gnu", View::Public),
    ("/lib", View::Public),
    ("/lib32", View::Public),
    ("/lib64", View::Public),
    ("/libx32", View::Public),
    ("/nix", View::Public),
    ("/opt", View::Public),
    ("/sbin", View::Public),
    ("/snap", View::Public),
    ("/usr", View::Public),
    ("/var/cache/apt", View::Public),
    ("/var/cache/fontconfig", View::Public),
    ("/var/lib/apt", View::Public),
    ("/var/lib/dpkg", View::Public),
    ("/var/lib/gems", View::Public),
    ("/var/lib/ghc", View::Public),
    ("/var/lib/texmf", View::Public),
    // Directories that programs expect, of which what is in them is somebody's own.
    ("/home", View::Bare),
    ("/media", View::Bare),
    ("/mnt", View::Bare),
    ("/root", View::Bare),
    ("/run", View::Bare),
    ("/srv", View::Bare),
    ("/tmp", View::Bare),
    ("/var", View::Bare),
    ("/var/cache", View::Bare),
    ("/var/lib", View::Bare),
    ("/var/lock", View::Bare),
    ("/var/log", View::Bare),
    ("/var/run", View::Bare),
    ("/var/tmp", View::Bare),
    // Secrets of the system, should their permissions not tell.
    ("/etc/apt/auth.conf", View::Hidden),
    ("/etc/apt/auth.conf.d", View::Hidden),
    ("/etc/gshadow", View::Hidden),
    ("/etc/gshadow-", View::Hidden),
    ("/etc/ipsec.secrets", View::Hidden),
    ("/etc/krb5.keytab", View::Hidden),
    ("/etc/letsencrypt", View::Hidden),
    ("/etc/NetworkManager/system-connections", View::Hidden),
    ("/etc/security/opasswd", View::Hidden),
    ("/etc/shadow", View::Hidden),
    ("/etc/shadow-", View::Hidden),
    ("/etc/ssh/ssh_host_dsa_key", View::Hidden),
    ("/etc/ssh/ssh_host_ecdsa_key", View::Hidden),
    ("/etc/ssh/ssh_host_ed25519_key", View::Hidden),
    ("/etc/ssh/ssh_host_rsa_key", View::Hidden),
    ("/etc/ssl/private", View::Hidden),
    ("/etc/sudoers", View::Hidden),
    ("/etc/sudoers.d", View::Hidden),
    ("/etc/wireguard", View::Hidden),
];

/// Names of keys, passwords and histories, hidden wherever they are, unless an option opens them or
/// the command line names them.
const SECRETS: [&str; 30] = [
    ".ICEauthority",
    ".Xauthority",
    ".authinfo",
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/chromium",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".config/hub",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".mysql_history",
    ".netrc",
    ".password-store",
    ".pgpass",
    ".psql_history",
    ".ssh",
    ".thunderbird",
    ".vault-token",
    ".zsh_history",
];

type Rules = BTreeMap<Vec<u8>, View>;

/// The files of the host that are shown.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The directory of the host that is the root of the emulated machine.
    root: Vec<u8>,
    /// The table, with what the command line names and the working directory.
    rules: Rules,
    /// Paths that options open and hide, which go before the rest.
    options: Rules,
}

impl Default for Policy {
    /// The table alone.
    fn default() -> Policy {
        let rules = TABLE.iter().map(|(path, view)| (path.as_bytes().to_vec(), *view)).collect();
        Policy { root: b"/".to_vec(), rules, options: Rules::new() }
    }
}

impl Policy {
    /// A policy that hides nothing.
    pub fn everything() -> Policy {
        Policy::of_root(b"/")
    }

    /// A policy that shows a directory of the host, all of it, as the root of the emulated machine.
    pub fn of_root(root: &[u8]) -> Policy {
        let options = Rules::from([(root.to_vec(), View::Open)]);
        Policy { root: root.to_vec(), rules: Rules::new(), options }
    }

    /// Shows a file, or a directory with all that is in it but secrets; below `/etc` as far as
    /// every user may read it. `/` names too much: `-F/` does it.
    pub fn name(&mut self, path: &[u8], is_dir: bool) {
        if path == b"/" {
            return;
        }
        let view = match self.nearest(&self.rules, path) {
            Some((rule, View::Public)) if is_dir && rule.starts_with(b"/etc") => View::Public,
            _ => View::Open,
        };
        self.rules.insert(path.to_vec(), view);
    }

    /// Shows that a directory is there.
    pub fn name_bare(&mut self, path: &[u8]) {
        if self.view(path) == View::Hidden {
            self.rules.insert(path.to_vec(), View::Bare);
        }
    }

    /// Shows a path and all that is below, for an option.
    pub fn open(&mut self, path: &[u8]) {
        self.options.entry(path.to_vec()).or_insert(View::Open);
    }

    /// Hides a path and all that is below, for an option. It goes before `open` of the same path.
    pub fn deny(&mut self, path: &[u8]) {
        self.options.insert(path.to_vec(), View::Hidden);
    }

    /// The directory of the host that is the root of the emulated machine.
    pub fn root(&self) -> &[u8] {
        &self.root
    }

    /// The path in the emulated machine of a path of the host.
    pub fn in_guest<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        match below(path, &self.root) {
            Some(b"") | None => b"/",
            Some(_) if self.root == b"/" => path,
            Some(rest) => rest,
        }
    }

    /// The part of a path that is shown.
    pub fn view(&self, path: &[u8]) -> View {
        if let Some((_, view)) = self.nearest(&self.options, path) {
            return match view {
                View::Hidden if leads_on(&self.options, path) => View::Bare,
                view => view,
            };
        }
        let Some((rule, view)) = self.nearest(&self.rules, path) else { return View::Hidden };
        let rest = below(path, rule).unwrap_or_default();
        let shown = match view {
            View::Open | View::Public => !is_secret(rest),
            View::Bare => rest.is_empty(),
            View::Hidden => false,
        };
        match shown {
            true => view,
            false if leads_on(&self.options, path) || leads_on(&self.rules, path) => View::Bare,
            false => View::Hidden,
        }
    }

    /// Tells if a file with this `st_mode` is shown at a path.
    pub fn shows(&self, path: &[u8], mode: u32) -> bool {
        self.view(path).shows(mode)
    }

    /// The files and directories of the host that may be read, as far as they go without what is
    /// hidden in them.
    pub fn readable(&self) -> Vec<PathBuf> {
        let all = self.rules.iter().chain(&self.options);
        let read = all.filter(|(_, view)| matches!(view, View::Open | View::Public));
        read.map(|(path, _)| PathBuf::from(OsStr::from_bytes(path))).collect()
    }

    /// Names in a bare directory that may be shown.
    pub(crate) fn bare_names(&self, path: &[u8]) -> BTreeSet<Vec<u8>> {
        let all = rules_below(&self.options, path).chain(rules_below(&self.rules, path));
        let names = all.filter_map(|(rule, _)| {
            let rest = below(rule, path)?;
            rest.strip_prefix(b"/").unwrap_or(rest).split(|byte| *byte == b'/').next().map(<[u8]>::to_vec)
        });
        names.collect()
    }

    /// Tells if an option hides something below a directory: moved, it would be shown elsewhere.
    pub(crate) fn holds_hidden(&self, path: &[u8]) -> bool {
        rules_below(&self.options, path).any(|(_, view)| *view == View::Hidden)
    }

    /// The longest of the rules that a path is or is below.
    fn nearest<'a>(&self, rules: &'a Rules, path: &[u8]) -> Option<(&'a [u8], View)> {
        let mut end = path.len();
        loop {
            let at = if end == 0 { &b"/"[..] } else { &path[..end] };
            if let Some((rule, view)) = rules.get_key_value(at) {
                return Some((rule, *view));
            }
            if at == b"/" {
                return None;
            }
            end = at.iter().rposition(|byte| *byte == b'/')?;
        }
    }
}

/// The part of a path behind a directory: nothing if it is the directory, else a slash and names.
fn below<'a>(path: &'a [u8], dir: &[u8]) -> Option<&'a [u8]> {
    if dir == b"/" {
        return Some(if path == b"/" { b"" } else { path });
    }
    path.strip_prefix(dir).filter(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// The rules for what is below a path.
fn rules_below<'a>(rules: &'a Rules, path: &[u8]) -> impl Iterator<Item = (&'a Vec<u8>, &'a View)> + use<'a> {
    let mut from = path.to_vec();
    if from != b"/" {
        from.push(b'/');
    }
    let prefix = from.clone();
    let range = rules.range::<[u8], _>((Bound::Excluded(&from[..]), Bound::Unbounded));
    range.take_while(move |(rule, _)| rule.starts_with(&prefix)).collect::<Vec<_>>().into_iter()
}

/// Tells if something below a path is shown.
fn leads_on(rules: &Rules, path: &[u8]) -> bool {
    rules_below(rules, path).any(|(_, view)| *view != View::Hidden)
}

/// Tells if a secret's name is in a path.
fn is_secret(path: &[u8]) -> bool {
    let is_here = |secret: &str| {
        let starts = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        starts.into_iter().any(|at| below(&path[at..], secret.as_bytes()).is_some())
    };
    SECRETS.iter().any(|secret| is_here(secret))
}

/// Paths of the host that the program asked for and was not shown.
#[derive(Clone, Debug, Default)]
pub struct NotShown {
    paths: BTreeSet<Vec<u8>>,
    first: Vec<Vec<u8>>,
}

impl NotShown {
    /// Paths that are told apart, and those of them that are named.
    const MOST: usize = 10_000;
    const NAMED: usize = 3;

    /// Notes a path.
    pub(crate) fn note(&mut self, path: &[u8]) {
        if self.paths.len() < NotShown::MOST
            && self.paths.insert(path.to_vec())
            && self.first.len() < NotShown::NAMED
        {
            self.first.push(path.to_vec());
        }
    }

    /// A line about them, if there are any.
    pub fn line(&self) -> Option<String> {
        let shown: Vec<_> = self.first.iter().map(|path| String::from_utf8_lossy(path)).collect();
        let list = shown.join(", ");
        let more = match self.paths.len() - self.first.len() {
            0 => String::new(),
            more if self.paths.len() == NotShown::MOST => format!(" and {more} or more others"),
            more => format!(" and {more} more"),
        };
        let are = if self.paths.len() == 1 { "is" } else { "are" };
        (!self.first.is_empty()).then(|| {
            format!("{list}{more} {are} there on the host but not for the program; --allow-read=PATH opens what is in PATH")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(policy: &Policy, path: &str) -> View {
        policy.view(path.as_bytes())
    }

    #[test]
    fn the_table_is_for_programs_that_one_does_not_trust() {
        let policy = Policy::default();
        for (path, expected) in [
            ("/", View::Bare),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", View::Public),
            ("/usr", View::Public),
            ("/usrx", View::Hidden),
            ("/etc/passwd", View::Public),
            ("/etc/shadow", View::Hidden),
            ("/etc/ssl/private/key.pem", View::Hidden),
            ("/etc/skel/.ssh/id", View::Hidden),
            ("/home", View::Bare),
            ("/home/me", View::Hidden),
            ("/tmp/x", View::Hidden),
            ("/data", View::Hidden),
            ("/var/lib", View::Bare),
            ("/var/lib/dpkg/status", View::Public),
            ("/var/lib/mysql", View::Hidden),
        ] {
            assert_eq!(view(&policy, path), expected, "{path}");
        }
        for home in ["/home/me", "/root"] {
            assert_eq!(view(&policy, &format!("{home}/.ssh")), View::Hidden);
        }
        assert!(TABLE.iter().all(|(path, _)| path == &"/" || !path.ends_with('/')));
    }

    #[test]
    fn what_is_named_is_shown_with_the_way_to_it() {
        let mut policy = Policy::default();
        policy.name(b"/home/me/work", true);
        policy.name(b"/home/me/.netrc", false);
        policy.name(b"/etc", true);
        policy.name(b"/etc/ssl/private/own.key", false);
        for (path, expected) in [
            ("/home", View::Bare),
            ("/home/me", View::Bare),
            ("/home/me/other", View::Hidden),
            ("/home/me/work/a/b", View::Open),
            ("/home/me/work/.ssh/id", View::Hidden),
            ("/home/me/work/x/.config/gh/hosts.yml", View::Hidden),
            ("/home/me/work/x/.config/ghost", View::Open),
            ("/home/me/workshop", View::Hidden),
            ("/home/me/.netrc", View::Open),
            ("/etc/passwd", View::Public),
            ("/etc/shadow", View::Hidden),
            ("/etc/ssl/private", View::Bare),
            ("/etc/ssl/private/own.key", View::Open),
            ("/etc/ssl/private/other.key", View::Hidden),
        ] {
            assert_eq!(view(&policy, path), expected, "{path}");
        }
        let names: Vec<_> = policy.bare_names(b"/home/me").into_iter().collect();
        assert_eq!(names, [&b".netrc"[..], b"work"]);
        policy.name(b"/", true);
        assert_eq!(view(&policy, "/data"), View::Hidden);
        assert_eq!(view(&policy, "/home/you"), View::Hidden);
        assert_eq!(view(&policy, "/etc/shadow"), View::Hidden);
    }

    #[test]
    fn options_go_before_all_else() {
        let mut policy = Policy::default();
        policy.name(b"/home/me", true);
        policy.open(b"/home/me/keys");
        policy.deny(b"/home/me/keys/old");
        policy.open(b"/home/me/keys/old/one");
        policy.deny(b"/usr/share");
        policy.deny(b"/home/me/both");
        policy.open(b"/home/me/both");
        for (path, expected) in [
            ("/home/me/keys/.ssh/id", View::Open),
            ("/home/me/keys/old", View::Bare),
            ("/home/me/keys/old/one", View::Open),
            ("/home/me/keys/old/two", View::Hidden),
            ("/usr/share/doc", View::Hidden),
            ("/usr/lib", View::Public),
            ("/home/me/both/x", View::Hidden),
        ] {
            assert_eq!(view(&policy, path), expected, "{path}");
        }
        assert!(policy.holds_hidden(b"/home/me/keys") && !policy.holds_hidden(b"/home/me/keys/old"));
        policy.open(b"/");
        assert_eq!(view(&policy, "/home/you/.ssh"), View::Open);
        assert_eq!(view(&policy, "/etc/shadow"), View::Open);
        policy.deny(b"/home/you");
        assert_eq!(view(&policy, "/home/you/.ssh"), View::Hidden);
    }

    #[test]
    fn a_public_file_is_one_that_all_may_read() {
        for (view, mode, shown) in [
            (View::Public, 0o100_644, true),
            (View::Public, 0o100_640, false),
            (View::Public, 0o040_755, true),
            (View::Public, 0o040_751, false),
            (View::Public, 0o120_777, true),
            (View::Bare, 0o040_700, true),
            (View::Bare, 0o100_644, false),
            (View::Open, 0o100_600, true),
            (View::Hidden, 0o100_644, false),
        ] {
            assert_eq!(view.shows(mode), shown, "{view:?} {mode:o}");
        }
    }

    #[test]
    fn a_root_of_its_own() {
        let mut policy = Policy::of_root(b"/srv/image");
        assert_eq!(view(&policy, "/srv/image/etc/shadow"), View::Open);
        assert_eq!(view(&policy, "/etc/passwd"), View::Hidden);
        assert_eq!(policy.in_guest(b"/srv/image"), b"/");
        assert_eq!(policy.in_guest(b"/srv/image/bin/sh"), b"/bin/sh");
        assert_eq!(Policy::default().in_guest(b"/bin/sh"), b"/bin/sh");
        policy.deny(b"/srv/image/etc");
        assert_eq!(view(&policy, "/srv/image/etc/passwd"), View::Hidden);
        assert_eq!(view(&Policy::everything(), "/home/me/.ssh/id"), View::Open);
    }

    #[test]
    fn what_was_not_shown_is_one_line() {
        let mut seen = NotShown::default();
        assert_eq!(seen.line(), None);
        seen.note(b"/home/me/.ssh");
        seen.note(b"/home/me/.ssh");
        assert!(seen.line().is_some_and(|line| line.starts_with("/home/me/.ssh is there")));
        (0..20_000).for_each(|at: u32| seen.note(at.to_string().as_bytes()));
        let line = seen.line().unwrap_or_default();
        assert!(line.starts_with("/home/me/.ssh, 0, 1 and 9997 or more others are"), "{line}");
    }
}
