//! Good images, one test per kind of bad one, and mutations. What the kernel does with the bad ones
//! was observed on Linux 6.18 with the same bytes: it refuses or kills all of them, but for those
//! that [`LoadError`] marks.

use super::*;
use crate::guest::{PAGE_SIZE, Prot, USER_END};
use crate::loader::FileBytes;
use crate::loader::error::{LoadError, LoadErrorKind};
use crate::loader::testelf::{
    PT_GNU_RELRO, PT_GNU_STACK, PT_INTERP, PT_TLS, Phdr, R, TestElf, W, X, load, other,
};

fn parse_elf(elf: &TestElf) -> Result<Image, LoadError> {
    parse(elf.bytes().as_slice())
}

fn refused(elf: &TestElf) -> LoadError {
    let error = parse_elf(elf).expect_err("should be refused");
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() > 20, "{text}");
    error
}

fn map(addr: u64, len: u64, prot: u8, offset: Option<u64>, zero: Option<(u64, u64)>) -> LoadMapping {
    let source = offset.map_or(MapSource::Anonymous, |offset| MapSource::File { offset });
    LoadMapping { addr, len, prot: Prot(prot), source, zero }
}

#[test]
fn static_program() {
    let image = parse_elf(&TestElf::exec()).unwrap();
    assert_eq!(image.elf_type, ElfType::Exec);
    assert_eq!((image.entry, image.phdr_vaddr, image.phent, image.phnum), (0x40_0200, 0x40_0040, 56, 3));
    assert_eq!((image.low, image.brk_base, image.span_len()), (0x40_0000, 0x40_5000, 0x5000));
    assert!(image.interpreter.is_none() && !image.stack_exec && image.tls.is_none() && image.relro.is_none());
    assert_eq!(
        image.plan(0).unwrap(),
        [
            map(0x40_0000, 0x1000, 5, Some(0), None),
            map(0x40_2000, 0x1000, 3, Some(0), Some((0x40_2f80, 0x40_3000))),
            map(0x40_3000, 0x2000, 3, None, None),
        ]
    );
}

#[test]
fn static_pie() {
    let image = parse_elf(&TestElf::pie()).unwrap();
    assert_eq!(image.elf_type, ElfType::Dyn);
    let bias = image.bias_at(0x5555_5555_4000);
    assert_eq!(bias, 0x5555_5555_4000);
    assert_eq!(image.entry_at(bias), 0x5555_5555_4200);
    assert_eq!(
        image.plan(bias).unwrap(),
        [
            map(0x5555_5555_4000, 0x1000, 5, Some(0), None),
            map(0x5555_5555_5000, 0x1000, 3, Some(0), Some((0x5555_5555_5f80, 0x5555_5555_6000))),
            map(0x5555_5555_6000, 0x1000, 3, None, None),
        ]
    );
}

#[test]
fn pie_linked_at_an_address_moves_to_the_base() {
    let mut elf = TestElf::pie();
    for p in &mut elf.loads {
        p.vaddr += 0x40_0000;
    }
    elf.entry += 0x40_0000;
    let image = parse_elf(&elf).unwrap();
    let bias = image.bias_at(0x5555_5555_4000);
    assert_eq!(image.plan(bias).unwrap()[0].addr, 0x5555_5555_4000);
    assert_eq!(image.entry_at(bias), 0x5555_5555_4200);
    // And down, where it was linked above the base.
    assert_eq!(image.bias_at(0x20_0000), 0u64.wrapping_sub(0x20_0000));
}

#[test]
fn dynamic_program() {
    let image = parse_elf(&TestElf::dynamic()).unwrap();
    assert_eq!(image.interpreter.as_deref(), Some(&b"/lib64/ld-linux-x86-64.so.2"[..]));
}

#[test]
fn interpreter_name_ends_at_its_first_nul() {
    let mut elf = TestElf::dynamic();
    elf.data[0].1[4] = 0;
    assert_eq!(parse_elf(&elf).unwrap().interpreter.as_deref(), Some(&b"/lib"[..]));
}

#[test]
fn stack_tls_and_relro_headers() {
    let mut elf = TestElf::exec();
    elf.others = vec![
        other(PT_GNU_STACK, R | W | X, 0, 0, 0),
        other(PT_GNU_RELRO, R, 0xe00, 0x40_2e00, 0x200),
        Phdr { memsz: 0x40, align: 16, ..other(PT_TLS, R, 0xe10, 0x40_2e10, 0x20) },
    ];
    let image = parse_elf(&elf).unwrap();
    assert!(image.stack_exec);
    assert_eq!(image.relro, Some((0x40_2e00, 0x200)));
    let tls = Tls { vaddr: 0x40_2e10, offset: 0xe10, file_size: 0x20, mem_size: 0x40, align: 16 };
    assert_eq!(image.tls, Some(tls));
    elf.others.clear();
    assert!(!parse_elf(&elf).unwrap().stack_exec, "x86-64 without PT_GNU_STACK: not executable");
}

