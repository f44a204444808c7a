//! Known differences between the engine and CPUs, and what cgemu does about them.

/// Maker of the CPU that a test runs on, by CPUID. Where manuals leave something open, or
/// contradict each other, CPUs of different makers answer differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// GenuineIntel.
    Intel,
    /// AuthenticAMD.
    Amd,
}

/// The maker of this CPU.
pub fn vendor() -> Vendor {
    let info = std::fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    match info.lines().find(|line| line.starts_with("vendor_id")) {
        Some(line) if line.ends_with("GenuineIntel") => Vendor::Intel,
        Some(line) if line.ends_with("AuthenticAMD") => Vendor::Amd,
        line => panic!("it is not known what CPUs of this maker do otherwise: {line:?}"),
    }
}

/// CPUs on which a difference shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// Every CPU.
    All,
    /// Those of one maker, every one of them.
    Of(Vendor),
    /// Some models of one maker: the manuals leave the outcome open.
    Some(Vendor),
}

impl Cpus {
    /// Returns whether a CPU of this maker may show the difference.
    pub fn may(self, vendor: Vendor) -> bool {
        match self {
            Cpus::All => true,
            Cpus::Of(of) | Cpus::Some(of) => of == vendor,
        }
    }

    /// Returns whether a CPU of this maker has to show it.
    pub fn must(self, vendor: Vendor) -> bool {
        self.may(vendor) && !matches!(self, Cpus::Some(_))
    }
}

/// Differences of one kind.
pub struct Known {
    /// CPUs on which they show.
    pub cpus: Cpus,
    /// Facets of the outcome in which it shows, as the harness names them.
    pub facets: &'static [&'static str],
    /// The instructions, each of which must show it in some form; `*` for all that do.
    pub forms: &'static [&'static str],
    /// One of these, separated by `|`, is in the name of each form.
    pub part: &'static str,
    /// What is wrong.
    pub why: &'static str,
    /// What becomes of a program that uses it.
    pub treatment: &'static str,
}

