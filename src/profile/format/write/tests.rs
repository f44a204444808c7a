//! Files that Valgrind 3.19 wrote, taken apart and written again, and the corners they do not show.

use super::*;
use crate::profile::Event;

fn written(profile: &Profile) -> String {
    let mut out = Vec::new();
    write_cachegrind(profile, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("ASCII names")
}

/// The content of a well-formed file, added last line first. Only for these tests: no error is
/// reported.
fn taken_apart(text: &str) -> Profile {
    let list = text.lines().find_map(|l| l.strip_prefix("events: ")).expect("events");
    let columns: Vec<Event> = list
        .split_whitespace()
        .map(|name| Event::ALL.into_iter().find(|e| e.name() == name).expect("a known event"))
        .collect();
    let events = EventSet { cache: columns.contains(&Event::Dr), branch: columns.contains(&Event::Bc) };
    let cmd = text.lines().find_map(|l| l.strip_prefix("cmd: ")).expect("cmd");
    let mut profile = Profile::new(cmd, events);
    let (mut file, mut function, mut rows) = ("", "", Vec::new());
    for line in text.lines() {
        if let Some(desc) = line.strip_prefix("desc: ") {
            profile.push_desc(desc);
        } else if let Some(name) = line.strip_prefix("fl=") {
            file = name;
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let mut numbers = line.split(' ').map(|n| n.parse::<u64>().expect("a number"));
            let at = numbers.next().expect("a line number");
            let mut costs = Costs::ZERO;
            for (event, count) in columns.iter().zip(numbers) {
                costs[*event] = count;
            }
            rows.push((file, function, u32::try_from(at).expect("a line number"), costs));
        }
    }
    for (file, function, line, costs) in rows.iter().rev() {
        profile.add(file, function, *line, costs);
    }
    profile
}

#[test]
fn valgrinds_own_files_come_out_the_same() {
    for text in [
        include_str!("../../../../testdata/profile/files/small-cache-only.out"),
        include_str!("../../../../testdata/profile/files/small-branch-only.out"),
        include_str!("../../../../testdata/profile/files/true-ir-only.out"),
    ] {
        let again = written(&taken_apart(text));
        let different = text.lines().zip(again.lines()).find(|(theirs, ours)| theirs != ours);
        assert_eq!(different, None);
        assert!(text == again, "the files differ in length or line ends");
    }
}

#[test]
fn cache_descriptions() {
    assert_eq!(cache_desc("I1", 32768, 8, 64), "I1 cache:         32768 B, 64 B, 8-way associative");
    assert_eq!(cache_desc("D1", 32768, 1, 32), "D1 cache:         32768 B, 32 B, direct-mapped");
    assert_eq!(
        cache_desc("LL", 8_388_608, 16, 128),
        "LL cache:         8388608 B, 128 B, 16-way associative"
    );
}

#[test]
fn an_empty_profile_is_a_whole_file() {
    let set = |cache, branch| EventSet { cache, branch };
    for (events, expected) in [
        (set(false, false), "cmd: ./a\nevents: Ir\nsummary: 0\n"),
        (
            set(true, false),
            "cmd: ./a\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \nsummary: 0 0 0 0 0 0 0 0 0\n",
        ),
        (set(false, true), "cmd: ./a\nevents: Ir Bc Bcm Bi Bim\nsummary: 0 0 0 0 0\n"),
    ] {
        assert_eq!(written(&Profile::new("./a", events)), expected);
    }
}

#[test]
fn fn_is_repeated_when_only_the_file_changes() {
    let mut p = Profile::new("./a b", EventSet::default());
    let mut costs = Costs::ZERO;
    costs[Event::Ir] = u64::MAX;
    p.add("b.h", "f", 0, &Costs::ZERO);
    p.add("a.h", "f", 1, &costs);
    p.add("b.h", "g", 7, &Costs::ZERO);
    assert_eq!(
        written(&p),
        "cmd: ./a b\nevents: Ir\nfl=a.h\nfn=f\n1 18446744073709551615\nfl=b.h\nfn=f\n0 0\nfn=g\n7 0\n\
         summary: 18446744073709551615\n"
    );
}

#[test]
fn odd_bytes_in_names_are_written_as_they_are() {
    let mut p = Profile::new(b"./\xff", EventSet::default());
    p.add(b"\x80.c", b"f(a, b)", 1, &Costs::ZERO);
    let mut out = Vec::new();
    write_cachegrind(&p, &mut out).expect("a vector takes everything");
    assert_eq!(out, b"cmd: ./\xff\nevents: Ir\nfl=\x80.c\nfn=f(a, b)\n1 0\nsummary: 0\n");
}

#[test]
fn a_failing_writer_is_reported() {
    let mut p = Profile::new("./a", EventSet::default());
    for line in 0..20_000 {
        p.add("a.c", "f", line, &Costs::ZERO);
    }
    let mut room = [0_u8; 100_000];
    let error = write_cachegrind(&p, &mut room.as_mut_slice()).expect_err("100,000 bytes are too few");
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}