#[test]
fn read_only_segment_keeps_its_tail_and_gets_writable_bss() {
    let mut elf = TestElf::exec();
    elf.loads[1].flags = R;
    let plan = parse_elf(&elf).unwrap().plan(0).unwrap();
    assert_eq!(plan[1], map(0x40_2000, 0x1000, 1, Some(0), None));
    assert_eq!(plan[2], map(0x40_3000, 0x2000, 3, None, None));
    elf.loads[1].flags = R | X;
    assert_eq!(parse_elf(&elf).unwrap().plan(0).unwrap()[2].prot, Prot(7));
}

#[test]
fn segment_of_nothing_but_bss() {
    let mut elf = TestElf::exec();
    // Offset and address need not agree where nothing is mapped from the file.
    elf.loads[1] = load(R | W, 0x123, 0x60_0800, 0, 0x900);
    let plan = parse_elf(&elf).unwrap().plan(0).unwrap();
    assert_eq!(plan[1..], [map(0x60_0000, 0x2000, 3, None, None)]);
}

#[test]
fn bss_that_ends_in_the_last_page_of_the_file_part() {
    let mut elf = TestElf::exec();
    elf.loads[1] = load(R | W, 0x100, 0x60_0100, 0x100, 0x180);
    let plan = parse_elf(&elf).unwrap().plan(0).unwrap();
    assert_eq!(plan[1..], [map(0x60_0000, 0x1000, 3, Some(0), Some((0x60_0200, 0x60_1000)))]);
}

#[test]
fn empty_segment_maps_nothing() {
    let mut elf = TestElf::exec();
    elf.loads.push(load(R, 0, 0x40_8000, 0, 0));
    assert_eq!(parse_elf(&elf).unwrap().plan(0).unwrap().len(), 3);
}

#[test]
fn shared_page_goes_to_the_later_segment() {
    let mut elf = TestElf::exec();
    elf.loads[1] = load(R | W, 0x800, 0x40_0800, 0x100, 0x100);
    let plan = parse_elf(&elf).unwrap().plan(0).unwrap();
    assert_eq!(plan[0], map(0x40_0000, 0x1000, 5, Some(0), None));
    assert_eq!(plan[1], map(0x40_0000, 0x1000, 3, Some(0), None));
}

#[test]
fn program_headers_outside_of_every_segment() {
    let mut elf = TestElf::exec();
    elf.loads[0] = load(R | X, 0x200, 0x40_0200, 0x100, 0x100);
    assert_eq!(parse_elf(&elf).unwrap().phdr_vaddr, 0);
}

#[test]
fn alignments_that_are_no_power_of_two_are_passed_over() {
    let mut elf = TestElf::pie();
    elf.loads[0].align = 3;
    elf.loads[1].align = 0;
    assert_eq!(parse_elf(&elf).unwrap().align, 0x1000);
    elf.loads[1].align = 1 << 21;
    assert_eq!(parse_elf(&elf).unwrap().align, 1 << 21);
}

#[test]
fn alignment_that_leaves_no_address() {
    let mut elf = TestElf::pie();
    elf.loads[0].align = 1 << 63;
    let image = parse_elf(&elf).unwrap();
    let error = image.plan(image.bias_at(0x5555_5555_4000)).unwrap_err();
    assert_eq!(error, LoadError::TooLow { index: 0, addr: 0 });
}

#[test]
fn only_headers_are_read() {
    struct Big(Vec<u8>, std::cell::Cell<usize>);
    impl FileBytes for Big {
        fn len(&self) -> u64 {
            500 << 20
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
            self.1.set(self.1.get() + buf.len());
            self.0.as_slice().read_at(offset, buf)
        }
    }
    let file = Big(TestElf::dynamic().bytes(), std::cell::Cell::new(0));
    assert!(parse(&file).is_ok());
    assert!(file.1.get() < 1024, "{}", file.1.get());
}

#[test]
fn not_elf_files() {
    for (bytes, word) in [
        (&b"MZ\x90\0"[..], "Windows"),
        (b"!<arch>\nfoo", "static library"),
        (b"\xcf\xfa\xed\xfe\x07", "macOS"),
        (b"\0asm\x01", "WebAssembly"),
        (b"hello world\n", "no #! line"),
        (b"\x7fEL", "no #! line"),
        (b"#!/bin/sh\n", "script"),
    ] {
        let error = parse(bytes).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert_eq!(error.kind(), LoadErrorKind::NoExec);
    }
    assert_eq!(parse(&b""[..]), Err(LoadError::Empty));
}

