//! The rules of setuid(2), setreuid(2), setresuid(2), capabilities(7) and execve(2), by their
//! manual pages.

use super::*;

fn root() -> Credentials {
    Credentials::of(User { uid: 0, gid: 0 })
}

fn uids(cred: &Credentials) -> [u32; 4] {
    [cred.uid.real, cred.uid.effective, cred.uid.saved, cred.uid.fs]
}

#[test]
fn root_gives_up_for_good_or_for_a_while() {
    let mut cred = root();
    cred.set_uid(Change::Three([KEEP, 5, KEEP])).unwrap();
    assert_eq!((uids(&cred), cred.caps.effective, cred.caps.permitted), ([0, 5, 0, 5], 0, CAP_FULL_SET));
    cred.set_uid(Change::One(0)).unwrap();
    assert_eq!((uids(&cred), cred.caps.effective), ([0; 4], CAP_FULL_SET));
    cred.set_uid(Change::One(5)).unwrap();
    assert_eq!((uids(&cred), cred.caps.effective, cred.caps.permitted), ([5; 4], 0, 0));
    for change in [Change::One(0), Change::Two(0, KEEP), Change::Two(KEEP, 0), Change::Three([KEEP, KEEP, 0])]
    {
        assert_eq!(cred.set_uid(change), Err(Errno::EPERM), "{change:?}");
    }
    cred.set_uid(Change::Fs(0)).unwrap();
    assert_eq!(uids(&cred), [5; 4]);
    assert_eq!(cred.set_uid(Change::One(KEEP)), Err(Errno::EINVAL));
}

#[test]
fn capabilities_are_kept_on_request() {
    let mut cred = root();
    cred.set_keep_caps(true).unwrap();
    cred.set_uid(Change::Three([7, 7, 7])).unwrap();
    assert_eq!((cred.caps.permitted, cred.caps.effective), (CAP_FULL_SET, 0));
    cred.set_caps(1 << CAP_CHOWN, 1 << CAP_CHOWN, 1 << CAP_CHOWN).unwrap();
    assert_eq!(cred.set_caps(2, 3, 0), Err(Errno::EPERM), "nothing comes back");
    cred.raise_ambient(CAP_CHOWN).unwrap();
    assert_eq!(cred.raise_ambient(CAP_SETUID), Err(Errno::EPERM));
    assert!(!cred.exec(0o755, User { uid: 0, gid: 0 }, false));
    assert_eq!((cred.caps.permitted, cred.caps.effective), (1, 1));
    assert!(cred.exec(0o4755, User { uid: 9, gid: 0 }, false), "another user: no ambient capability");
    assert_eq!((uids(&cred), cred.caps.permitted), ([7, 9, 9, 9], 0));
}

#[test]
fn real_and_effective_ids_change_places() {
    let mut cred = root();
    cred.set_uid(Change::Three([3, 4, 3])).unwrap();
    cred.set_uid(Change::Two(4, 3)).unwrap();
    assert_eq!(uids(&cred), [4, 3, 3, 3]);
    assert_eq!(cred.set_uid(Change::Two(5, KEEP)), Err(Errno::EPERM));
    cred.set_uid(Change::Two(KEEP, 4)).unwrap();
    assert_eq!(uids(&cred), [4, 4, 3, 4], "the saved id follows another effective one than the real");
}

#[test]
fn locked_bits_stay() {
    let mut cred = root();
    cred.set_securebits(u64::from(SECBIT_NOROOT | SECBIT_NOROOT << 1)).unwrap();
    assert_eq!(cred.set_securebits(0), Err(Errno::EPERM));
    assert_eq!(cred.set_securebits(1 << 40 | 3), Err(Errno::EPERM));
    assert!(!cred.exec(0o755, User::default(), false));
    assert_eq!(cred.caps.permitted, 0, "root is nobody special");
    assert_eq!(cred.set_securebits(3), Err(Errno::EPERM), "CAP_SETPCAP is gone");
}

#[test]
fn no_new_privileges() {
    let mut cred = Credentials::of(User::default());
    assert!(!cred.exec(0o6755, User { uid: 0, gid: 0 }, true));
    assert_eq!((uids(&cred), cred.caps.permitted), ([1000; 4], 0));
    assert!(cred.exec(0o6755, User { uid: 0, gid: 0 }, false));
    assert_eq!((uids(&cred), cred.caps.effective), ([1000, 0, 0, 0], CAP_FULL_SET));
    assert_eq!(cred.real().caps.effective, 0);
}
