//! Address spaces in the engine: random sequences of stores, loads, jumps, mappings, forks,
//! switches and checkpoints, run by guest code, beside a model that has only maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::emu::cpuid::CpuModel;
use crate::emu::memory::arena::Arena;
use crate::emu::memory::frames::Frames;
use crate::emu::memory::space::{AddressSpace, FileArea};
use crate::emu::supervisor::{Next, Refused, Supervisor};
use crate::emu::unicorn::machine::Machine;
use crate::emu::unicorn::snapshot::SavedMachine;
use crate::guest::layout::Layout;
use crate::guest::{
    Backing, Fault, FileVersion, Gpr, GuestCpu, GuestMemory as _, MapRequest, PAGE_SIZE, PageSource, Place,
    Prot, SpaceId, VmFlags,
};
use crate::hooks::consumer::Consumer;
use crate::hooks::control::AccountId;
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::hooks::recorder::{CountModel, Recorder};
use crate::hooks::worker::Link;

/// Stops at every system call and at every fault.
#[derive(Default)]
struct Stops {
    fault: Option<Fault>,
}

impl Supervisor for Stops {
    fn syscall(&mut self, _: &mut dyn GuestCpu, _: &mut AddressSpace) -> Next {
        Next::Stop
    }

    fn request(&mut self, _: &mut dyn GuestCpu, _: &mut AddressSpace) -> Result<Next, u64> {
        Ok(Next::Stop)
    }

    fn fault(
        &mut self,
        _: &mut dyn GuestCpu,
        _: &mut AddressSpace,
        fault: Fault,
        _: Option<Refused>,
        _: MappingId,
    ) -> Next {
        self.fault = Some(fault);
        Next::Stop
    }

    fn out_of_memory(&mut self, _: &mut dyn GuestCpu) {}

    fn translated(&mut self, _: u64) -> Next {
        Next::Continue
    }

    fn mapping_of(&mut self, _: Option<FileArea<'_>>) -> MappingId {
        NO_MAPPING
    }

    fn notice(&mut self, _: u64, _: Option<FileArea<'_>>, _: &'static str) {}

    fn tick(&mut self, _: u64, _: u64) -> Next {
        Next::Continue
    }

    fn interrupt(&mut self, _: &mut dyn GuestCpu, _: &mut AddressSpace) -> Next {
        Next::Continue
    }

    fn breakpoint(&mut self, _: &mut dyn GuestCpu, _: &mut AddressSpace) -> Next {
        Next::Continue
    }