#[test]
fn wrong_class_data_machine_or_type() {
    let exec = TestElf::exec;
    let mut elf = exec();
    elf.ident[4] = 1;
    assert_eq!(refused(&elf), LoadError::Class32);
    elf.ident[4] = 0;
    assert_eq!(refused(&elf), LoadError::Class(0));
    let mut elf = exec();
    elf.ident[5] = 2;
    assert_eq!(refused(&elf), LoadError::Data(2));
    for (machine, name) in [(183, "AArch64"), (3, "i386"), (243, "RISC-V"), (9999, "9999")] {
        let error = refused(&TestElf { machine, ..exec() });
        assert_eq!(error, LoadError::Machine(machine));
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(refused(&TestElf { e_type: 1, ..exec() }), LoadError::Relocatable);
    assert_eq!(refused(&TestElf { e_type: 4, ..exec() }), LoadError::Core);
    assert_eq!(refused(&TestElf { e_type: 0, ..exec() }), LoadError::Type(0));
    assert_eq!(refused(&TestElf { e_type: 0xfe00, ..exec() }), LoadError::Type(0xfe00));
}

#[test]
fn truncated_headers() {
    let bytes = TestElf::exec().bytes();
    for len in 6..64 {
        assert_eq!(parse(&bytes[..len]), Err(LoadError::ShortHeader(len as u64)));
    }
    for len in [64, 100, 64 + 3 * 56 - 1] {
        let error = LoadError::ShortProgramHeaders { offset: 64, need: 3 * 56, len: len as u64 };
        assert_eq!(parse(&bytes[..len]), Err(error));
    }
    assert!(parse(&bytes[..bytes.len()]).is_ok());
    let elf = TestElf { phoff: u64::MAX - 8, ..TestElf::exec() };
    assert!(matches!(refused(&elf), LoadError::ShortProgramHeaders { .. }));
}

#[test]
fn number_and_size_of_program_headers() {
    let exec = TestElf::exec;
    assert_eq!(refused(&TestElf { phnum: Some(0), ..exec() }), LoadError::NoProgramHeaders);
    assert_eq!(refused(&TestElf { phnum: Some(0xffff), ..exec() }), LoadError::TooManyProgramHeaders(0xffff));
    assert_eq!(refused(&TestElf { phnum: Some(1171), ..exec() }), LoadError::TooManyProgramHeaders(1171));
    let most = TestElf { phnum: Some(1170), len: 0x11000, ..exec() };
    assert_eq!(parse_elf(&most).unwrap().phnum, 1170);
    assert_eq!(refused(&TestElf { phentsize: 32, ..exec() }), LoadError::PhentSize(32));
    assert_eq!(refused(&TestElf { loads: vec![], ..exec() }), LoadError::NoLoad);
    let empty = vec![load(R | X, 0, 0x40_0000, 0, 0)];
    assert_eq!(refused(&TestElf { loads: empty, ..exec() }), LoadError::NoLoad);
}

/// The error for a static program whose second segment is this one.
fn refused_segment(segment: Phdr) -> LoadError {
    let mut elf = TestElf::exec();
    elf.loads[1] = segment;
    let error = refused(&elf);
    assert!(matches!(error.kind(), LoadErrorKind::Invalid | LoadErrorKind::Io));
    error
}

#[test]
fn absurd_segments() {
    let at = 0x60_0000;
    assert_eq!(
        refused_segment(load(R, 0, at, 0x20, 0x10)),
        LoadError::FileLarger { index: 1, file_size: 0x20, mem_size: 0x10 }
    );
    for (addr, mem_size) in [
        (USER_END, 1),
        (USER_END - 0x1000, 0x1001),
        (at, 1 << 47),
        (at, u64::MAX),
        (at, 0u64.wrapping_sub(at)),
        (u64::MAX - 0xfff, 0x2000),
        (0xffff_ffff_8000_0000, 0x1000),
    ] {
        let error = refused_segment(load(R, 0, addr, 0, mem_size));
        assert_eq!(error, LoadError::Range { index: 1, addr, mem_size });
    }
    assert_eq!(
        refused_segment(load(R, 0x10, at, 0x100, 0x100)),
        LoadError::Misaligned { index: 1, offset: 0x10, addr: at }
    );
    assert_eq!(
        refused_segment(load(R, 0x1000, at, 1, 1)),
        LoadError::ShortSegment { index: 1, need: 0x1001, len: 0x1000 }
    );
    assert!(matches!(
        refused_segment(load(R, u64::MAX - 0xfff, at, 0x4000, 0x4000)),
        LoadError::ShortSegment { .. }
    ));
    assert_eq!(
        refused_segment(load(R, 0x200, 0x40_0200, 0x300, 0x300)),
        LoadError::Overlap { first: 0, second: 1, addr: 0x40_0200 }
    );
}

#[test]
fn segment_that_ends_after_the_file_in_its_last_page() {
    let mut elf = TestElf::exec();
    elf.len = 0xf00;
    assert!(parse_elf(&elf).is_ok());
}

#[test]
fn segment_of_a_fixed_program_in_the_lowest_pages() {
    let mut elf = TestElf::exec();
    elf.loads[1] = load(R, 0, 0xf000, 0x10, 0x10);
    let error = parse_elf(&elf).unwrap().plan(0).unwrap_err();
    assert_eq!(error, LoadError::TooLow { index: 1, addr: 0xf000 });
    elf.loads[1].vaddr = 0x1_0000;
    assert!(parse_elf(&elf).unwrap().plan(0).is_ok());
}

#[test]
fn interpreter_names() {
    let named = |size: u64, offset: u64, bytes: &[u8]| {
        let mut elf = TestElf::dynamic();
        elf.others[1] = other(PT_INTERP, R, offset, 0, size);
        elf.data = vec![(0x280, bytes.to_vec())];
        refused(&elf)
    };
    assert_eq!(named(1, 0x280, b"\0"), LoadError::InterpreterName(0x280));
    assert_eq!(named(4097, 0x280, b""), LoadError::InterpreterName(0x280));
    assert_eq!(named(u64::MAX, 0x280, b""), LoadError::InterpreterName(0x280));
    assert_eq!(named(4, 0x280, b"/lib"), LoadError::InterpreterName(0x280));
    assert_eq!(named(4, 0x280, b"\0\0\0\0"), LoadError::EmptyInterpreterName);
    assert_eq!(named(4, 0xffe, b""), LoadError::ShortInterpreterName(0xffe));
    assert_eq!(named(4, u64::MAX, b""), LoadError::ShortInterpreterName(u64::MAX));
}

#[test]
fn entry_points() {
    let error = refused(&TestElf { entry: USER_END, ..TestElf::exec() });
    assert_eq!(error, LoadError::Entry(USER_END));
    assert_eq!(refused(&TestElf { entry: 0, ..TestElf::pie() }), LoadError::SharedLibrary);
    assert!(parse_elf(&TestElf { entry: 0, ..TestElf::dynamic() }).is_ok());
}

/// xorshift64*, so that a failure can be run again.
struct Rng(u64);

impl Rng {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % below
    }
}