/// All of them. One that no longer differs must be struck off.
pub const KNOWN: &[Known] = &[
    Known {
        cpus: Cpus::Of(Vendor::Intel),
        facets: &["value", "nan"],
        forms: &["fyl2x", "fptan", "fpatan", "fyl2xp1", "fsincos", "fsin", "fcos"],
        part: "",
        why: "x87 transcendental instructions are rounded correctly, CPUs err in the last bit",
        treatment: "runs; the run says so once",
    },
    Known {
        cpus: Cpus::Of(Vendor::Intel),
        facets: &["mode"],
        forms: &["fyl2x", "fptan", "fyl2xp1", "fsincos", "fsin", "fcos"],
        part: "",
        why: "x87 transcendental instructions are rounded correctly, CPUs err in the last bit",
        treatment: "runs; the run says so once",
    },
    Known {
        cpus: Cpus::Of(Vendor::Intel),
        facets: &["nan"],
        forms: &["f2xm1"],
        part: "",
        why: "x87 transcendental instructions are rounded correctly, CPUs err in the last bit",
        treatment: "runs; the run says so once",
    },
    Known {
        cpus: Cpus::All,
        facets: &["value", "mode", "nan", "unmasked"],
        forms: &["rsqrtps", "rsqrtss", "rcpps", "rcpss"],
        part: "",
        why: "Approximations: exact in the engine, 12 bits on CPUs, and each model has its own; denormals are not taken for zero",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["value"],
        forms: &["cmpxchg", "lock_cmpxchg"],
        part: "",
        why: "The 32-bit form clears the upper half of the register that it does not write",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["value"],
        forms: &["bsf", "bsr"],
        part: "",
        why: "For zero, where the manual leaves the destination undefined, the 32-bit form clears its upper half",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::Of(Vendor::Intel),
        facets: &["value"],
        forms: &[
            "rep_movsb",
            "rep_movsw",
            "rep_movsd",
            "rep_movsq",
            "repe_cmpsb",
            "repne_cmpsb",
            "repe_cmpsw",
            "repne_cmpsw",
            "repe_cmpsd",
            "repne_cmpsd",
            "repe_cmpsq",
            "repne_cmpsq",
            "rep_stosb",
            "rep_stosw",
            "rep_stosd",
            "rep_lodsb",
            "rep_lodsw",
            "rep_lodsq",
            "repe_scasb",
            "repne_scasb",
            "repe_scasw",
            "repne_scasw",
            "repne_scasd",
            "repe_scasq",
            "repne_scasq",
        ],
        part: "esi|edi",
        why: "32-bit addresses and a count of zero: the upper halves of the registers are kept",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["x87-c1"],
        forms: &["*"],
        part: "",
        why: "C1 does not say whether a result was rounded up",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["mmx-high"],
        forms: &["*"],
        part: "",
        why: "MMX instructions do not set the upper 16 bits of the x87 register",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["x87-empty"],
        forms: &["*"],
        part: "",
        why: "x87 stack overflow and underflow are not noticed",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::All,
        facets: &["x87-odd"],
        forms: &["*"],
        part: "",
        why: "Encodings that are no numbers since the 80387 are computed with, not refused as invalid",
        treatment: "runs",
    },
    Known {
        cpus: Cpus::Some(Vendor::Amd),
        facets: &["value", "mode", "nan", "unmasked", "x87-status"],
        forms: &["f2xm1", "fyl2x", "fptan", "fpatan", "fyl2xp1", "fsincos", "fsin", "fcos"],
        part: "",
        why: "x87 transcendental instructions are rounded correctly, CPUs err in the last bit",
        treatment: "runs; the run says so once",
    },
    Known {
        cpus: Cpus::Of(Vendor::Amd),
        facets: &["fault", "value"],
        forms: &["call", "ret"],
        part: "_ax|_bx|_cx|_dx|_sp|_di|r8w|r9w|_word|ret",
        why: "Near branches with an operand-size prefix move 16 bits on AMD's CPUs; Intel's ignore it",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Of(Vendor::Amd),
        facets: &["fault"],
        forms: &["jmp"],
        part: "_ax|_bx|_cx|_dx|_sp|_di|r8w|r9w|_word",
        why: "Near branches with an operand-size prefix move 16 bits on AMD's CPUs; Intel's ignore it",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Of(Vendor::Amd),
        facets: &["fault"],
        forms: &["nop"],
        part: ",",
        why: "0F 0D with a register does nothing on Intel's CPUs; AMD's have only PREFETCH there",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Some(Vendor::Amd),
        facets: &["flags", "value"],
        forms: &["shld", "shrd"],
        part: ",ax,i|,bx,i|,cx,i|,dx,i|,si,i|,di,i|,sp,i|w,i",
        why: "Double shifts of 16 bits by more than 16: result and flags are undefined",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Some(Vendor::Amd),
        facets: &["flags"],
        forms: &["rcl", "rcr"],
        part: "_ax,i|_bx,i|_cx,i|_dx,i|_di,i|_sp,i|_bl,i|_dl,i|w,i|_word_ptr|_byte_ptr",
        why: "OF is undefined after a rotation of 8 or 16 bits by more than one",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Some(Vendor::Amd),
        facets: &["nan", "unmasked"],
        forms: &["dppd", "dpps"],
        part: "",
        why: "The order of the additions is undefined, and with it which NaN is left",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Some(Vendor::Amd),
        facets: &["value"],
        forms: &["fxsave", "fxsave64"],
        part: "",
        why: "AMD's CPUs store the x87 pointers only if an unmasked exception is pending",
        treatment: "runs as on Intel's",
    },
    Known {
        cpus: Cpus::Some(Vendor::Intel),
        facets: &["unmasked", "x87-status"],
        forms: &["f2xm1", "fyl2x", "fptan", "fpatan", "fyl2xp1", "fsincos", "fsin", "fcos"],
        part: "",
        why: "x87 transcendental instructions are rounded correctly, CPUs err in the last bit",
        treatment: "runs; the run says so once",
    },
    Known {
        cpus: Cpus::Some(Vendor::Intel),
        facets: &["unmasked"],
        forms: &["fcom", "fcomp", "fcompp", "fucom", "fucomp", "fucompp", "ficom", "ficomp", "ftst"],
        part: "",
        why: "Intel's manual has a comparison set condition codes only if its exceptions are masked; AMD's CPUs set them",
        treatment: "runs as on AMD's",
    },
    Known {
        cpus: Cpus::Of(Vendor::Intel),
        facets: &["value"],
        forms: &["call"],
        part: "_di|_rdi",
        why: "AMD's CPUs store the return address before they refuse a target that is not canonical; Intel's do not",
        treatment: "runs as on AMD's",
    },
];
