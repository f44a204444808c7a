//! A directory that may be changed for good cannot be left.

use super::*;

fn outside_and_inside() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    let (inside, outside) = (root.join("in"), root.join("out"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "safe").unwrap();
    (dir, inside, outside)
}

#[test]
fn links_and_dots_lead_into_the_overlay() {
    let (_dir, inside, outside) = outside_and_inside();
    let mut guest = Guest::new(&inside, &[&inside]);
    assert_eq!(guest.on_two(nr::SYMLINK, outside.to_str().unwrap(), "door"), Ok(0));
    assert_eq!(guest.on_two(nr::SYMLINK, "../out/secret", "secret"), Ok(0));
    let tries =
        ["door/secret", "secret", "../out/secret", "door/../out/secret", "/proc/self/cwd/../out/secret"];
    for path in tries {
        assert_eq!(guest.put_file(path, O_WRONLY | O_TRUNC, 0, b"changed"), Ok(7), "{path}");
        assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"safe", "{path}");
        assert_eq!(guest.read_file(outside.join("secret").to_str().unwrap()).unwrap(), b"changed");
    }
    assert_eq!(guest.put_file("door/new", O_WRONLY | O_CREAT, 0o644, b"x"), Ok(1));
    assert_eq!(guest.on(nr::MKDIR, "door/dir", &[0o755]), Ok(0));
    assert_eq!(guest.on(nr::UNLINK, "door/secret", &[]), Ok(0));
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"safe");
    // new, dir, and secret, which is gone.
    assert_eq!(guest.machine.kernel.fs.dropped(), 3);
}

#[test]
fn names_do_not_cross_the_border() {
    let (_dir, inside, outside) = outside_and_inside();
    let mut guest = Guest::new(&inside, &[&inside]);
    let secret = outside.join("secret");
    let secret = secret.to_str().unwrap();
    assert_eq!(guest.put_file("mine", O_WRONLY | O_CREAT, 0o644, b"x"), Ok(1));
    assert_eq!(guest.on_two(nr::LINK, secret, "link"), Err(18)); // EXDEV
    assert_eq!(guest.rename(secret, "taken", 0), Err(18));
    assert_eq!(guest.rename("mine", "../out/given", 0), Err(18));
    assert_eq!(guest.rename("mine", "../out/secret", RENAME_EXCHANGE), Err(18));
    assert_eq!(guest.rename("../in", "../moved", 0), Err(16)); // EBUSY, as a mount point
    assert_eq!(guest.on(nr::RMDIR, inside.to_str().unwrap(), &[]), Err(16));
    assert_eq!(std::fs::read(inside.join("mine")).unwrap(), b"x");
}

#[test]
fn a_directory_swapped_for_a_link_by_another_is_not_followed() {
    let (_dir, inside, outside) = outside_and_inside();
    std::fs::create_dir(inside.join("sub")).unwrap();
    let mut guest = Guest::new(&inside, &[&inside]);
    assert_eq!(guest.on(nr::CHDIR, "sub", &[]), Ok(0));
    std::fs::remove_dir(inside.join("sub")).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("sub")).unwrap();
    // The guest still stands in `sub`: making a file there must not end up beyond the link.
    assert!(guest.put_file("new", O_WRONLY | O_CREAT, 0o644, b"x").is_err());
    assert!(guest.put_file("secret", O_WRONLY, 0, b"x").is_err());
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"safe");
}

#[test]
fn a_neighbour_with_the_same_beginning_is_not_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let (allowed, other) = (dir.path().join("ab"), dir.path().join("abc"));
    std::fs::create_dir(&allowed).unwrap();
    std::fs::create_dir(&other).unwrap();
    let mut guest = Guest::new(&allowed, &[&allowed]);
    assert_eq!(guest.put_file("../abc/f", O_WRONLY | O_CREAT, 0o644, b"x"), Ok(1));
    assert_eq!(guest.put_file("f", O_WRONLY | O_CREAT, 0o640, b"y"), Ok(1));
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);
    assert_eq!(std::fs::read(allowed.join("f")).unwrap(), b"y");
}

#[test]
fn pipes_and_devices_of_the_host_are_never_opened() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("p");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
    let mut guest = Guest::new(dir.path(), &[dir.path()]);
    assert_eq!(guest.stat(nr::STAT, "p").unwrap().0, S_IFIFO | 0o644);
    assert_eq!(guest.open("p", 0, 0), Err(13)); // EACCES
    assert_eq!(guest.open("p", O_RDWR, 0), Err(13));
}