    fn instructions_left(&self, _: u64) -> Option<u64> {
        None
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn may_read_tsc(&self) -> bool {
        true
    }
}

fn machine(reference: bool) -> Machine {
    let frames = Frames::new(Arena::reserve(0).expect("an arena"), 1 << 20);
    let space = AddressSpace::new(frames, Layout::LINUX, true);
    let recorder = Recorder::new(Link::inline(Consumer::parts(None, None, None, 1)), CountModel::Arch, false);
    Machine::new(space, CpuModel::Own, recorder, reference).expect("an engine")
}

/// Runs from an address to the next system call and returns RAX, or the fault.
fn run(machine: &mut Machine, rip: u64, rdi: u64, rsi: u64) -> Result<u64, Fault> {
    let mut cpu = machine.cpu();
    cpu.set_rip(rip);
    cpu.set_gpr(Gpr::Rax, u64::MAX);
    cpu.set_gpr(Gpr::Rdi, rdi);
    cpu.set_gpr(Gpr::Rsi, rsi);
    drop(cpu);
    let mut stops = Stops::default();
    machine.run(&mut stops).expect("the engine runs");
    match stops.fault {
        Some(fault) => Err(fault),
        None => Ok(machine.cpu().gpr(Gpr::Rax)),
    }
}

/// Code of a file whose pages stay as they are: the first has routines, the others return
/// different numbers.
struct Program(Vec<u8>);

const LOAD: u64 = 0x40_0000;
const STORE: u64 = LOAD + 0x10;
/// Jumps to the page of numbers.
const ASK: u64 = LOAD + 0x20;
/// Calls the page of numbers by a register.
const ASK_INDIRECT: u64 = LOAD + 0x30;
const NUMBERS: u64 = LOAD + PAGE_SIZE;
/// Code in memory that is no file's: jumps to the next page.
const COPY: u64 = 0x50_0000;
const DATA: u64 = 0x60_0000;
const SHARED: u64 = 0x70_0000;
const PAGES: u64 = 6;

/// `mov eax, number; syscall`.
fn number(number: u32) -> Vec<u8> {
    let mut code = vec![0xb8];
    code.extend(number.to_le_bytes());
    code.extend([0x0f, 0x05]);
    code
}

/// `jmp` over a distance from the end of the instruction.
fn jump(distance: u32) -> Vec<u8> {
    let mut code = vec![0xe9];
    code.extend(distance.to_le_bytes());
    code
}

impl Program {
    fn new() -> Arc<Program> {
        let mut bytes = vec![0; 4 * PAGE_SIZE as usize];
        let mut put = |at: u64, code: &[u8]| bytes[at as usize..][..code.len()].copy_from_slice(code);
        put(0, &[0x48, 0x8b, 0x07, 0x0f, 0x05]); // mov rax, [rdi]; syscall
        put(0x10, &[0x48, 0x89, 0x37, 0x0f, 0x05]); // mov [rdi], rsi; syscall
        put(0x20, &jump((PAGE_SIZE - 0x25) as u32));
        put(0x30, &[0xff, 0xe7]); // jmp rdi
        for page in 1..4 {
            put(page * PAGE_SIZE, &number(page as u32));
        }
        Arc::new(Program(bytes))
    }
}

impl PageSource for Program {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(offset, buf)
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn version(&self) -> Option<FileVersion> {
        Some(FileVersion([1; 5]))
    }
}

/// An address space as it should be.
#[derive(Clone, Default)]
struct Model {
    /// Pages that are mapped, with their first words.
    data: BTreeMap<u64, u64>,
    /// The number that the page of numbers gives, if it is mapped.
    number: Option<u32>,
    /// The number that the code in no file leads to.
    copy: u32,
}

/// A snapshot, and the model's state then: spaces, shared words and the loaded space.
type Saved = (SavedMachine, BTreeMap<SpaceId, Model>, [u64; 2], SpaceId);

struct Test {
    machine: Machine,
    program: Arc<Program>,
    spaces: BTreeMap<SpaceId, Model>,
    shared: [u64; 2],
    current: SpaceId,
    saved: Vec<Saved>,
    state: u64,
}

impl Test {
    fn new(reference: bool, seed: u64) -> Test {
        let mut machine = machine(reference);
        let object = machine.memory().object_create(2 * PAGE_SIZE, None);
        let mut test = Test {
            machine,
            program: Program::new(),
            spaces: BTreeMap::from([(SpaceId(0), Model { copy: 9, ..Model::default() })]),
            shared: [0; 2],
            current: SpaceId(0),
            saved: Vec::new(),
            state: seed,
        };
        test.map_file(LOAD, 0);
        test.map(COPY, 2, Prot(7), Backing::Anonymous);
        test.map(SHARED, 2, Prot::RW, Backing::Shared { object, offset: 0 });
        test.machine.memory().write(COPY, &jump((PAGE_SIZE - 5) as u32)).expect("mapped");
        test.machine.memory().write(COPY + PAGE_SIZE, &number(9)).expect("mapped");
        test
    }

    /// xorshift64*.
    fn choose(&mut self, count: u64) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % count
    }

    fn map(&mut self, addr: u64, pages: u64, prot: Prot, backing: Backing) {
        let (len, place) = (pages * PAGE_SIZE, Place::Fixed);
        let request = MapRequest {
            addr,
            len,
            prot,
            may_write: true,
            place,
            backing,
            file: None,
            label: None,
            flags: VmFlags::NONE,
        };
        self.machine.memory().map(request).expect("room");
    }

