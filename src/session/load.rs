//! Loading a program: from a path to mappings, a stack and the registers of its first instruction.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::mm::MMAP_MIN_ADDR;
use crate::abi::process::READ_IMPLIES_EXEC;
use crate::emu::cpuid;
use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::Machine;
use crate::guest::{
    Backing, FileId, Gpr, GuestCpu, GuestMemory, MapRequest, PageSource, Place, Prot, VmFlags, page_down,
};
use crate::kernel::Kernel;
use crate::kernel::cred::Credentials;
use crate::kernel::mm::Places;
use crate::kernel::vfs::ImageFile;
use crate::loader::{self, Image, LoadError, LoadErrorKind, MapSource, script, stack};

/// AT_MINSIGSTKSZ: what a signal frame takes with the FXSAVE area, rounded up as Linux does without
/// XSAVE.
const MIN_SIGNAL_STACK: u64 = 2048;

/// Room below what lies on the stack at the start (`stack_expand` of setup_arg_pages).
const STACK_EXPAND: u64 = 128 << 10;

/// Failure to load a program: an error number for the guest, a line for the user.
#[derive(Debug)]
pub(super) struct LoadFailure {
    /// Error number of execve(2).
    pub errno: Errno,
    /// One line that names the file.
    pub message: String,
}

/// Everything that loading needs, found and checked before the old program is given up.
pub(super) struct Prepared {
    program: ImageFile,
    image: Image,
    interpreter: Option<(ImageFile, Image)>,
    argv: Vec<Vec<u8>>,
    envp: Vec<Vec<u8>>,
    execfn: Vec<u8>,
    /// The text that the task's name is taken from.
    comm: Vec<u8>,
}

fn failure(path: &str, error: &LoadError) -> LoadFailure {
    let errno = match error.kind() {
        LoadErrorKind::NoExec => Errno::ENOEXEC,
        LoadErrorKind::Invalid => Errno::EINVAL,
        LoadErrorKind::Io => Errno::EIO,
        LoadErrorKind::Access => Errno::EACCES,
        LoadErrorKind::NotFound => Errno::ENOENT,
        LoadErrorKind::Loop => Errno::ELOOP,
        LoadErrorKind::TooBig => Errno::E2BIG,
    };
    LoadFailure { errno, message: format!("{path}: {error}") }
}

fn no_memory(path: &str) -> LoadFailure {
    LoadFailure {
        errno: Errno::ENOMEM,
        message: format!("{path}: not enough memory to load it; raise --max-memory"),
    }
}

fn head(source: &dyn PageSource) -> Vec<u8> {
    let mut head = vec![0; script::HEAD_SIZE];
    let len = source.read_at(0, &mut head).unwrap_or(0);
    head.truncate(len);
    head
}

pub(super) fn open(
    kernel: &mut Kernel,
    mem: &mut dyn GuestMemory,
    path: &[u8],
) -> Result<ImageFile, LoadFailure> {
    kernel.image(path, mem).map_err(|errno| {
        let shown = String::from_utf8_lossy(path);
        let what = match errno {
            Errno::ENOENT | Errno::ENOTDIR => "no such file; check the path",
            Errno::EACCES | Errno::EPERM => {
                "cannot be run: a directory, a special file, or not executable (chmod +x)"
            }
            Errno::ELOOP => "too many symbolic links",
            _ => "cannot be read",
        };
        LoadFailure { errno, message: format!("{shown}: {what}") }
    })
}

/// A program that is about to be executed, and how it was named.
pub(super) struct Start {
    /// The program; `#!` is not yet followed.
    pub image: ImageFile,
    /// AT_EXECFN, the argument of a `#!` interpreter, and the task's name.
    pub execfn: Vec<u8>,
    /// The task has the name of the file instead.
    pub nameless: bool,
    /// The descriptor that the name begins with will be closed.
    pub closes: bool,
}

