//! Client requests of Valgrind's: the part of them that is the CPU's.

use crate::emu::memory::space::Access;
use crate::emu::supervisor::Next;
use crate::emu::unicorn::door::{Door, Leave};
use crate::emu::unicorn::tlb::fault_of;
use crate::guest::{Fault, Gpr, GuestMemory as _};
use crate::x86::request::{LENGTH, Request};

impl Door {
    /// Serves the request at `pc`. Whether the engine goes on.
    pub fn request(&mut self, request: Request, pc: u64) -> bool {
        self.sync();
        let next = pc.wrapping_add(LENGTH as u64);
        self.parts.set_eip(next);
        let result = match request {
            Request::Client => {
                let Some((supervisor, mut cpu, space)) = self.split() else { return false };
                supervisor.request(&mut cpu, space).map_err(|addr| (addr, Access::Read))
            }
            Request::OriginalAddress => {
                // No function is replaced here, so none has another's address.
                self.parts.set_gpr(Gpr::Rax, 0);
                Ok(Next::Continue)
            }
            Request::Call => self.call(next),
            Request::Injection => Ok(Next::Continue),
        };
        self.reschedule();
        self.invalidate();
        match result {
            Ok(Next::Continue) => {}
            Ok(Next::Undo) => self.leave(Leave::Undo(pc)),
            Ok(Next::Stop | Next::Interrupt) => self.leave(Leave::Stop),
            Err((addr, access)) => {
                self.parts.set_eip(pc);
                let fault = self.fault_at(addr, access);
                self.leave(Leave::Fault(fault, None));
            }
        }
        self.reload();
        self.leave.is_none()
    }

    /// Calls what RAX points to.
    fn call(&mut self, back: u64) -> Result<Next, (u64, Access)> {
        let rsp = self.parts.gpr(Gpr::Rsp).wrapping_sub(8);
        self.space
            .write(rsp, &back.to_le_bytes())
            .map_err(|written| (rsp.wrapping_add(written as u64), Access::Write))?;
        self.parts.set_gpr(Gpr::Rsp, rsp);
        let target = self.parts.gpr(Gpr::Rax);
        self.parts.set_eip(target);
        Ok(Next::Continue)
    }

    /// The fault of an access to `addr`, which has failed.
    fn fault_at(&mut self, addr: u64, access: Access) -> Fault {
        match self.space.access(addr, access) {
            Ok(_) => Fault::Protection,
            Err(denied) => fault_of(addr, access, denied),
        }
    }
}
