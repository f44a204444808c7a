//! What the programs of testdata/guest find in their directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Some files of the host, all with fixed modes and times.
pub fn furnish(directory: &Path) {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let times = fs::FileTimes::new().set_accessed(old).set_modified(old);
    let make = |name: &str, text: &str, mode: u32| {
        let path = directory.join(name);
        fs::write(&path, text).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        fs::File::options().write(true).open(&path).expect("open").set_times(times).expect("time");
    };
    fs::create_dir_all(directory.join("host/empty")).expect("mkdir");
    make("host/file", "of the host\n", 0o644);
    make("host/tool", "#!/bin/sh\nexit 3\n", 0o755);
    make("host/other", "another\n", 0o600);
    std::os::unix::fs::symlink("file", directory.join("host/link")).expect("symlink");
    std::os::unix::fs::symlink("nowhere", directory.join("host/dangling")).expect("symlink");
    for name in [".", "host", "host/empty"] {
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).expect("chmod");
    }
}
