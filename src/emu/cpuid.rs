//! CPU models of the guest, independent of the host: the answers of CPUID (Intel SDM vol. 2) and
//! XGETBV.
//!
//! The own model has what the engine runs correctly and C libraries look for: SSE to SSE4.2, POPCNT
//! and CMPXCHG16B (x86-64-v2). It has no AVX, XSAVE or BMI, so that no library chooses code that is
//! refused.

/// CPUID.1:ECX: SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
const FEATURES_ECX: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;

/// CPUID.1:EDX: FPU, TSC, CX8, CMOV, CLFSH, MMX, FXSR, SSE, SSE2 and the system features every
/// x86-64 CPU has. Also AT_HWCAP.
pub(crate) const FEATURES_EDX: u32 = 0x078b_fbff;

/// CPU model that the guest sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CpuModel {
    /// The one that is executed: x86-64-v2.
    #[default]
    Own,
    /// The one of Valgrind 3.19 on a host with AVX2, for programs that were told by other means to
    /// use none of it. The C library's start depends on every answer of CPUID, so counts do too.
    Valgrind,
}

impl CpuModel {
    /// Answers CPUID: EAX, EBX, ECX, EDX.
    pub(crate) fn cpuid(self, leaf: u32, subleaf: u32) -> [u32; 4] {
        match self {
            CpuModel::Own => own(leaf, subleaf),
            CpuModel::Valgrind => valgrind(leaf, subleaf),
        }
    }

    /// Answers XGETBV for XCR0; `None` for a model without OSXSAVE, whose XGETBV is undefined.
    pub(crate) fn xcr0(self) -> Option<u64> {
        match self {
            CpuModel::Own => None,
            CpuModel::Valgrind => Some(7),
        }
    }
}

fn own(leaf: u32, subleaf: u32) -> [u32; 4] {
    match leaf {
        0 => [0xd, u32::from_le_bytes(*b"Genu"), u32::from_le_bytes(*b"ntel"), u32::from_le_bytes(*b"ineI")],
        // Family 6, model 44, stepping 2; one logical processor, 64-byte CLFLUSH.
        1 => [0x0002_06c2, 0x0001_0800, FEATURES_ECX, FEATURES_EDX],
        // Cache descriptors, for programs that do not ask leaf 4.
        2 => [0x5503_5a01, 0x00f0_b2ff, 0, 0x09ca_212c],
        // 32 KiB 8-way I1 and D1, 256 KiB 8-way L2, 8 MiB 16-way L3.
        4 => match subleaf {
            0 => [0x1c00_4121, 0x01c0_003f, 63, 0],
            1 => [0x1c00_4122, 0x01c0_003f, 63, 0],
            2 => [0x1c00_4143, 0x01c0_003f, 511, 0],
            3 => [0x1c03_c163, 0x03c0_003f, 8191, 2],
            _ => [0; 4],
        },
        0x8000_0000 => [0x8000_0008, 0, 0, 0],
        // LAHF in long mode; SYSCALL, NX, RDTSCP, long mode.
        0x8000_0001 => [0, 0, 1, 0x2810_0800],
        0x8000_0002..=0x8000_0004 => text(b"cgemu x86-64-v2", leaf - 0x8000_0002),
        0x8000_0006 => [0, 0, 0x0100_6040, 0],
        // 40 physical and 48 linear address bits.
        0x8000_0008 => [0x3028, 0, 0, 0],
        _ => [0; 4],
    }
}

