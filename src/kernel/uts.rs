//! The name of the emulated kernel, uname(2). Its release decides what C libraries try; 6.1 has
//! nearly every call served here.

macro_rules! release {
    () => {
        "6.1.0"
    };
}
macro_rules! version {
    () => {
        "#1 SMP"
    };
}

/// Release of the kernel.
pub(crate) const RELEASE: &str = release!();
/// The release that a task with UNAME26 of personality(2) is told: 2.6.60 and the minor number.
pub(crate) const RELEASE_26: &str = "2.6.61";
/// Version of the kernel.
pub(crate) const VERSION: &str = version!();
/// `/proc/sys/kernel/osrelease`.
pub(crate) const OSRELEASE_LINE: &str = concat!(release!(), "\n");
/// `/proc/sys/kernel/version`.
pub(crate) const VERSION_LINE: &str = concat!(version!(), "\n");
/// `/proc/version`.
pub(crate) const PROC_VERSION: &str = concat!("Linux version ", release!(), " (cgemu) ", version!(), "\n");

/// Most bytes in the name of a machine, __NEW_UTS_LEN.
pub(crate) const NAME_MAX: usize = 64;

/// Names that the machine can be given, the UTS namespace.
#[derive(Clone, Debug)]
pub struct Names {
    /// sethostname(2).
    pub(crate) host: Vec<u8>,
    /// setdomainname(2).
    pub(crate) domain: Vec<u8>,
}

impl Default for Names {
    /// A machine without a network of others: its name has an address wherever `localhost` has.
    fn default() -> Names {
        Names { host: b"localhost".to_vec(), domain: b"(none)".to_vec() }
    }
}
