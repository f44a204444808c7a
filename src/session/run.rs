//! One run, from a configuration to counts.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

use crate::emu::guest::{Gpr, GuestCpu, PAGE_SIZE};
use crate::emu::memory::arena::Arena;
use crate::emu::memory::frames::Frames;
use crate::emu::unicorn::Machine;
use crate::hooks::consumer::{Consumer, Predictors};
use crate::hooks::ring::Link;
use crate::hooks::trace::Recorder;
use crate::loader::layout::Layout;
use crate::session::attribute::{Folded, Subject};
use crate::session::guest::{Ending, Guest, TIME_IS_UP};
use crate::session::modules::Modules;
use crate::session::{Config, Control, Finished, Limits, Producer, StartError, Stop, attribute, load};
use crate::sim::Hierarchy;
use crate::syscalls::errno::Errno;
use crate::syscalls::kernel::{Kernel, KernelConfig};
use crate::syscalls::random::Random;

/// Bytes of guest memory and overlay files without `--max-memory`: what the emulated machine says it has.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

/// Tells the stream of RDRAND apart from the kernel's, which has the same seed.
const RDRAND_STREAM: u64 = 0x5244_5241_4e44;

fn start_error(failure: load::LoadFailure) -> StartError {
    match failure.errno {
        Errno::ENOENT | Errno::ENOTDIR => StartError::NotFound(failure.message),
        Errno::ENOMEM => StartError::Other(failure.message),
        _ => StartError::NotExecutable(failure.message),
    }
}

fn other(error: impl std::fmt::Display) -> StartError {
    StartError::Other(error.to_string())
}

/// Runs a program to its end and gives back what it cost.
///
/// # Errors
/// When it cannot be started; once it runs, whatever ends it still yields a profile.
pub fn run(config: Config, control: Arc<Control>) -> Result<Finished, StartError> {
    let cwd = std::env::current_dir().map_err(|error| other(format!("the working directory: {error}")))?;
    let memory = config.limits.memory.unwrap_or(DEFAULT_MEMORY);
    let mut kernel = Kernel::new(&KernelConfig {
        allow_write: config.allow_write.clone(),
        cwd,
        seed: config.seed,
        memory_limit: memory,
        interrupt: Arc::clone(&control.interrupt),
        front: control.front.clone(),
    });
    let caches = config.caches.map(|caches| Hierarchy::new(caches.i1, caches.d1, caches.ll));
    let predictors = config.branch_sim.then(Predictors::default);
    let arena = Arena::reserve().map_err(|error| other(format!("cannot reserve guest memory: {error}")))?;
    let frames = Frames::new(arena, usize::try_from(memory / PAGE_SIZE).unwrap_or(usize::MAX));
    let recorder = Recorder::new(Link::threaded(Consumer::parts(caches, predictors)));
    let reference = config.producer == Producer::Api;
    let mut machine = Machine::new(frames, Layout::LINUX.mmap_top, recorder, reference).map_err(other)?;

    let argv = config.argv.iter().map(|arg| arg.as_bytes().to_vec()).collect();
    let envp =
        config.env.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    let path = config.program.as_os_str().as_bytes();
    load::prepare(&mut kernel, machine.memory(), path, path, argv, envp)
        .and_then(|prepared| prepared.start(&mut kernel, &mut machine))
        .map_err(start_error)?;

    let mut guest = Guest {
        kernel,
        modules: Modules::default(),
        control,
        limits: Limits { memory: Some(memory), ..config.limits },
        ending: None,
        exec: None,
        random: Random::new(config.seed ^ RDRAND_STREAM),
    };
    let timer = config.limits.time.map(|time| start_timer(time, &guest.control));
    let failure = drive(&mut machine, &mut guest).err();
    drop(timer);
    if let Err(errno) = guest.kernel.fs.write_back(machine.memory()) {
        let error = std::io::Error::from_raw_os_error(errno.0.into());
        guest
            .kernel
            .notices
            .once(format!("what was stored in a shared mapping of a file is not all in it: {error}"));
    }
    let code = config.instructions.then(|| machine.code_in_no_file());
    let (consumers, _plans) = machine.finish();
    let ending = match failure {
        Some(error) => Ending::Stop(Stop::Refused(format!("the emulator failed: {error}"))),
        None => guest
            .ending
            .unwrap_or(Ending::Stop(Stop::Refused("the emulator stopped without a reason".into()))),
    };
    let (stop, line) = attribute::explain(ending, &mut guest.modules);
    let mut notices = guest.kernel.notices.take();
    notices.extend(line);
    let dropped = guest.kernel.fs.dropped();
    if dropped > 0 {
        let files = if dropped == 1 { "1 file is".to_owned() } else { format!("{dropped} files are") };
        notices.push(format!(
            "{files} dropped that the program wrote, changed or removed; --allow-write=DIR keeps what is in DIR"
        ));
    }
    let command = command_line(&config);
    let subject =
        Subject { command: &command, caches: config.caches.as_ref(), branch: config.branch_sim, code };
    let Folded { profile, instructions } = attribute::fold_run(&consumers, &mut guest.modules, subject);
    Ok(Finished { stop, profile, instructions, notices })
}

/// Asks the run to end after some time, unless the result is dropped before. A thread of its own, because a system
/// call may be waiting for the host then.
fn start_timer(time: std::time::Duration, control: &Arc<Control>) -> Sender<()> {
    let (running, ended) = channel();
    let interrupt = Arc::clone(&control.interrupt);
    // Without a thread there is no limit of time; everything else still works.
    let _ = std::thread::Builder::new().name("timer".into()).spawn(move || {
        if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            // A signal of the user's that came first stays.
            let _ = interrupt.compare_exchange(0, TIME_IS_UP, Relaxed, Relaxed);
        }
    });
    running
}

/// Runs until something other than execve(2) ends the program.
fn drive(machine: &mut Machine, guest: &mut Guest) -> Result<(), crate::emu::unicorn::EngineError> {
    loop {
        machine.run(guest)?;
        let Some(request) = guest.exec.take() else { return Ok(()) };
        let path = request.path.as_bytes();
        let prepared = load::prepare(
            &mut guest.kernel,
            machine.memory(),
            path,
            &request.filename,
            request.argv.clone(),
            request.envp.clone(),
        );
        match prepared {
            Err(failure) => machine.cpu().set_gpr(Gpr::Rax, failure.errno.to_rax()),
            Ok(prepared) => {
                if let Err(failure) = prepared.start(&mut guest.kernel, machine) {
                    // The old program is gone, so there is nobody to tell: Linux kills the process too.
                    guest.kernel.notices.once(failure.message);
                    guest.ending = Some(Ending::Stop(Stop::Killed(SIGKILL)));
                    return Ok(());
                }
            }
        }
    }
}

/// SIGKILL.
const SIGKILL: i32 = 9;

/// The command for `cmd:`: the program's name and its arguments as they were typed, joined by blanks as Cachegrind
/// joins them.
fn command_line(config: &Config) -> Vec<u8> {
    let words: Vec<&[u8]> = config.argv.iter().map(|arg| arg.as_bytes()).collect();
    words.join(&b' ')
}