/// The Core i7-4910MQ of Valgrind's `amd64g_dirtyhelper_CPUID_avx2`, with the bits set that
/// Valgrind takes from the host (F16C, RDRAND, RDSEED).
fn valgrind(leaf: u32, subleaf: u32) -> [u32; 4] {
    match (leaf, subleaf) {
        (0, _) => own(0, 0),
        (1, _) => [0x306c3, 0x0210_0800, 0x7ffa_fbff, 0xbfeb_fbff],
        (2, _) => [0x7603_6301, 0x00f0_b6ff, 0, 0x00c1_0000],
        (4, 0) => [0x1c00_4121, 0x01c0_003f, 0x3f, 0],
        (4, 1) => [0x1c00_4122, 0x01c0_003f, 0x3f, 0],
        (4, 2) => [0x1c00_4143, 0x01c0_003f, 0x1ff, 0],
        (4, 3) => [0x1c03_c163, 0x03c0_003f, 0x1fff, 6],
        (5, _) => [0x40, 0x40, 3, 0x42120],
        (6, _) => [0x77, 2, 9, 0],
        (7, 0) => [0, 0x0004_27aa, 0, 0],
        (0xa, _) => [0x0730_0803, 0, 0, 0x603],
        (0xb, 0) => [1, 2, 0x100, 2],
        (0xb, 1) => [4, 8, 0x201, 2],
        (0xb, _) => [0, 0, subleaf, 2],
        (0xd, 1) => [0; 4],
        (0xd, 2) => [0x100, 0x240, 0, 0],
        (0xd, 3..) => [0; 4],
        (3 | 4 | 7 | 8 | 9 | 0xc, _) => [0; 4],
        (0x8000_0000, _) => [0x8000_0008, 0, 0, 0],
        (0x8000_0001, _) => [0, 0, 0x21, 0x2c10_0800],
        (0x8000_0002..=0x8000_0004, _) => {
            text(b"Intel(R) Core(TM) i7-4910MQ CPU @ 2.90GHz", leaf - 0x8000_0002)
        }
        (0x8000_0005, _) => [0; 4],
        (0x8000_0006, _) => [0, 0, 0x0100_6040, 0],
        (0x8000_0007, _) => [0, 0, 0, 0x100],
        (0x8000_0008, _) => [0x3027, 0, 0, 0],
        // A CPU answers a leaf beyond its last one with the last.
        _ => [7, 0x340, 0x340, 0],
    }
}

/// Sixteen bytes of the processor brand string.
fn text(name: &[u8], part: u32) -> [u32; 4] {
    let mut text = [0u8; 48];
    text[..name.len()].copy_from_slice(name);
    std::array::from_fn(|i| {
        let at = part as usize * 16 + i * 4;
        text.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a program prints them under Valgrind 3.19 on a host with AVX2.
    #[test]
    fn answers_are_those_of_valgrind() {
        for (leaf, subleaf, expected) in [
            (0, 0, [0xd, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
            (1, 0, [0x306c3, 0x0210_0800, 0x7ffa_fbff, 0xbfeb_fbff]),
            (4, 3, [0x1c03_c163, 0x03c0_003f, 0x1fff, 6]),
            (4, 4, [0; 4]),
            (7, 0, [0, 0x0004_27aa, 0, 0]),
            (0xb, 3, [0, 0, 3, 2]),
            (0xd, 0, [7, 0x340, 0x340, 0]),
            (0xd, 4, [0; 4]),
            (0x14, 2, [7, 0x340, 0x340, 0]),
            (0x4000_0000, 0, [7, 0x340, 0x340, 0]),
            (0x8000_0004, 0, [0x2e32_2040, 0x4847_3039, 0x7a, 0]),
            (0xffff_ffff, 0, [7, 0x340, 0x340, 0]),
        ] {
            assert_eq!(CpuModel::Valgrind.cpuid(leaf, subleaf), expected, "{leaf:x}.{subleaf:x}");
        }
        assert_eq!(CpuModel::Valgrind.xcr0(), Some(7));
    }

    /// SDM vol. 1, 13.3: software asks XGETBV only where CPUID.1:ECX.OSXSAVE (bit 27) is set.
    #[test]
    fn xcr0_goes_with_osxsave() {
        for model in [CpuModel::Own, CpuModel::Valgrind] {
            assert_eq!(model.cpuid(1, 0)[2] >> 27 & 1 == 1, model.xcr0().is_some());
        }
    }
}
