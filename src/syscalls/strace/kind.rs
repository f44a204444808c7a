//! Kinds of arguments: how a register, or what it points to, is written.

/// Bits or values with their names.
pub(super) type Names = &'static [(u64, &'static str)];

/// A kind of argument.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// 32 bits with a sign.
    Int,
    /// 64 bits.
    Uint,
    /// 64 bits with a sign.
    Long,
    /// In hexadecimal.
    Hex,
    /// An offset in hexadecimal.
    Offset,
    /// An address, NULL for 0.
    Addr,
    /// A mode in octal.
    Mode,
    /// A mode that is only there if the flags before it create a file.
    CreateMode,
    /// A mode with the kind of file.
    FileMode,
    /// The number of a device, which only device files have.
    Device,
    /// A string in quotes.
    Path,
    /// A directory's descriptor.
    Dir,
    /// Flags of open(2).
    Open,
    /// Access to a mapping.
    Prot,
    /// Modes of access(2).
    Access,
    /// Flags by their names.
    Bits(Names),
    /// A value by its name.
    Value(Names),
    /// A clock.
    Clock,
    /// A signal.
    Signal,
    /// A scheduling policy.
    Policy,
    /// Type and flags of a socket.
    Socket,
    /// An operation of futex(2).
    Futex,
    /// Arguments of that operation.
    OfFutex,
    /// The argument of a command of fcntl(2).
    OfFcntl,
    /// Arguments of an option of prctl(2).
    OfPrctl,
    /// The new address of mremap(2), which only MREMAP_FIXED has.
    Moved,
    /// All arguments of clone(2), by their names.
    CloneCall,
    /// The frame of rt_sigreturn(2), at the stack pointer.
    Frame,
    /// Flags of statx(2).
    StatxFlags,
    /// Entries of a directory, of which the number is shown.
    Entries,
    /// The size of the structure of clone3(2), behind what the call has filled.
    CloneSize,
    /// Bytes of which the next argument has the number.
    Data,
    /// `argv`.
    Words,
    /// `envp`.
    Environment,
    /// The time left of a sleep, if a signal has ended it.
    Remaining,
    /// A structure that the call reads.
    In(Shape),
    /// A structure that the call fills.
    Out(Shape),
}

impl Kind {
    /// Text between the argument before and this one.
    pub(super) fn separator(self) -> &'static str {
        // It begins with its own.
        if matches!(self, Kind::CloneSize) { "" } else { ", " }
    }

    /// Tells if the argument is what the call answers, and so shown at its end. The first two of
    /// all arguments may decide.
    pub(super) fn is_output(self, [first, second, ..]: [u64; 6]) -> bool {
        match self {
            Kind::Out(_) | Kind::Remaining | Kind::Entries | Kind::CloneSize => true,
            // F_GETLK, F_GETOWN_EX and F_OFD_GETLK; PR_GET_*.
            Kind::OfFcntl => matches!(second as u32, 5 | 16 | 36),
            Kind::OfPrctl => matches!(first as u32, 2 | 16 | 37),
            _ => false,
        }
    }
}

/// Structures behind pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As many bytes as the call returned, as text.
    Filled,
    /// As many bytes as the call returned, in hexadecimal.
    Bytes,
    /// A string.
    Text,
    /// An `int`.
    Ints,
    /// A `long`.
    Longs,
    /// An address.
    Pointer,
    /// Two of type `int`.
    Pair,
    /// `sigset_t`.
    Signals,
    /// `struct sigaction`.
    Action,
    /// `struct timespec`.
    Timespec,
    /// Two of them.
    Times,
    /// `struct timeval`.
    Timeval,
    /// `struct itimerval`.
    Itimerval,
    /// `struct itimerspec`.
    Itimerspec,
    /// `struct rlimit`.
    Rlimit,
    /// `struct rusage`.
    Rusage,
    /// `struct tms`.
    Tms,
    /// `struct sigevent`.
    Sigevent,
    /// `siginfo_t`.
    Siginfo,
    /// `stack_t`.
    Altstack,
    /// `struct epoll_event`.
    EpollEvent,
    /// As many of them as the call returned.
    EpollEvents,
    /// `struct pollfd`, as many as the next argument says.
    Pollfds,
    /// `fd_set`, of as many descriptors as the first argument says.
    Fds,
    /// `struct iovec`, as many as the next argument says.
    Iovecs,
    /// `struct stat`.
    Stat,
    /// `struct statx`.
    Statx,
    /// `struct statfs`.
    Statfs,
    /// `struct sysinfo`.
    Sysinfo,
    /// `struct flock`.
    Flock,
    /// `struct clone_args`.
    CloneArgs,
    /// `struct open_how`.
    OpenHow,
    /// `struct utsname`.
    Utsname,
    /// A mask of CPUs.
    Cpus,
    /// Status of wait(2).
    Status,
}