fn check_plan(plan: &[LoadMapping], image: &Image) {
    let mut total = 0u64;
    for m in plan {
        assert!(m.addr % PAGE_SIZE == 0 && m.len % PAGE_SIZE == 0 && m.len > 0, "{m:?}");
        assert!(m.addr >= 0x1_0000 && m.len <= USER_END - m.addr, "{m:?}");
        if let MapSource::File { offset } = m.source {
            assert_eq!(offset % PAGE_SIZE, 0);
            assert!(offset.checked_add(m.len).is_some(), "{m:?}");
        }
        if let Some((from, to)) = m.zero {
            assert!(m.addr <= from && from < to && to == m.addr + m.len && to - from < PAGE_SIZE);
            assert!(m.prot.allows(Prot::WRITE));
        }
        total = total.checked_add(m.len).unwrap();
    }
    // Bytes are disjoint, so only the pages at both ends of a segment can be counted twice.
    assert!(total <= USER_END + 2 * PAGE_SIZE * image.segments.len() as u64);
}

#[test]
fn mutations_never_panic_and_keep_the_rules() {
    let interesting = [0, 1, 0x7f, 0x80, 0xff];
    let mut rng = Rng(0x1234_5678_9abc_def1);
    let mut loaded = 0;
    for round in 0..20_000 {
        let seed = [TestElf::exec(), TestElf::pie(), TestElf::dynamic()][round % 3].clone();
        let mut bytes = seed.bytes();
        for _ in 0..=rng.next(4) {
            // Mostly in the headers, where it matters.
            let end = if rng.next(8) == 0 { bytes.len() } else { 64 + 4 * 56 };
            let at = rng.next(end as u64) as usize;
            bytes[at] = match rng.next(3) {
                0 => interesting[rng.next(5) as usize],
                1 => bytes[at] ^ (1 << rng.next(8)),
                _ => rng.next(256) as u8,
            };
        }
        if rng.next(8) == 0 {
            bytes.truncate(rng.next(bytes.len() as u64 + 1) as usize);
        }
        let Ok(image) = parse(bytes.as_slice()) else { continue };
        for bias in [image.bias_at(0x5555_5555_4000), image.bias_at(rng.next(u64::MAX)), rng.next(u64::MAX)] {
            if let Ok(plan) = image.plan(bias) {
                check_plan(&plan, &image);
                loaded += 1;
            }
        }
    }
    assert!(loaded > 1000, "the mutations should leave some images loadable, not {loaded}");
}
