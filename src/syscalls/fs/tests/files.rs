//! Descriptors, offsets, holes, limits and order.

use super::*;

fn guest() -> (tempfile::TempDir, Guest) {
    let dir = tempfile::tempdir().unwrap();
    let guest = Guest::new(dir.path(), &[]);
    (dir, guest)
}

#[test]
fn duplicates_share_an_offset_and_a_second_open_does_not() {
    let (dir, mut guest) = guest();
    std::fs::write(dir.path().join("f"), "abcdef").unwrap();
    let fd = guest.open("f", 0, 0).unwrap();
    let dup = guest.call(nr::DUP, &[fd as u64]).unwrap();
    let again = guest.open("f", 0, 0).unwrap();
    assert_eq!((fd, dup, again), (3, 4, 5));
    assert_eq!(guest.read(fd, 2).unwrap(), b"ab");
    assert_eq!(guest.read(dup, 2).unwrap(), b"cd");
    assert_eq!(guest.read(again, 2).unwrap(), b"ab");
    guest.close(fd);
    assert_eq!(guest.read(dup, 9).unwrap(), b"ef");
    assert_eq!(guest.open("f", 0, 0), Ok(3)); // the lowest free number
    assert_eq!(guest.call(nr::DUP2, &[5, 900]), Ok(900));
    assert_eq!(guest.call(nr::DUP2, &[5, 1024]), Err(9)); // EBADF at RLIMIT_NOFILE
    assert_eq!(guest.call(nr::FCNTL, &[5, F_DUPFD, 900]), Ok(901));
}

/// As strace shows it of find(1) on Linux.
#[test]
fn flags_are_shown_as_they_were_given() {
    let (_dir, mut guest) = guest();
    let fd = guest.open(".", O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0).unwrap();
    let shown = O_NONBLOCK | O_LARGEFILE | O_NOFOLLOW | O_DIRECTORY;
    assert_eq!(guest.call(nr::FCNTL, &[fd as u64, F_GETFL]), Ok(shown.into()));
    let fd = guest.open("f", O_RDWR | O_CREAT | O_EXCL | O_TRUNC, 0o644).unwrap();
    assert_eq!(guest.call(nr::FCNTL, &[fd as u64, F_GETFL]), Ok((O_RDWR | O_LARGEFILE).into()));
    assert_eq!(guest.call(nr::FCNTL, &[fd as u64, F_SETFL, (O_APPEND | O_CREAT).into()]), Ok(0));
    let shown = O_RDWR | O_APPEND | O_LARGEFILE;
    assert_eq!(guest.call(nr::FCNTL, &[fd as u64, F_GETFL]), Ok(shown.into()));
}

#[test]
fn exec_closes_what_is_marked() {
    let (dir, mut guest) = guest();
    std::fs::write(dir.path().join("f"), "x").unwrap();
    let kept = guest.open("f", 0, 0).unwrap();
    let closed = guest.open("f", O_CLOEXEC, 0).unwrap();
    let machine = &mut guest.machine;
    machine.kernel.exec(&mut machine.mem);
    assert_eq!(guest.call(nr::FCNTL, &[kept as u64, F_GETFD]), Ok(0));
    assert_eq!(guest.call(nr::FCNTL, &[closed as u64, F_GETFD]), Err(9));
}

