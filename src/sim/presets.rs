//! Named cache geometries. There is no preset for the machine cgemu happens to run on: a profile
//! must not depend on it. Processors whose last level has no power-of-two number of sets cannot be
//! simulated by Cachegrind's model and are left out.

use super::geometry::Geometry;

/// Three caches under a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Preset {
    /// Name on the command line.
    pub name: &'static str,
    /// First-level instruction cache.
    pub i1: Geometry,
    /// First-level data cache.
    pub d1: Geometry,
    /// Last-level cache, as one core sees it.
    pub ll: Geometry,
    /// Which machine this is, for the help text.
    pub note: &'static str,
}

/// Every preset, the default first.
pub(crate) const PRESETS: &[Preset] = &[
    row("default", (32768, 8, 64), (32768, 8, 64), (8_388_608, 16, 64), "typical desktop; the fixed default"),
    row("small", (16384, 4, 32), (16384, 4, 32), (262_144, 8, 32), "a small embedded core, 32-byte lines"),
    row("cortex-a72", (49152, 3, 64), (32768, 2, 64), (1_048_576, 16, 64), "Arm Cortex-A72 with 1 MiB of L2"),
    row("core2-e8400", (32768, 8, 64), (32768, 8, 64), (6_291_456, 24, 64), "Intel Core 2 Duo E8400 (2008)"),
    row("skylake-i5", (32768, 8, 64), (32768, 8, 64), (6_291_456, 12, 64), "Intel Core i5-6500 (2015)"),
    row("icelake-i7", (32768, 8, 64), (49152, 12, 64), (8_388_608, 16, 64), "Intel Core i7-1065G7 (2019)"),
    row("zen", (65536, 4, 64), (32768, 8, 64), (8_388_608, 16, 64), "AMD Zen, one core complex (2017)"),
    row("zen2", (32768, 8, 64), (32768, 8, 64), (16_777_216, 16, 64), "AMD Zen 2, one core complex (2019)"),
    row("zen3", (32768, 8, 64), (32768, 8, 64), (33_554_432, 16, 64), "AMD Zen 3, one core complex (2020)"),
];

/// The preset of this name, exactly as spelled in [`PRESETS`].
#[must_use]
pub(crate) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.name == name)
}

/// Size, associativity and line size, as in [`Geometry::new`].
type Numbers = (u64, u32, u32);

const fn row(name: &'static str, i1: Numbers, d1: Numbers, ll: Numbers, note: &'static str) -> Preset {
    Preset { name, i1: checked(i1), d1: checked(d1), ll: checked(ll), note }
}

/// Evaluated at compile time only, so that a bad row does not build.
const fn checked((size, assoc, line): Numbers) -> Geometry {
    match Geometry::new(size, assoc, line) {
        Ok(geometry) => geometry,
        Err(_) => panic!("a preset breaks the rules of Geometry::new"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_fixed() {
        let p = preset("default").expect("there is a default");
        assert_eq!(p, &PRESETS[0]);
        assert_eq!(p.i1.to_string(), "32768,8,64");
        assert_eq!(p.d1.to_string(), "32768,8,64");
        assert_eq!(p.ll.to_string(), "8388608,16,64");
    }

    #[test]
    fn names_are_unique_and_unknown_ones_refused() {
        for (i, p) in PRESETS.iter().enumerate() {
            assert!(PRESETS.iter().skip(i + 1).all(|q| q.name != p.name), "{} twice", p.name);
            assert_eq!(preset(p.name), Some(p));
        }
        assert_eq!(preset("host"), None);
        assert_eq!(preset(""), None);
    }
}
