//! Pipes, memory files, `/proc` and `/dev`.

use super::*;
use crate::guest::FileId;
use crate::kernel::mm::Places;
use crate::kernel::vfs::image::Source;
use crate::syscalls::context::Action;
use crate::syscalls::testing::DATA;

fn guest() -> Guest {
    Guest::new(Path::new("/"), &[])
}

fn pipe(guest: &mut Guest) -> (i64, i64) {
    guest.call(nr::PIPE, &[BUF]).unwrap();
    let word = guest.machine.word(BUF);
    ((word & 0xffff_ffff) as i64, (word >> 32) as i64)
}

#[test]
fn a_pipe_ends_when_its_last_writer_closes() {
    let mut guest = guest();
    let (read, write) = pipe(&mut guest);
    assert_eq!((read, write), (3, 4));
    assert_eq!(guest.write(write, b"hello"), Ok(5));
    assert_eq!(guest.read(read, 3).unwrap(), b"hel");
    assert_eq!(guest.call(nr::LSEEK, &[read as u64, 0, 0]), Err(29));
    assert_eq!(guest.write(read, b"x"), Err(9));
    guest.close(write);
    assert_eq!(guest.read(read, 9).unwrap(), b"lo");
    assert_eq!(guest.read(read, 9).unwrap(), b"");
}

#[test]
fn a_read_that_can_never_end_stops_the_run() {
    let mut guest = guest();
    let (read, _write) = pipe(&mut guest);
    match guest.machine.action(nr::READ, &[read as u64, BUF, 1]) {
        Action::Refuse(why) => assert!(why.contains("pipe"), "{why}"),
        other => panic!("{other:?}"),
    }
    guest.call(nr::FCNTL, &[read as u64, F_SETFL, O_NONBLOCK.into()]).unwrap();
    assert_eq!(guest.read(read, 1), Err(11));
}

#[test]
fn a_write_without_readers_kills() {
    let mut guest = guest();
    let (read, write) = pipe(&mut guest);
    guest.close(read);
    guest.machine.action(nr::WRITE, &[write as u64, BUF, 1]);
    assert_eq!(guest.machine.killed(), Some(13));
}

#[test]
fn closing_the_standard_streams_leaves_the_hosts_open() {
    let mut guest = guest();
    for fd in 0..3 {
        guest.close(fd);
    }
    assert_eq!(guest.call(nr::WRITE, &[1, BUF, 0]), Err(9));
    assert!(rustix::fs::fstat(rustix::stdio::stdout()).is_ok());
}

#[test]
fn proc_shows_the_guest() {
    let mut guest = guest();
    // Behind what the calls below use.
    let words = DATA + 0x8000;
    guest.machine.put(words, b"true\0x\0");
    let places = Places { args: (words, words + 7), ..Places::default() };
    let file = FileId { path: "/bin/true".into(), inode: 1, device: 1 };
    guest.machine.kernel.set_program(&file, b"true", &[], &[], places, &[]);
    let pid = guest.machine.kernel.process().pid;
    assert_eq!(guest.readlink("/proc/self").unwrap(), pid.to_string().as_bytes());
    assert_eq!(guest.readlink("/proc/self/exe").unwrap(), b"/bin/true");
    assert_eq!(guest.readlink(&format!("/proc/{pid}/cwd")).unwrap(), b"/");
    assert_eq!(guest.read_file("/proc/self/cmdline").unwrap(), b"true\0x\0");
    assert_eq!(guest.read_file(&format!("/proc/self/task/{pid}/comm")).unwrap(), b"true\n");
    let maps = String::from_utf8(guest.read_file("/proc/self/maps").unwrap()).unwrap();
    assert!(maps.starts_with("00100000-00110000 rw-p 00000000 00:00 0 \n"), "{maps}");
    let stat = String::from_utf8(guest.read_file("/proc/self/stat").unwrap()).unwrap();
    assert_eq!(stat.split(' ').count(), 52, "{stat}");
    assert_eq!(guest.read_file("/proc/1/stat"), Err(2));
    assert_eq!(guest.read_file("/sys/devices/system/cpu/online").unwrap(), b"0\n");
    assert_eq!(guest.read_file("/sys/class/net"), Err(2));
    assert_eq!(guest.open("/proc/new", O_WRONLY | O_CREAT, 0o644), Err(2));
    let own = guest.list("/proc/self/fd").unwrap();
    assert_eq!(own, [".", "..", "0", "1", "2", "3"]);
}