/// epoll(7), questions and answers 6: a closed file leaves every interest list.
#[test]
fn exec_takes_what_it_closes_out_of_interest_lists() {
    let mut guest = Guest::new(Path::new("/"), &[]);
    let epoll = guest.call(nr::EPOLL_CREATE1, &[0]).unwrap() as u64;
    let event = guest.call(nr::EVENTFD2, &[1, O_CLOEXEC.into()]).unwrap() as u64;
    guest.machine.put(BUF, &[1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(guest.call(nr::EPOLL_CTL, &[epoll, EPOLL_CTL_ADD, event, BUF]), Ok(0));
    assert_eq!(guest.call(nr::EPOLL_WAIT, &[epoll, BUF, 1, 0]), Ok(1));
    let machine = &mut guest.machine;
    machine.kernel.exec(&mut machine.mem);
    assert_eq!(guest.call(nr::EPOLL_WAIT, &[epoll, BUF, 1, 0]), Ok(0));
}

#[test]
fn appending_goes_to_the_end_whatever_the_offset() {
    let (_dir, mut guest) = guest();
    let fd = guest.open("f", O_RDWR | O_CREAT | O_APPEND, 0o644).unwrap();
    let other = guest.open("f", O_WRONLY, 0).unwrap();
    guest.write(fd, b"one").unwrap();
    guest.write(other, b"O").unwrap();
    guest.call(nr::LSEEK, &[fd as u64, 0, SEEK_SET]).unwrap();
    guest.write(fd, b"two").unwrap();
    assert_eq!(guest.call(nr::LSEEK, &[fd as u64, 0, SEEK_CUR]), Ok(6));
    assert_eq!(guest.read_file("f").unwrap(), b"Onetwo");
}

#[test]
fn a_hole_takes_no_memory_and_bytes_give_it_back() {
    let (_dir, mut guest) = guest();
    let before = guest.machine.kernel.fs.charged();
    let fd = guest.open("f", O_RDWR | O_CREAT, 0o644).unwrap();
    assert_eq!(guest.call(nr::FTRUNCATE, &[fd as u64, 1 << 50]), Ok(0));
    assert_eq!(guest.fstat(fd).unwrap().2, 1 << 50);
    assert!(guest.machine.kernel.fs.charged() < before + 4096);
    assert_eq!(guest.call(nr::LSEEK, &[fd as u64, 1 << 49, SEEK_SET]), Ok(1 << 49));
    guest.write(fd, b"x").unwrap();
    assert!((before + 4096..before + 8192).contains(&guest.machine.kernel.fs.charged()));
    assert_eq!(guest.call(nr::LSEEK, &[fd as u64, 0, SEEK_DATA]), Ok(1 << 49));
    assert_eq!(guest.call(nr::LSEEK, &[fd as u64, 1 << 49, SEEK_HOLE]), Ok((1 << 49) + 4096));
    let block = [7; 32768];
    while guest.machine.kernel.fs.charged() < 60 << 20 {
        guest.write(fd, &block).unwrap();
    }
    guest.close(fd);
    assert_eq!(guest.on(nr::UNLINK, "f", &[]), Ok(0));
    assert_eq!(guest.machine.kernel.fs.charged(), before);
    assert_eq!(guest.machine.kernel.fs.dropped(), 0);
}

#[test]
fn a_removed_file_lives_until_it_is_closed() {
    let (dir, mut guest) = guest();
    std::fs::write(dir.path().join("f"), "host").unwrap();
    let fd = guest.open("f", O_RDWR, 0).unwrap();
    assert_eq!(guest.on(nr::UNLINK, "f", &[]), Ok(0));
    assert_eq!(guest.open("f", 0, 0), Err(2));
    assert_eq!(guest.write(fd, b"H"), Ok(1));
    assert_eq!(guest.read(fd, 9).unwrap(), b"ost");
    assert_eq!(guest.fstat(fd).unwrap().1, 0);
    assert_eq!(guest.put_file("f", O_WRONLY | O_CREAT | O_EXCL, 0o600, b"new"), Ok(3));
    guest.close(fd);
    assert_eq!(guest.read_file("f").unwrap(), b"new");
    assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), b"host");
    assert_eq!(guest.machine.kernel.fs.dropped(), 1);
}

#[test]
fn a_hard_link_sees_what_was_written_through_the_other() {
    let (dir, mut guest) = guest();
    std::fs::write(dir.path().join("f"), "old").unwrap();
    std::fs::hard_link(dir.path().join("f"), dir.path().join("g")).unwrap();
    assert_eq!(guest.put_file("f", O_WRONLY | O_TRUNC, 0, b"newer"), Ok(5));
    assert_eq!(guest.read_file("g").unwrap(), b"newer");
    assert_eq!(guest.ino("f"), guest.ino("g"));
    assert_eq!(guest.machine.kernel.fs.dropped(), 1);
}

