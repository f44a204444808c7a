//! Where Valgrind 3.19 looks for separate debug files, in its order (as strace shows it). Pure: the caller tries the
//! paths and asks [`Links`] whether what it finds there is the right file.

use std::path::{Path, PathBuf};

use crate::symbols::debuglink::Links;

/// Where distributions install debug files.
pub const DEBUG_ROOT: &str = "/usr/lib/debug";

/// The paths to try for the debug file of the object at `object` (absolute), first to last: by build-id, then by
/// debuglink name beside the object, in `.debug`, and below [`DEBUG_ROOT`] and `extra` (Valgrind's
/// `--extra-debuginfo-path`). A directory below `usr` is also tried as if it were below `/` (usr-merge).
pub fn debug_files(object: &Path, links: &Links, extra: Option<&Path>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = links.build_id.as_deref().and_then(by_build_id).into_iter().collect();
    let Some((name, _)) = &links.debuglink else { return paths };
    if name.starts_with('/') {
        paths.push(PathBuf::from(name));
    }
    let directory = object.parent().unwrap_or(Path::new("/"));
    let mut directories = vec![directory.to_path_buf()];
    directories.extend(usr_merged(directory));
    // A name is joined as text: an absolute one stays below the directory.
    let below = |root: &Path, part: &str| root.join(part.trim_start_matches('/'));
    let text: Vec<String> = directories.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    paths.extend(directories.iter().map(|path| below(path, name)));
    paths.extend(directories.iter().map(|path| below(&path.join(".debug"), name)));
    for root in [Some(Path::new(DEBUG_ROOT)), extra].into_iter().flatten() {
        paths.extend(text.iter().map(|path| below(&below(root, path), name)));
    }
    paths
}

/// The paths to try for the file that the `.gnu_debugaltlink` of the file at `from` names.
pub fn alternate_files(from: &Path, links: &Links) -> Vec<PathBuf> {
    let Some((name, id)) = &links.debugaltlink else { return Vec::new() };
    // Joining takes an absolute name as it is.
    let named = from.parent().unwrap_or(Path::new("/")).join(name);
    std::iter::once(named).chain(by_build_id(id)).collect()
}

/// `/usr/lib/debug/.build-id/xx/rest.debug`.
fn by_build_id(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_ROOT).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

/// What follows the first component `usr` of an absolute directory, as an absolute directory.
fn usr_merged(directory: &Path) -> Option<PathBuf> {
    let mut components = directory.components();
    components.find(|component| component.as_os_str() == "usr")?;
    let rest = components.as_path();
    (!rest.as_os_str().is_empty()).then(|| Path::new("/").join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let paths = debug_files(Path::new("/usr/local/bin/prog"), &links, Some(Path::new("/tmp/xtra")));
        let expected = [
            "/usr/lib/debug/.build-id/fd/0a7c.debug",
            "/usr/local/bin/prog.debug",
            "/local/bin/prog.debug",
            "/usr/local/bin/.debug/prog.debug",
            "/local/bin/.debug/prog.debug",
            "/usr/lib/debug/usr/local/bin/prog.debug",
            "/usr/lib/debug/local/bin/prog.debug",
            "/tmp/xtra/usr/local/bin/prog.debug",
            "/tmp/xtra/local/bin/prog.debug",
        ];
        assert_eq!(texts(&paths), expected);
    }

    #[test]
    fn usr_may_stand_further_in_or_be_missing() {
        let links = links(&[], "p.debug");
        let paths = debug_files(Path::new("/srv/usr/dbg/p"), &links, None);
        assert_eq!(texts(&paths)[..2], ["/srv/usr/dbg/p.debug", "/dbg/p.debug"]);
        let paths = debug_files(Path::new("/opt/p"), &links, None);
        let expected = ["/opt/p.debug", "/opt/.debug/p.debug", "/usr/lib/debug/opt/p.debug"];
        assert_eq!(texts(&paths), expected);
    }

    #[test]
    fn absolute_debuglinks_come_first() {
        let paths = debug_files(Path::new("/opt/p"), &links(&[], "/d/p.debug"), None);
        assert_eq!(texts(&paths)[..2], ["/d/p.debug", "/opt/d/p.debug"]);
    }

    #[test]
    fn nothing_to_go_by() {
        assert!(debug_files(Path::new("/opt/p"), &Links::default(), None).is_empty());
        assert!(alternate_files(Path::new("/opt/p"), &Links::default()).is_empty());
    }

    #[test]
    fn alternates() {
        let links =
            |name: &str| Links { debugaltlink: Some((name.into(), vec![1, 2, 3])), ..Links::default() };
        let by_id = "/usr/lib/debug/.build-id/01/0203.debug";
        let debug = Path::new("/usr/lib/debug/x/p.debug");
        assert_eq!(texts(&alternate_files(debug, &links("/a/b"))), ["/a/b", by_id]);
        assert_eq!(texts(&alternate_files(debug, &links("b"))), ["/usr/lib/debug/x/b", by_id]);
    }
}
