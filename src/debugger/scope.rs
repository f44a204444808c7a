//! The names that expressions see: registers of the frame that is looked at, memory, symbols and
//! counts.

use super::evaluate::{Scope, Symbol};
use super::expr::{Counter, ExprError, Expression};
use super::registers::Register;
use super::state::Debugger;
use super::value::Value;
use crate::guest::GuestCpu;
use crate::profile::EventSet;
use crate::session::Whose;

impl Scope for Debugger {
    fn register(&mut self, register: Register) -> Option<u64> {
        if self.frame_number() > 0 {
            return self.selected()?.register(register);
        }
        let value = |cpu: &dyn GuestCpu| match register {
            Register::Gpr(gpr) => cpu.gpr(gpr),
            Register::Rip => cpu.rip(),
            Register::Rflags => cpu.rflags(),
            Register::FsBase => cpu.fs_base(),
            Register::GsBase => cpu.gs_base(),
        };
        self.session.with_registers(value).ok()
    }

    fn vector(&mut self, number: u8) -> Option<[u8; 16]> {
        // Where FXSAVE puts XMM0.
        let image = self.session.with_registers(|cpu| cpu.fpu()).ok()?;
        image.get(160 + 16 * usize::from(number)..)?.first_chunk().copied()
    }

    fn x87(&mut self, number: u8) -> Option<[u8; 10]> {
        // Where FXSAVE puts ST(0).
        let image = self.session.with_registers(|cpu| cpu.fpu()).ok()?;
        image.get(32 + 16 * usize::from(number)..)?.first_chunk().copied()
    }

    fn memory(&mut self, address: u64, buf: &mut [u8]) -> Result<(), usize> {
        self.session.read(address, buf)
    }

    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let data = self.program.data(name).map(|(address, size)| Symbol::data(address, size));
        data.or_else(|| self.program.code(name).map(|(address, _)| Symbol::code(address)))
    }

    fn counter(&mut self, counter: Counter) -> Option<u64> {
        match counter {
            Counter::Instructions => Some(self.session.instructions()),
            Counter::Event(event) => {
                self.events().contains(event).then(|| self.session.counts(Whose::Selected)[event])
            }
        }
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned()
    }

    fn symbols(&mut self) -> Vec<String> {
        self.program.names().symbols()
    }

    fn variables(&mut self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }

    fn is_given_up(&self) -> bool {
        self.is_interrupted()
    }
}

impl Debugger {
    /// The events that are counted.
    pub fn events(&self) -> EventSet {
        self.session.config().counting.events()
    }

    /// Computes an expression where the program is.
    ///
    /// # Errors
    /// Those of [`Expression::evaluate`].
    pub fn evaluate(&mut self, expression: &Expression) -> Result<Value, ExprError> {
        expression.evaluate(self)
    }
}
