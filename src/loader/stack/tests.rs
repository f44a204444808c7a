//! Addresses come from Linux 6.18 with randomization off; limits from there and from execve(2).

use super::*;
use crate::guest::USER_END;
use crate::loader::error::LoadErrorKind;
use crate::loader::testelf::TestElf;

fn strings(list: &[&str]) -> Vec<Vec<u8>> {
    list.iter().map(|s| s.as_bytes().to_vec()).collect()
}

fn spec(argv: &[&str], envp: &[&str], execfn: &str) -> StackSpec {
    StackSpec {
        argv: strings(argv),
        envp: strings(envp),
        execfn: execfn.as_bytes().to_vec(),
        aux: AuxValues { random: *b"0123456789abcdef", ..AuxValues::default() },
        top: USER_END,
        stack_size: 8 << 20,
        order: StackOrder::Linux,
    }
}

fn word(image: &StackImage, addr: u64) -> u64 {
    let at = (addr - image.sp) as usize;
    u64::from_le_bytes(image.bytes[at..at + 8].try_into().unwrap())
}

fn string(image: &StackImage, addr: u64) -> String {
    let rest = &image.bytes[(addr - image.sp) as usize..];
    let end = rest.iter().position(|&b| b == 0).unwrap();
    String::from_utf8(rest[..end].to_vec()).unwrap()
}

fn value(image: &StackImage, kind: u64) -> u64 {
    image.auxv.iter().find(|entry| entry.0 == kind).unwrap().1
}

/// A program that prints the addresses was run on Linux with these arguments; it had three entries
/// more in its auxiliary vector (AT_SYSINFO_EHDR and two AT_RSEQ_*), hence the 48 bytes.
#[test]
fn addresses_are_those_of_linux() {
    for (execfn, argv0, argv1, env0, env1, execfn_at) in
        [("./st", 0xfd7, 0xfdc, 0xfe2, 0xfe6, 0xff3), ("./stpie", 0xfd4, 0xfd9, 0xfdf, 0xfe3, 0xff0)]
    {
        let page = 0x7fff_ffff_e000;
        let image = build(&spec(&["prog", "hello"], &["A=1", "LONGER=value"], execfn)).unwrap();
        assert_eq!(image.sp, 0x7fff_ffff_ee10 + 3 * 16);
        assert_eq!(image.sp + image.bytes.len() as u64, USER_END);
        assert_eq!(word(&image, image.sp), 2);
        assert_eq!(word(&image, image.sp + 8), page + argv0);
        assert_eq!(word(&image, image.sp + 16), page + argv1);
        assert_eq!(word(&image, image.sp + 24), 0);
        assert_eq!(word(&image, image.sp + 32), page + env0);
        assert_eq!(word(&image, image.sp + 40), page + env1);
        assert_eq!(word(&image, image.sp + 48), 0);
        assert_eq!(value(&image, at::EXECFN), page + execfn_at);
        assert_eq!(value(&image, at::PLATFORM), page + 0xfc9);
        assert_eq!(value(&image, at::RANDOM), page + 0xfb9);
        assert_eq!(image.args, (page + argv0, page + env0));
        assert_eq!(image.env, (page + env0, page + execfn_at));
    }
}

#[test]
fn strings_are_where_the_pointers_point() {
    let image = build(&spec(&["prog", "", "x y"], &["HOME=/", "E="], "/bin/prog")).unwrap();
    let pointer = |n: u64| word(&image, image.sp + 8 * n);
    let texts: Vec<String> = [1, 2, 3, 5, 6].iter().map(|&n| string(&image, pointer(n))).collect();
    assert_eq!(texts, ["prog", "", "x y", "HOME=/", "E="]);
    assert_eq!((pointer(0), pointer(4), pointer(7)), (3, 0, 0));
    assert_eq!(string(&image, value(&image, at::EXECFN)), "/bin/prog");
    assert_eq!(string(&image, value(&image, at::PLATFORM)), "x86_64");
    let random = (value(&image, at::RANDOM) - image.sp) as usize;
    assert_eq!(&image.bytes[random..random + 16], b"0123456789abcdef");
    assert_eq!(image.bytes[image.bytes.len() - 8..], [0; 8]);
}