    fn map_file(&mut self, addr: u64, page: u64) {
        let source: Arc<dyn PageSource> = Arc::clone(&self.program) as _;
        let backing = Backing::File { source, offset: page * PAGE_SIZE, shared: false };
        self.map(addr, 1, Prot(7), backing);
    }

    fn model(&mut self) -> &mut Model {
        self.spaces.get_mut(&self.current).expect("a space")
    }

    fn any_space(&mut self) -> SpaceId {
        let at = self.choose(self.spaces.len() as u64) as usize;
        *self.spaces.keys().nth(at).expect("a space")
    }

    fn switch(&mut self) {
        let to = self.any_space();
        if self.choose(2) == 0 {
            self.machine.load_space(to);
        } else {
            let cpu = self.machine.save_cpu().expect("memory");
            self.machine.load_task(&cpu, to, (0, AccountId::FIRST)).expect("a CPU");
        }
        self.current = to;
    }

    /// Accesses a page of data by guest code and compares.
    fn access(&mut self) {
        let page = DATA + self.choose(PAGES) * PAGE_SIZE;
        let value = self.choose(1 << 30);
        let expected = self.model().data.get(&page).copied();
        if self.choose(2) == 0 {
            assert_eq!(run(&mut self.machine, LOAD, page, 0).ok(), expected, "a load from {page:#x}");
        } else {
            let stored = run(&mut self.machine, STORE, page, value).is_ok();
            assert_eq!(stored, expected.is_some(), "a store to {page:#x}");
            if stored {
                self.model().data.insert(page, value);
            }
        }
    }

    fn access_shared(&mut self) {
        let (page, value) = (self.choose(2), self.choose(1 << 30));
        let addr = SHARED + page * PAGE_SIZE;
        if self.choose(2) == 0 {
            let loaded = run(&mut self.machine, LOAD, addr, 0);
            assert_eq!(loaded, Ok(self.shared[page as usize]), "shared memory");
        } else {
            assert!(run(&mut self.machine, STORE, addr, value).is_ok(), "shared memory");
            self.shared[page as usize] = value;
        }
    }

    /// Runs the code that leads to another page.
    fn ask(&mut self) {
        let expected = self.model().number.map(u64::from);
        assert_eq!(run(&mut self.machine, ASK, 0, 0).ok(), expected, "a jump to a page of the file");
        assert_eq!(run(&mut self.machine, ASK_INDIRECT, NUMBERS, 0).ok(), expected, "an indirect jump");
        let expected = u64::from(self.model().copy);
        assert_eq!(run(&mut self.machine, COPY, 0, 0), Ok(expected), "a jump to changed code");
        assert_eq!(run(&mut self.machine, ASK_INDIRECT, COPY, 0), Ok(expected), "an indirect jump");
    }

    fn map_or_unmap(&mut self) {
        let page = DATA + self.choose(PAGES) * PAGE_SIZE;
        if self.choose(2) == 0 {
            self.map(page, 1, Prot::RW, Backing::Anonymous);
            self.model().data.insert(page, 0);
        } else {
            self.machine.memory().unmap(page, PAGE_SIZE).expect("a range");
            self.model().data.remove(&page);
        }
    }

    /// Maps another page of the file as the page of numbers, or none.
    fn change_numbers(&mut self) {
        let page = self.choose(4);
        if page == 0 {
            self.machine.memory().unmap(NUMBERS, PAGE_SIZE).expect("a range");
            self.model().number = None;
        } else {
            self.map_file(NUMBERS, page);
            self.model().number = Some(page as u32);
        }
    }