#[test]
fn descriptors_open_again_by_name() {
    let mut guest = guest();
    let (read, write) = pipe(&mut guest);
    guest.write(write, b"abc").unwrap();
    assert_eq!(guest.stat(nr::STAT, &format!("/dev/fd/{read}")).unwrap().0, S_IFIFO | 0o600);
    let again = guest.open(&format!("/proc/self/fd/{read}"), 0, 0).unwrap();
    guest.close(read);
    assert_eq!(guest.read(again, 9).unwrap(), b"abc");
    guest.close(write);
    assert_eq!(guest.read(again, 9).unwrap(), b"");
    let out = guest.open("/dev/stdout", O_WRONLY | O_CREAT | O_TRUNC, 0o666).unwrap();
    assert_eq!(guest.fstat(out), guest.fstat(1));
    assert_eq!(guest.open("/dev/fd/77", 0, 0), Err(2));
}

#[test]
fn epoll_reports_what_is_new() {
    let mut guest = guest();
    let (read, write) = pipe(&mut guest);
    let epoll = guest.call(291, &[0]).unwrap();
    guest.machine.put(BUF, &(u32::from(POLLIN) | EPOLLET).to_le_bytes());
    guest.machine.put(BUF + 4, &7u64.to_le_bytes());
    assert_eq!(guest.call(233, &[epoll as u64, 1, read as u64, BUF]), Ok(0));
    assert_eq!(guest.call(233, &[epoll as u64, 1, read as u64, BUF]), Err(17));
    let wait = |guest: &mut Guest| guest.call(232, &[epoll as u64, BUF, 8, 5]);
    assert_eq!(wait(&mut guest), Ok(0));
    guest.write(write, b"x").unwrap();
    assert_eq!(wait(&mut guest), Ok(1));
    assert_eq!(guest.machine.get(BUF, 4), u32::from(POLLIN).to_le_bytes());
    assert_eq!(guest.machine.word(BUF + 4), 7);
    assert_eq!(wait(&mut guest), Ok(0));
}

#[test]
fn devices_are_the_kernels_own() {
    let mut guest = guest();
    let zero = guest.open("/dev/zero", O_RDWR, 0).unwrap();
    assert_eq!(guest.read(zero, 3).unwrap(), [0; 3]);
    let null = guest.open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0o666).unwrap();
    assert_eq!(guest.write(null, b"gone"), Ok(4));
    assert_eq!(guest.read(null, 3).unwrap(), b"");
    assert_eq!(guest.put_file("/dev/full", O_WRONLY, 0, b"x"), Err(28));
    assert_eq!(guest.stat(nr::STAT, "/dev/null").unwrap().0, S_IFCHR | 0o666);
    assert_eq!(guest.on(nr::UNLINK, "/dev/null", &[]), Err(13));
    assert_eq!(guest.open("/dev/mem", O_RDWR, 0), Err(2));
    assert_eq!(guest.put_file("/dev/shm/sem", O_WRONLY | O_CREAT, 0o600, b"x"), Ok(1));
    assert_eq!(guest.machine.kernel.fs.dropped(), 0);
}

#[test]
fn a_memory_file_keeps_to_its_seals() {
    let mut guest = guest();
    let fd = guest.on(nr::MEMFD_CREATE, "m", &[MFD_ALLOW_SEALING.into()]).unwrap();
    assert_eq!(guest.write(fd, b"1234"), Ok(4));
    let fcntl = |guest: &mut Guest, op, arg: u32| guest.call(nr::FCNTL, &[fd as u64, op, arg.into()]);
    assert_eq!(fcntl(&mut guest, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK), Ok(0));
    assert_eq!(guest.write(fd, b"5"), Err(1));
    assert_eq!(guest.call(nr::FTRUNCATE, &[fd as u64, 2]), Err(1));
    assert_eq!(fcntl(&mut guest, F_GET_SEALS, 0), Ok(6));
    assert_eq!(guest.readlink(&format!("/proc/self/fd/{fd}")).unwrap(), b"/memfd:m (deleted)");
    assert_eq!(guest.read_file(&format!("/dev/fd/{fd}")).unwrap(), b"1234");
}

#[test]
fn a_shared_file_is_one_with_its_mapping() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), vec![b'h'; 5000]).unwrap();
    let mut guest = Guest::new(dir.path(), &[]);
    let fd = guest.open("f", O_RDWR, 0).unwrap();
    let machine = &mut guest.machine;
    let ino = machine.kernel.file(fd as i32).unwrap().ops.inode().unwrap();
    let shared = machine.kernel.fs.shared_source(ino, true, &mut machine.mem).unwrap();
    let Source::Object(object) = shared else { panic!("no object") };
    use crate::guest::GuestMemory;
    machine.mem.object_write(object, 4999, b"!").unwrap();
    guest.write(fd, b"H").unwrap();
    let mut start = [0; 2];
    assert_eq!(guest.machine.mem.object_read(object, 0, &mut start), Ok(2));
    assert_eq!(&start, b"Hh");
    let bytes = guest.read_file("f").unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[4999]), (5000, b'H', b'!'));
    assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), vec![b'h'; 5000]);
}