#[test]
fn auxiliary_vector_follows_the_environment_in_the_kernels_order() {
    let mut spec = spec(&["p"], &[], "p");
    spec.aux = AuxValues {
        phdr: 0x40_0040,
        phent: 56,
        phnum: 3,
        base: 0x7fff_f7fc_a000,
        entry: 0x40_0200,
        uid: 1000,
        euid: 1001,
        gid: 1002,
        egid: 1003,
        secure: true,
        hwcap: 0x178b_fbff,
        hwcap2: 2,
        minsigstksz: 2048,
        ..spec.aux
    };
    let image = build(&spec).unwrap();
    let from = image.sp + 8 * 4;
    let stored: Vec<(u64, u64)> = (0..image.auxv.len() as u64)
        .map(|n| (word(&image, from + 16 * n), word(&image, from + 16 * n + 8)))
        .collect();
    assert_eq!(stored, image.auxv);
    let kinds: Vec<u64> = stored.iter().map(|entry| entry.0).collect();
    // LD_SHOW_AUXV=1 /bin/true on Linux 6.18, without 33 at the front and 27, 28 at the end.
    assert_eq!(kinds, [51, 16, 6, 17, 3, 4, 5, 7, 8, 9, 11, 12, 13, 14, 23, 25, 26, 31, 15, 0]);
    let values: Vec<u64> = stored.iter().map(|entry| entry.1).take(15).collect();
    let expected = [
        2048,
        0x178b_fbff,
        4096,
        100,
        0x40_0040,
        56,
        3,
        0x7fff_f7fc_a000,
        0,
        0x40_0200,
        1000,
        1001,
        1002,
        1003,
        1,
    ];
    assert_eq!(values, expected);
}

#[test]
fn values_of_an_image() {
    let image = crate::loader::parse(TestElf::pie().bytes().as_slice()).unwrap();
    let aux = AuxValues::for_image(&image, 0x5555_5555_4000, 0x1000);
    assert_eq!((aux.phdr, aux.phent, aux.phnum), (0x5555_5555_4040, 56, 3));
    assert_eq!((aux.base, aux.entry), (0x1000, 0x5555_5555_4200));
}

#[test]
fn stack_pointer_is_aligned_for_every_length() {
    for len in 0..40 {
        for count in 0..4 {
            let long = "x".repeat(len);
            let image = build(&spec(&vec![long.as_str(); count], &[&long], "p")).unwrap();
            assert_eq!(image.sp % 16, 0);
            assert_eq!(image.sp + image.bytes.len() as u64, USER_END);
            assert_eq!(word(&image, image.sp), count.max(1) as u64);
        }
    }
}

#[test]
fn no_arguments_become_an_empty_one() {
    let image = build(&spec(&[], &[], "p")).unwrap();
    assert_eq!(word(&image, image.sp), 1);
    assert_eq!(string(&image, word(&image, image.sp + 8)), "");
    assert_eq!(word(&image, image.sp + 16), 0);
}

#[test]
fn longest_string() {
    let longest = "x".repeat(131_071);
    assert!(build(&spec(&["p", &longest], &[], "p")).is_ok());
    assert!(build(&spec(&["p"], &[&longest], "p")).is_ok());
    let longer = "x".repeat(131_072);
    let error = build(&spec(&["p", &longer], &[], "p")).unwrap_err();
    assert_eq!(error, LoadError::StringTooLong { what: "argument", index: 1, len: 131_072 });
    assert_eq!(error.kind(), LoadErrorKind::TooBig);
    assert!(build(&spec(&["p"], &["A=1", &longer], "p")).unwrap_err().to_string().contains("variable 1"));
}

