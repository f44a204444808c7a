//! What is counted, and with which caches.

// Each test program uses its own part of this.

/// A count model: the options that make each of the two count by it.
pub struct Model {
    pub name: &'static str,
    /// What stands before the notes on lines where cgemu differs on purpose by this model.
    pub marker: &'static str,
    /// Options of Valgrind.
    pub valgrind: &'static [&'static str],
    /// Options of cgemu.
    pub cgemu: &'static [&'static str],
    /// Programs that it does not count as Valgrind does, or not always, by what it does not know
    /// of.
    pub unlike: &'static [(&'static str, &'static [&'static str])],
}

/// What is executed: without these two options Valgrind counts what its optimiser left.
pub const ARCH: Model = Model {
    name: "arch",
    marker: "//~arch",
    valgrind: &["--vex-guest-chase=no", "--vex-iropt-level=0"],
    cgemu: &[],
    unlike: &[(
        "what a fault makes Valgrind forget, which is counted; faults.S and midblock.S pin it",
        &["faultqueue.S", "faultexits.S", "faultchase.S"],
    )],
};

/// What Valgrind prints without options.
pub const VALGRIND: Model = Model {
    name: "valgrind",
    marker: "//~valgrind",
    valgrind: &[],
    cgemu: &["--count-model=valgrind"],
    unlike: &[],
};

/// The models that cgemu has; another one is another line here, with the options that choose it.
pub const MODELS: [&Model; 2] = [&ARCH, &VALGRIND];

/// The shapes of I1, D1 and LL: bytes, ways and bytes to a line.
pub struct Geometry {
    pub name: &'static str,
    pub caches: [&'static str; 3],
}

/// cgemu's own caches: what counts that were derived by hand are for.
pub const DEFAULT: Geometry =
    Geometry { name: "the default caches", caches: ["32768,8,64", "32768,8,64", "8388608,16,64"] };

pub const GEOMETRIES: [Geometry; 6] = [
    DEFAULT,
    Geometry { name: "tiny caches", caches: ["1024,2,32", "2048,1,64", "8192,4,64"] },
    Geometry { name: "direct-mapped caches", caches: ["4096,1,64", "4096,1,64", "65536,1,64"] },
    Geometry { name: "fully associative caches", caches: ["4096,64,64", "4096,64,64", "32768,512,64"] },
    Geometry { name: "a twelve-way cache", caches: ["32768,8,64", "49152,12,64", "262144,8,64"] },
    // An access can cross a line of one cache and not of another, and the large accesses of fxsave
    // and its like are cut to the shortest line.
    Geometry { name: "lines of three lengths", caches: ["4096,1,128", "4096,4,32", "32768,8,256"] },
];

impl Model {
    /// Whether a program is known to be counted otherwise than by Valgrind.
    pub fn is_unlike(&self, program: &str) -> bool {
        self.unlike.iter().any(|(_, names)| names.contains(&program))
    }
}

impl Geometry {
    /// The options, which are the same for both.
    pub fn options(&self) -> [String; 3] {
        let [i1, d1, ll] = self.caches;
        [format!("--I1={i1}"), format!("--D1={d1}"), format!("--LL={ll}")]
    }
}