/// Finds whatever a program needs to start, following `#!` lines.
///
/// # Errors
/// What is wrong with which file.
pub(super) fn prepare(
    kernel: &mut Kernel,
    mem: &mut AddressSpace,
    start: Start,
    argv: Vec<Vec<u8>>,
    envp: Vec<Vec<u8>>,
) -> Result<Prepared, LoadFailure> {
    let layout = *mem.layout();
    let Start { image: mut program, execfn, nameless, closes } = start;
    let mut argv = argv;
    // A script gets its path as it was given.
    let mut name = execfn.clone();
    for depth in 0.. {
        let head = head(&*program.source);
        if loader::file_kind(&head) != loader::FileKind::Script {
            break;
        }
        if depth == script::MAX_DEPTH {
            return Err(failure(&program.path, &LoadError::ScriptLoop));
        }
        if depth == 0 && closes {
            return Err(failure(&program.path, &LoadError::ScriptCloses));
        }
        let script = script::parse(&head).map_err(|error| failure(&program.path, &error))?;
        argv = script.argv(&name, &argv);
        name.clone_from(&script.interpreter);
        let script_path = program.path;
        program = open(kernel, mem, &script.interpreter).map_err(|error| LoadFailure {
            message: format!("{script_path}: its #! interpreter {}", error.message),
            ..error
        })?;
    }
    let image = loader::parse(&*program.source).map_err(|error| failure(&program.path, &error))?;
    let bias = image.program_bias(&layout);
    image.plan(bias).map_err(|error| failure(&program.path, &error))?;
    let program_end = image.brk_base.wrapping_add(bias);
    let interpreter = match &image.interpreter {
        Some(interpreter) => {
            let file = open(kernel, mem, interpreter).map_err(|error| LoadFailure {
                message: format!("{}: its program interpreter {}", program.path, error.message),
                ..error
            })?;
            let image = loader::parse(&*file.source).map_err(|error| failure(&file.path, &error))?;
            image
                .plan(image.interpreter_bias(&layout, program_end))
                .map_err(|error| failure(&file.path, &error))?;
            Some((file, image))
        }
        None => None,
    };
    let comm = if nameless { program.name().to_vec() } else { execfn.clone() };
    Ok(Prepared { program, image, interpreter, argv, envp, execfn, comm })
}