#[test]
fn a_nameless_file_gets_a_name() {
    let (_dir, mut guest) = guest();
    let fd = guest.open(".", O_TMPFILE | O_RDWR, 0o644).unwrap();
    guest.write(fd, b"tmp").unwrap();
    assert_eq!(guest.fstat(fd).unwrap(), (S_IFREG | 0o644, 0, 3));
    let (from, to) = (guest.path(0, ""), guest.path(1, "named"));
    assert_eq!(guest.call(nr::LINKAT, &[fd as u64, from, FDCWD, to, AT_EMPTY_PATH.into()]), Ok(0));
    assert_eq!(guest.read_file("named").unwrap(), b"tmp");
    let exclusive = guest.open(".", O_TMPFILE | O_RDWR | O_EXCL, 0o644).unwrap();
    let (from, to) = (guest.path(0, ""), guest.path(1, "never"));
    assert_eq!(guest.call(nr::LINKAT, &[exclusive as u64, from, FDCWD, to, AT_EMPTY_PATH.into()]), Err(2));
}

/// fallocate(2) on ext4: whole blocks are taken out or inserted, and what lies behind moves.
#[test]
fn ranges_are_taken_out_and_inserted() {
    const FALLOCATE: u64 = 285;
    let (_dir, mut guest) = guest();
    let mut bytes = Vec::new();
    for letter in [b'a', b'b', b'c'] {
        bytes.extend([letter; 4096]);
    }
    bytes.extend(b"end");
    guest.put_file("f", O_WRONLY | O_CREAT, 0o644, &bytes).unwrap();
    let fd = guest.open("f", O_RDWR, 0).unwrap() as u64;
    for (mode, at, len, errno) in
        [(8, 1, 4096, 22), (8, 0, 100, 22), (8, 8192, 8192, 22), (0x20, 16_384, 4096, 22), (9, 0, 4096, 95)]
    {
        assert_eq!(guest.call(FALLOCATE, &[fd, mode, at, len]), Err(errno), "{mode} {at} {len}");
    }
    assert_eq!(guest.call(FALLOCATE, &[fd, 8, 4096, 4096]), Ok(0));
    let without = [&bytes[..4096], &bytes[8192..]].concat();
    assert_eq!(guest.read_file("f").unwrap(), without);
    assert_eq!(guest.call(FALLOCATE, &[fd, 0x20, 4096, 8192]), Ok(0));
    let with = [&without[..4096], &[0; 8192][..], &without[4096..]].concat();
    assert_eq!(guest.read_file("f").unwrap(), with);
}

