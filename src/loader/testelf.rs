//! Builds small ELF files for the tests of this room, field by field from the ELF-64 specification.

/// A program header before it is laid down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phdr {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub vaddr: u64,
    pub filesz: u64,
    pub memsz: u64,
    pub align: u64,
}

/// p_type and p_flags values.
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_INTERP: u32 = 3;
pub(crate) const PT_TLS: u32 = 7;
pub(crate) const PT_GNU_STACK: u32 = 0x6474_e551;
pub(crate) const PT_GNU_RELRO: u32 = 0x6474_e552;
pub(crate) const R: u32 = 4;
pub(crate) const W: u32 = 2;
pub(crate) const X: u32 = 1;

/// An ELF file: header, program headers, and bytes at offsets.
#[derive(Clone, Debug)]
pub(crate) struct TestElf {
    pub ident: [u8; 16],
    pub e_type: u16,
    pub machine: u16,
    pub entry: u64,
    pub phoff: u64,
    pub phentsize: u16,
    pub phnum: Option<u16>,
    pub loads: Vec<Phdr>,
    pub others: Vec<Phdr>,
    pub data: Vec<(usize, Vec<u8>)>,
    pub len: usize,
}

/// A PT_LOAD of whole pages of the file.
pub(crate) fn load(flags: u32, offset: u64, vaddr: u64, filesz: u64, memsz: u64) -> Phdr {
    Phdr { kind: PT_LOAD, flags, offset, vaddr, filesz, memsz, align: 0x1000 }
}

/// Another program header.
pub(crate) fn other(kind: u32, flags: u32, offset: u64, vaddr: u64, size: u64) -> Phdr {
    Phdr { kind, flags, offset, vaddr, filesz: size, memsz: size, align: 1 }
}

impl TestElf {
    /// A static program at 0x400000: code at 0x400000, data at 0x402e00 with bss up to 0x404100.
    pub(crate) fn exec() -> TestElf {
        let mut ident = [0; 16];
        ident[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        TestElf {
            ident,
            e_type: 2,
            machine: 62,
            entry: 0x40_0200,
            phoff: 64,
            phentsize: 56,
            phnum: None,
            loads: vec![
                load(R | X, 0, 0x40_0000, 0x300, 0x300),
                load(R | W, 0xe00, 0x40_2e00, 0x180, 0x1300),
            ],
            others: vec![other(PT_GNU_STACK, R | W, 0, 0, 0)],
            data: Vec::new(),
            len: 0x1000,
        }
    }

    /// The same as a static PIE, at 0, in three pages of address space.
    pub(crate) fn pie() -> TestElf {
        TestElf {
            e_type: 3,
            entry: 0x200,
            loads: vec![load(R | X, 0, 0, 0x300, 0x300), load(R | W, 0xe00, 0x1e00, 0x180, 0x1200)],
            ..TestElf::exec()
        }
    }

    /// The same with the interpreter of glibc.
    pub(crate) fn dynamic() -> TestElf {
        let name = b"/lib64/ld-linux-x86-64.so.2\0";
        let mut elf = TestElf::pie();
        elf.others.push(other(PT_INTERP, R, 0x280, 0x280, name.len() as u64));
        elf.data.push((0x280, name.to_vec()));
        elf
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let phdrs: Vec<Phdr> = self.loads.iter().chain(&self.others).copied().collect();
        let mut out = self.ident.to_vec();
        for half in [self.e_type, self.machine] {
            out.extend(half.to_le_bytes());
        }
        out.extend(1u32.to_le_bytes());
        for word in [self.entry, self.phoff, 0] {
            out.extend(word.to_le_bytes());
        }
        out.extend(0u32.to_le_bytes());
        let phnum = self.phnum.unwrap_or(phdrs.len() as u16);
        for half in [64, self.phentsize, phnum, 0, 0, 0] {
            out.extend(u16::to_le_bytes(half));
        }
        for p in phdrs {
            out.extend(p.kind.to_le_bytes());
            out.extend(p.flags.to_le_bytes());
            for word in [p.offset, p.vaddr, p.vaddr, p.filesz, p.memsz, p.align] {
                out.extend(word.to_le_bytes());
            }
        }
        out.resize(self.len.max(out.len()), 0);
        for (offset, bytes) in &self.data {
            out[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        out
    }
}