impl Prepared {
    /// Replaces what the machine runs by this program; its first instruction is next.
    ///
    /// # Errors
    /// When the arguments do not fit on the stack, or memory is too small; the old program is gone
    /// then.
    pub(super) fn start(self, kernel: &mut Kernel, machine: &mut Machine) -> Result<(), LoadFailure> {
        let layout = *machine.memory().layout();
        let Prepared { program, image, interpreter, argv, envp, execfn, comm } = self;
        let path = program.path.clone();
        let bias = image.program_bias(&layout);
        let program_end = image.brk_base.wrapping_add(bias);
        let interpreter_bias =
            interpreter.as_ref().map_or(0, |(_, image)| image.interpreter_bias(&layout, program_end));
        let mut random = [0; 16];
        kernel.random.fill(&mut random);
        let secure = kernel.exec_credentials(program.mode, program.owner);
        let Credentials { uid, gid, .. } = &kernel.task().cred;
        let aux = stack::AuxValues {
            uid: uid.real,
            euid: uid.effective,
            gid: gid.real,
            egid: gid.effective,
            secure,
            random,
            hwcap: u64::from(cpuid::FEATURES_EDX),
            minsigstksz: MIN_SIGNAL_STACK,
            ..stack::AuxValues::for_image(&image, bias, interpreter_bias)
        };
        let (stack_limit, total_limit) = kernel.growth_limits();
        let stack_size = if layout.stack_grows {
            stack_limit.min(layout.stack_top - MMAP_MIN_ADDR)
        } else {
            layout.stack_size
        };
        let spec = stack::StackSpec {
            argv,
            envp,
            execfn,
            aux,
            top: layout.stack_top,
            stack_size,
            order: layout.stack_order,
        };
        let stack = stack::build(&spec).map_err(|error| failure(&path, &error))?;
        kernel.hold_program(program.at);
        kernel.exec(machine.memory());
        kernel.set_program_place(program.at, machine.memory());
        machine.load_space(kernel.space()); // a new one, if others still use the old one or look at it
        let memory = machine.memory();
        kernel.drop_unused_spaces(memory);
        memory.clear();
        memory.limit_growth(stack_limit, total_limit);
        // What may be read may be executed, personality(2).
        let data_runs = kernel.task().personality & READ_IMPLIES_EXEC != 0;
        map_image(memory, &program, &image, bias, data_runs)?;
        if let Some((file, image)) = &interpreter {
            map_image(memory, file, image, interpreter_bias, data_runs)?;
        }
        let stack_prot = if image.stack_exec { Prot::RW.with(Prot::EXEC) } else { Prot::RW };
        let stack_start = if layout.stack_grows {
            page_down(stack.sp).saturating_sub(STACK_EXPAND).max(page_down(layout.stack_top - stack_size))
        } else {
            layout.stack_top - layout.stack_size
        };
        memory
            .map(MapRequest {
                addr: stack_start,
                len: layout.stack_top - stack_start,
                prot: stack_prot,
                may_write: true,
                place: Place::Fixed,
                backing: Backing::Anonymous,
                file: None,
                label: Some("[stack]"),
                flags: VmFlags::GROWSDOWN,
            })
            .map_err(|_| no_memory(&path))?;
        memory.place_heap(program_end).map_err(|_| no_memory(&path))?;
        memory.write(stack.sp, &stack.bytes).map_err(|_| no_memory(&path))?;
        let auxv: Vec<u8> =
            stack.auxv.iter().flat_map(|&(key, value)| [key, value]).flat_map(u64::to_le_bytes).collect();
        let (code, data) = image.code_and_data();
        let moved = |(start, end): (u64, u64)| (start.wrapping_add(bias), end.wrapping_add(bias));
        let (code, data) = (moved(code), moved(data));
        let places = Places { code, data, stack: stack.sp, args: stack.args, env: stack.env };
        kernel.set_program(&program.id, &comm, &spec.argv, &spec.envp, places, &auxv);
        machine.reset();
        let mut cpu = machine.cpu();
        cpu.set_gpr(Gpr::Rsp, stack.sp);
        cpu.set_rip(match &interpreter {
            Some((_, image)) => image.entry_at(interpreter_bias),
            None => image.entry_at(bias),
        });
        Ok(())
    }
}

fn map_image(
    memory: &mut dyn GuestMemory,
    file: &ImageFile,
    image: &Image,
    bias: u64,
    data_runs: bool,
) -> Result<(), LoadFailure> {
    let id = FileId { path: Arc::from(file.path.as_str()), ..file.id.clone() };
    for mapping in image.plan(bias).map_err(|error| failure(&file.path, &error))? {
        let (backing, file_id) = match mapping.source {
            MapSource::File { offset } => {
                (Backing::File { source: Arc::clone(&file.source), offset, shared: false }, Some(id.clone()))
            }
            MapSource::Anonymous => (Backing::Anonymous, None),
        };
        let request = MapRequest {
            addr: mapping.addr,
            len: mapping.len,
            prot: if data_runs && mapping.prot.allows(Prot::READ) {
                mapping.prot.with(Prot::EXEC)
            } else {
                mapping.prot
            },
            may_write: true,
            place: Place::Fixed,
            backing,
            file: file_id,
            label: None,
            flags: VmFlags::NONE,
        };
        memory.map(request).map_err(|_| no_memory(&file.path))?;
        if let Some((from, to)) = mapping.zero {
            let zeros = vec![0; to.saturating_sub(from) as usize];
            memory.write(from, &zeros).map_err(|_| no_memory(&file.path))?;
        }
    }
    Ok(())
}
