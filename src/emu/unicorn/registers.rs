//! The registers of the guest.

use unicorn_engine::RegisterX86;

use crate::emu::unicorn::engine_state::{EngineState, Segment};
use crate::guest::{Gpr, GuestCpu};
use crate::hooks::callgraph::dumps::Collection;
use crate::hooks::callgraph::facts::Between;
use crate::hooks::recorder::Recorder;

/// The guest's registers, with the recorder for its clock.
pub(super) struct Cpu<'a> {
    state: &'a mut EngineState,
    recorder: &'a mut Recorder,
    /// Bytes that the engine will add to RIP after the callback.
    pending_bytes: u64,
}

impl<'a> Cpu<'a> {
    /// The registers where RIP is what the engine says.
    pub(super) fn new(state: &'a mut EngineState, recorder: &'a mut Recorder) -> Cpu<'a> {
        Cpu { state, recorder, pending_bytes: 0 }
    }

    /// The registers in a callback after which the engine adds `bytes` to RIP.
    pub(super) fn before_rip_advances(self, bytes: u64) -> Cpu<'a> {
        Cpu { pending_bytes: bytes, ..self }
    }
}

/// Flags that a user program may set: CF PF AF ZF SF TF DF OF AC ID, and bit 1, which is always
/// set.
const USER_FLAGS: u64 = 0x24_0dd5;

impl GuestCpu for Cpu<'_> {
    fn gpr(&self, reg: Gpr) -> u64 {
        self.state.gpr(reg)
    }

    fn set_gpr(&mut self, reg: Gpr, value: u64) {
        self.state.set_gpr(reg, value);
    }

    fn rip(&self) -> u64 {
        self.state.rip().wrapping_add(self.pending_bytes)
    }

    fn set_rip(&mut self, value: u64) {
        let bytes = self.pending_bytes;
        self.state.set_rip(value.wrapping_sub(bytes));
    }

    fn rflags(&self) -> u64 {
        self.state.rflags()
    }

    fn set_rflags(&mut self, value: u64) {
        self.state.set_popped_flags(value & USER_FLAGS);
    }

    fn fs_base(&self) -> u64 {
        self.state.segment_base(Segment::Fs)
    }

    fn set_fs_base(&mut self, value: u64) {
        self.state.set_segment_base(Segment::Fs, value);
    }

    fn gs_base(&self) -> u64 {
        self.state.segment_base(Segment::Gs)
    }

    fn set_gs_base(&mut self, value: u64) {
        self.state.set_segment_base(Segment::Gs, value);
    }

    fn fpu(&self) -> Box<[u8; 512]> {
        let mut image = Box::new([0u8; 512]);
        self.state.env().collect_x87();
        image[0..2].copy_from_slice(&self.state.read::<2>(RegisterX86::FPCW));
        image[2..4].copy_from_slice(&self.state.read::<2>(RegisterX86::FPSW));
        let tags = u16::from_le_bytes(self.state.read(RegisterX86::FPTAG));
        // FXSAVE has one bit a register: not empty.
        image[4] = (0..8).filter(|i| tags >> (2 * i) & 3 != 3).fold(0, |bits, i| bits | 1 << i);
        image[24..28].copy_from_slice(&self.state.env().full_mxcsr().to_le_bytes());
        image[28..32].copy_from_slice(&0xffff_u32.to_le_bytes());
        for i in 0..8 {
            image[32 + 16 * i..][..10].copy_from_slice(&self.state.read::<10>(st(i)));
        }
        for i in 0..16 {
            image[160 + 16 * i..][..16].copy_from_slice(&self.state.read::<16>(xmm(i)));
        }
        image
    }

    fn set_fpu(&mut self, image: &[u8; 512]) {
        let part = |at: usize| -> [u8; 16] { std::array::from_fn(|i| image[at + i]) };
        self.state.env().collect_x87();
        self.state.write(RegisterX86::FPCW, &[image[0], image[1]]);
        self.state.env().follow_fpuc();
        self.state.write(RegisterX86::FPSW, &[image[2], image[3]]);
        let tags = (0..8).fold(0u16, |tags, i| tags | if image[4] >> i & 1 == 0 { 3 << (2 * i) } else { 0 });
        for i in 0..8 {
            let value: [u8; 10] = std::array::from_fn(|k| image[32 + 16 * i + k]);
            self.state.write(st(i), &value);
        }
        self.state.write(RegisterX86::FPTAG, &tags.to_le_bytes());
        self.state.env().collect_x87();
        self.state.env().load_mxcsr(u32::from_le_bytes([image[24], image[25], image[26], image[27]]));
        for i in 0..16 {
            self.state.write(xmm(i), &part(160 + 16 * i));
        }
    }

    fn instructions(&mut self) -> u64 {
        self.recorder.instructions()
    }

    fn set_counting(&mut self, counting: bool) -> bool {
        let pc = self.rip();
        self.recorder.set_counting(counting, pc)
    }

    fn follows_calls(&self) -> bool {
        self.recorder.follows_calls()
    }

    fn dump_costs(&mut self, reason: u32) {
        let pc = self.rip();
        self.recorder.collect(Collection::Dump(reason), pc);
    }

    fn zero_costs(&mut self) {
        let pc = self.rip();
        self.recorder.collect(Collection::Zero, pc);
    }

    fn toggle_collection(&mut self) {
        let pc = self.rip();
        self.recorder.collect(Collection::Toggle, pc);
    }

    fn signal_begins(&mut self) {
        let (pc, sp) = (self.rip(), self.gpr(Gpr::Rsp));
        self.recorder.between(Between::Signal, pc, sp);
    }

    fn signal_returned(&mut self) {
        let (pc, sp) = (self.rip(), self.gpr(Gpr::Rsp));
        self.recorder.between(Between::SignalReturn, pc, sp);
    }
}

fn st(i: usize) -> RegisterX86 {
    use RegisterX86::{ST0, ST1, ST2, ST3, ST4, ST5, ST6, ST7};
    [ST0, ST1, ST2, ST3, ST4, ST5, ST6, ST7][i]
}

fn xmm(i: usize) -> RegisterX86 {
    use RegisterX86::{XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7};
    use RegisterX86::{XMM8, XMM9, XMM10, XMM11, XMM12, XMM13, XMM14, XMM15};
    [XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7, XMM8, XMM9, XMM10, XMM11, XMM12, XMM13, XMM14, XMM15][i]
}