    /// Stores another number to code: to a page of the file or to one that is no file's, as guest
    /// code or as the kernel.
    fn change_code(&mut self) {
        let value = self.choose(1 << 20) as u32;
        let in_file = self.choose(2) == 0;
        if in_file && self.model().number.is_none() {
            return;
        }
        let page = if in_file { NUMBERS } else { COPY + PAGE_SIZE };
        let code = number(value);
        if self.choose(2) == 0 {
            let mut word = [0; 8];
            word[..7].copy_from_slice(&code);
            let stored = run(&mut self.machine, STORE, page, u64::from_le_bytes(word));
            assert!(stored.is_ok(), "a store to code");
        } else {
            self.machine.memory().write(page, &code).expect("mapped");
        }
        if in_file {
            self.model().number = Some(value);
        } else {
            self.model().copy = value;
        }
    }

    fn fork(&mut self) {
        if self.spaces.len() < 6 {
            // The kernel uses numbers again, too.
            let free = (0..).map(SpaceId).find(|id| !self.spaces.contains_key(id));
            let child = free.expect("a number");
            self.machine.memory().fork(child).expect("room");
            let model = self.model().clone();
            self.spaces.insert(child, model);
        }
    }

    fn drop_one(&mut self) {
        let space = self.any_space();
        if space != self.current {
            self.machine.memory().drop_space(space);
            self.spaces.remove(&space);
        }
    }

    fn save_or_restore(&mut self) {
        if self.saved.len() < 3 && self.choose(2) == 0 {
            let saved = self.machine.save().expect("memory");
            self.saved.push((saved, self.spaces.clone(), self.shared, self.current));
        } else if !self.saved.is_empty() {
            let at = self.choose(self.saved.len() as u64) as usize;
            let (saved, spaces, shared, current) = self.saved.remove(at);
            self.machine.restore(&saved).expect("a snapshot");
            self.machine.forget(saved);
            (self.spaces, self.shared, self.current) = (spaces, shared, current);
        }
    }

    fn step(&mut self) {
        match self.choose(32) {
            0..=7 => self.access(),
            8..=10 => self.access_shared(),
            11..=16 => self.ask(),
            17..=19 => self.map_or_unmap(),
            20 => self.change_numbers(),
            21..=22 => self.change_code(),
            23..=24 => self.fork(),
            25..=29 => self.switch(),
            30 => self.drop_one(),
            _ => self.save_or_restore(),
        }
    }
}

fn agree(reference: bool, steps: u64) {
    for seed in 1..=12 {
        let mut test = Test::new(reference, 0x9e37_79b9 * seed);
        for _ in 0..steps {
            test.step();
        }
        for (saved, ..) in std::mem::take(&mut test.saved) {
            test.machine.forget(saved);
        }
    }
}

#[test]
fn address_spaces_are_as_the_model() {
    agree(false, 1500);
}

#[test]
fn address_spaces_are_as_the_model_by_the_reference_producer() {
    agree(true, 300);
}

/// Pages are the child's own, though its TLB was put away while the tables grew.
#[test]
fn a_tlb_that_has_grown_comes_back() {
    const LARGE: u64 = 6000;
    let mut test = Test::new(false, 1);
    test.map(0x1000_0000, LARGE, Prot::RW, Backing::Anonymous);
    let at = |page: u64| 0x1000_0000 + page * PAGE_SIZE;
    for page in 0..LARGE {
        assert!(run(&mut test.machine, STORE, at(page), page).is_ok());
    }
    test.machine.memory().fork(SpaceId(1)).expect("room");
    for round in 1..4 {
        for (space, sign) in [(0, 1), (1, 2)] {
            test.machine.load_space(SpaceId(space));
            for page in (0..LARGE).step_by(7) {
                let expected = if round == 1 { page } else { page * 10 + round - 1 + 1000 * sign };
                assert_eq!(run(&mut test.machine, LOAD, at(page), 0), Ok(expected));
                assert!(run(&mut test.machine, STORE, at(page), page * 10 + round + 1000 * sign).is_ok());
            }
        }
    }
    test.machine.load_space(SpaceId(0));
    test.machine.memory().drop_space(SpaceId(1));
    assert_eq!(run(&mut test.machine, LOAD, at(1), 0), Ok(1));
}
