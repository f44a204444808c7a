//! The CPU that the guest sees: a fixed x86-64-v2 model, whatever the host is (Intel SDM vol. 2, CPUID).
//!
//! It has what the engine runs correctly and C libraries look for: SSE to SSE4.2, POPCNT and CMPXCHG16B. It has no
//! AVX, XSAVE or BMI, so that no library chooses code that would be refused.

/// CPUID.1:ECX: SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
const FEATURES_ECX: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;

/// CPUID.1:EDX: FPU, TSC, CX8, CMOV, CLFSH, MMX, FXSR, SSE, SSE2 and the system features every x86-64 CPU has.
/// Also AT_HWCAP.
pub const FEATURES_EDX: u32 = 0x078b_fbff;

/// What CPUID answers: EAX, EBX, ECX, EDX.
pub fn cpuid(leaf: u32, subleaf: u32) -> [u32; 4] {
    match leaf {
        0 => [0xd, u32::from_le_bytes(*b"Genu"), u32::from_le_bytes(*b"ntel"), u32::from_le_bytes(*b"ineI")],
        // Family 6, model 44, stepping 2; one logical processor, 64-byte CLFLUSH.
        1 => [0x0002_06c2, 0x0001_0800, FEATURES_ECX, FEATURES_EDX],
        // Cache descriptors for those who do not ask leaf 4.
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
        0x8000_0002..=0x8000_0004 => brand(leaf - 0x8000_0002),
        0x8000_0006 => [0, 0, 0x0100_6040, 0],
        // 40 physical and 48 linear address bits.
        0x8000_0008 => [0x3028, 0, 0, 0],
        _ => [0; 4],
    }
}

/// The brand string, sixteen bytes at a time.
fn brand(part: u32) -> [u32; 4] {
    let mut text = [0u8; 48];
    let name = b"cgemu x86-64-v2";
    text[..name.len()].copy_from_slice(name);
    std::array::from_fn(|i| {
        let at = part as usize * 16 + i * 4;
        text.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    })
}