/// Arguments that take exactly `need` bytes with their NULs, their pointers and the two bytes of
/// the path `p`.
fn spec_of(need: usize, stack_size: u64) -> StackSpec {
    let mut spec = StackSpec { stack_size, ..spec(&[], &[], "p") };
    // 1015 bytes, a NUL and a pointer make 1024.
    spec.argv = vec![vec![b'x'; 1015]; need / 1024 - 1];
    let rest = need - 2 - 1024 * spec.argv.len();
    spec.argv.push(vec![b'x'; rest - 9]);
    spec
}

/// A quarter of the stack's limit, 128 KiB at least and 6 MiB at most; Linux 6.18 accepts and
/// refuses exactly these numbers of bytes with limits of 8 MiB, 1 MiB, 400 KiB and none.
#[test]
fn all_strings_together() {
    for (stack_size, limit) in [
        (8 << 20, 2 << 20),
        (1 << 20, 256 << 10),
        (400 << 10, 128 << 10),
        (0, 128 << 10),
        (u64::MAX, 6 << 20),
    ] {
        assert!(build(&spec_of(limit, stack_size)).is_ok(), "{stack_size}");
        let error = build(&spec_of(limit + 1, stack_size)).unwrap_err();
        let need = limit as u64 + 1;
        assert_eq!(error, LoadError::ArgumentsTooLong { need, limit: limit as u64 });
        assert_eq!(error.kind(), LoadErrorKind::TooBig);
    }
}

#[test]
fn bad_strings_and_tops() {
    let error = build(&spec(&["p", "a\0b"], &[], "p")).unwrap_err();
    assert_eq!(error, LoadError::StringHasNul { what: "argument", index: 1 });
    for top in [0, 8, 0x1000, 131_072] {
        assert!(build(&StackSpec { top, ..spec(&["p"], &[], "p") }).is_err());
    }
}

/// A program that prints the addresses was run by Valgrind 3.19 on Linux 6.18 as `./envs aa bb`,
/// with these two variables and LD_PRELOAD, which Valgrind adds.
#[test]
fn addresses_are_those_of_valgrind() {
    let envp = [
        "A=1",
        "VALGRIND_LIB=/usr/libexec/valgrind",
        "LD_PRELOAD=/usr/libexec/valgrind/vgpreload_core-amd64-linux.so",
    ];
    let spec = StackSpec {
        top: 0x1f_ff00_1000,
        order: StackOrder::Valgrind,
        ..spec(&["./envs", "aa", "bb"], &envp, "./envs")
    };
    let image = build(&spec).unwrap();
    assert_eq!(image.sp, 0x1f_ff00_0da0);
    assert_eq!(image.sp + image.bytes.len() as u64, 0x1f_ff00_1000);
    let pointer = |n: u64| word(&image, image.sp + 8 * n);
    assert_eq!((pointer(0), pointer(1)), (3, 0x1f_ff00_0f6b));
    assert_eq!((pointer(5), pointer(6), pointer(7)), (0x1f_ff00_0f78, 0x1f_ff00_0f7c, 0x1f_ff00_0f9f));
    assert_eq!(string(&image, pointer(3)), "bb");
    assert_eq!(string(&image, pointer(7)), envp[2]);
    assert_eq!(image.args, (0x1f_ff00_0f6b, 0x1f_ff00_0f78));
    assert_eq!(image.env, (0x1f_ff00_0f78, 0x1f_ff00_0fde));
    assert_eq!(value(&image, at::RANDOM), 0x1f_ff00_0fde);
    assert_eq!(value(&image, at::EXECFN), 0x1f_ff00_0fee);
    assert_eq!(value(&image, at::PLATFORM), 0x1f_ff00_0ff5);
    assert_eq!(string(&image, 0x1f_ff00_0fee), "./envs");
    assert_eq!(string(&image, 0x1f_ff00_0ff5), "x86_64");
    let kinds: Vec<u64> = image.auxv.iter().map(|entry| entry.0).collect();
    assert_eq!(kinds, [1, 1, 16, 6, 17, 3, 4, 5, 7, 8, 9, 11, 12, 13, 14, 23, 25, 1, 31, 15, 1, 1, 0]);
}