#[test]
fn names_come_newest_first_and_small_buffers_go_on() {
    let (dir, mut guest) = guest();
    for name in ["b", "B", "aa", "a", "z0", "\u{e9}"] {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    guest.put_file("m", O_WRONLY | O_CREAT, 0o644, b"").unwrap();
    guest.on(nr::UNLINK, "aa", &[]).unwrap();
    assert_eq!(guest.list(".").unwrap(), [".", "..", "\u{e9}", "z0", "m", "b", "a", "B"]);
    let fd = guest.open(".", O_DIRECTORY, 0).unwrap();
    assert_eq!(guest.call(nr::GETDENTS64, &[fd as u64, BUF, 10]), Err(22));
}

#[test]
fn bad_addresses_and_descriptors_are_told_apart() {
    let (_dir, mut guest) = guest();
    let fd = guest.open("f", O_RDWR | O_CREAT, 0o644).unwrap();
    assert_eq!(guest.call(nr::WRITE, &[fd as u64, 16, 4]), Err(14));
    assert_eq!(guest.call(nr::READ, &[99, BUF, 4]), Err(9));
    assert_eq!(guest.call(nr::READ, &[u64::MAX, BUF, 4]), Err(9));
    assert_eq!(guest.call(nr::OPEN, &[16, 0, 0]), Err(14));
    let long = "x".repeat(256);
    assert_eq!(guest.open(&long, 0, 0), Err(36));
    assert_eq!(guest.open(&"x/".repeat(2040), 0, 0), Err(2));
    // The end of the data pages: what lies before it is written, what lies behind is not.
    let end = DATA + crate::syscalls::testing::DATA_LEN;
    assert_eq!(guest.call(nr::WRITE, &[fd as u64, end - 3, 10]), Ok(3));
    assert_eq!(guest.call(nr::LSEEK, &[fd as u64, 0, SEEK_CUR]), Ok(3));
    assert_eq!(guest.call(nr::READ, &[fd as u64, BUF, u64::MAX]), Err(14));
    assert_eq!(guest.call(nr::READ, &[fd as u64, BUF, 1 << 40]), Ok(0));
}

#[test]
fn holes_are_punched() {
    let (dir, mut guest) = guest();
    std::fs::write(dir.path().join("f"), vec![1; 20000]).unwrap();
    let fd = guest.open("f", O_RDWR, 0).unwrap();
    let mode = u64::from(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
    assert_eq!(guest.call(nr::FALLOCATE, &[fd as u64, mode, 100, 10000]), Ok(0));
    let bytes = guest.read_file("f").unwrap();
    assert!(bytes[..100].iter().chain(&bytes[10100..]).all(|byte| *byte == 1));
    assert!(bytes[100..10100].iter().all(|byte| *byte == 0));
    assert_eq!(guest.call(nr::FALLOCATE, &[fd as u64, 0, 0, 30000]), Ok(0));
    assert_eq!(guest.fstat(fd).unwrap().2, 30000);
    let unshare = u64::from(FALLOC_FL_UNSHARE_RANGE);
    assert_eq!(guest.call(nr::FALLOCATE, &[fd as u64, unshare, 0, 4096]), Err(95));
}

#[test]
fn times_are_the_guests_own() {
    let (dir, mut guest) = guest();
    guest.put_file("f", O_WRONLY | O_CREAT, 0o644, b"x").unwrap();
    guest.on(nr::STAT, "f", &[BUF]).unwrap();
    assert_eq!(guest.machine.word(BUF + 88), 1_830_297_600); // 2028-01-01
    guest.machine.put_words(BUF, &[0, UTIME_OMIT, 5, 6]);
    let path = guest.path(0, "f");
    assert_eq!(guest.call(nr::UTIMENSAT, &[FDCWD, path, BUF, 0]), Ok(0));
    guest.on(nr::STAT, "f", &[BUF]).unwrap();
    assert_eq!((guest.machine.word(BUF + 88), guest.machine.word(BUF + 96)), (5, 6));
    assert_eq!(guest.machine.word(BUF + 72), 1_830_297_600);
    let mut through = Guest::new(dir.path(), &[dir.path()]);
    through.put_file("g", O_WRONLY | O_CREAT, 0o644, b"x").unwrap();
    through.on(nr::STAT, "g", &[BUF]).unwrap();
    assert_eq!(through.machine.word(BUF + 88), 1_830_297_600); // not the host's clock
}

#[test]
fn where_the_process_is_has_a_name_until_it_is_removed() {
    let (dir, mut guest) = guest();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    guest.on(nr::MKDIR, "d", &[0o755]).unwrap();
    guest.on(nr::CHDIR, "d", &[]).unwrap();
    guest.rename("../d", "../e", 0).unwrap();
    let count = guest.call(nr::GETCWD, &[BUF, 4096]).unwrap();
    let path = guest.machine.get(BUF, count as usize - 1);
    assert_eq!(path, root.join("e").to_str().unwrap().as_bytes());
    assert_eq!(guest.call(nr::GETCWD, &[BUF, 3]), Err(34));
    guest.on(nr::RMDIR, "../e", &[]).unwrap();
    assert_eq!(guest.call(nr::GETCWD, &[BUF, 4096]), Err(2));
    assert_eq!(guest.put_file("f", O_WRONLY | O_CREAT, 0o644, b"x"), Err(2));
    assert_eq!(guest.on(nr::TRUNCATE, "/dev", &[0]), Err(21));
}
