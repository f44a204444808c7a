//! Instructions of the x87.

use iced_x86::{CpuidFeature, Instruction, Mnemonic as M, OpKind};

use super::ctx::LiftCtx;
use crate::vex::guest_state as state;
use crate::vex::ir::{Op, Value, ZERO, cond};

/// Stand-in for constants and NaNs, which VEX never folds.
const NUMBER: Value = Value::Const(1);

/// Recognises the instructions of the x87.
pub(super) fn is_x87(i: &Instruction) -> bool {
    let fpu = [CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::FPU387];
    i.cpuid_features().iter().any(|feature| fpu.contains(feature)) || i.mnemonic() == M::Fisttp
}

/// Counts the elements that an instruction pops at its end.
fn pops(mnemonic: M) -> u8 {
    match mnemonic {
        M::Fcompp | M::Fucompp => 2,
        M::Fstp | M::Fistp | M::Fisttp | M::Faddp | M::Fmulp | M::Fsubp | M::Fsubrp | M::Fdivp => 1,
        M::Fdivrp | M::Fcomp | M::Fucomp | M::Ficomp | M::Fcomip | M::Fucomip => 1,
        M::Fyl2x | M::Fyl2xp1 | M::Fpatan => 1,
        _ => 0,
    }
}

impl LiftCtx {
    fn get_element(&mut self, tag: bool, bias: u8) -> Value {
        let top = self.get(state::FTOP);
        self.geti(tag, top, bias)
    }

    /// Reads an element of the stack; an empty one is a NaN.
    fn element(&mut self, bias: u8) -> Value {
        let tag = self.get_element(true, bias);
        let used = self.op(Op::CmpNe(8), &[tag, ZERO]);
        let value = self.get_element(false, bias);
        self.op(Op::Ite, &[used, value, NUMBER])
    }

    fn set_element(&mut self, bias: u8, value: Value) {
        let top = self.get(state::FTOP);
        self.puti(false, top, bias, value);
        let top = self.get(state::FTOP);
        self.puti(true, top, bias, Value::Const(1));
    }

    /// Pushes a value; a NaN if the stack overflows.
    fn push(&mut self, value: Value) {
        self.move_top(Op::Sub(32));
        let tag = self.get_element(true, 0);
        let used = self.op(Op::CmpNe(8), &[tag, ZERO]);
        let value = self.op(Op::Ite, &[used, NUMBER, value]);
        self.set_element(0, value);
    }

    fn pop(&mut self) {
        let top = self.get(state::FTOP);
        self.puti(true, top, 0, ZERO);
        self.move_top(Op::Add(32));
    }

    fn move_top(&mut self, op: Op) {
        let top = self.get(state::FTOP);
        let top = self.op(op, &[top, Value::Const(1)]);
        self.put(state::FTOP, top);
    }

    /// Lifts an instruction of the x87.
    pub(super) fn x87(&mut self, i: &Instruction) {
        let memory = i.op0_kind() == OpKind::Memory || i.op1_kind() == OpKind::Memory;
        if memory {
            self.x87_memory(i);
        } else {
            self.x87_registers(i);
        }
        for _ in 0..pops(i.mnemonic()) {
            self.pop();
        }
    }

    fn x87_memory(&mut self, i: &Instruction) {
        // Dirty helpers convert 80-bit operands.
        let long = i.memory_size().size() == 10;
        match i.mnemonic() {
            M::Fnstenv => self.barrier(false),
            M::Fldenv | M::Fnsave | M::Frstor | M::Fbld | M::Fbstp => self.barrier(true),
            M::Fld if long => {
                self.dirty_helper();
                let value = self.fresh();
                self.push(value);
            }
            M::Fstp if long => {
                let value = self.element(0);
                self.keep(value);
                self.dirty_helper();
            }
            M::Fldcw => {
                let address = self.address(i);
                let value = self.load(0, address);
                self.put(state::FP_ROUND, value);
                self.keep(value);
                self.barrier(false);
            }
            M::Fnstcw | M::Fnstsw => {
                let from = if i.mnemonic() == M::Fnstcw { state::FP_ROUND } else { state::FC3210 };
                let address = self.address(i);
                let value = self.get(from);
                self.store(0, address, value);
            }
            M::Fst | M::Fstp | M::Fist | M::Fistp | M::Fisttp => {
                let address = self.address(i);
                let value = self.element(0);
                self.store(0, address, value);
            }
            M::Fld | M::Fild => {
                let address = self.address(i);
                let value = self.load(0, address);
                let value = self.opaque(i, &[value]);
                self.push(value);
            }
            M::Fcom | M::Fcomp | M::Ficom | M::Ficomp => {
                let address = self.address(i);
                let top = self.element(0);
                let value = self.load(0, address);
                let codes = self.opaque(i, &[top, value]);
                self.put(state::FC3210, codes);
            }
            _ => {
                let address = self.address(i);
                let top = self.element(0);
                let value = self.load(0, address);
                let value = self.opaque(i, &[top, value]);
                self.set_element(0, value);
            }
        }
    }

    fn x87_registers(&mut self, i: &Instruction) {
        let number = |operand: u32| match i.op_register(operand) {
            register if register.is_st() => Some(register.number() as u8),
            _ => None,
        };
        let (first, second) = (number(0).unwrap_or(0), number(1));
        match i.mnemonic() {
            M::Fninit | M::Fnclex => self.barrier(true),
            M::Fnstsw => {
                let (top, codes) = (self.get(state::FTOP), self.get(state::FC3210));
                let value = self.opaque(i, &[top, codes]);
                self.set_register(i.op0_register(), value);
            }
            M::Fld => {
                let value = self.element(second.unwrap_or(first));
                self.push(value);
            }
            M::Fld1 | M::Fldz | M::Fldpi | M::Fldl2e | M::Fldl2t | M::Fldlg2 | M::Fldln2 => self.push(NUMBER),
            M::Fst | M::Fstp => {
                let value = self.element(0);
                self.set_element(first, value);
            }
            M::Ffree => {
                let top = self.get(state::FTOP);
                self.puti(true, top, first, ZERO);
            }
            M::Fincstp => self.move_top(Op::Add(32)),
            M::Fdecstp => self.move_top(Op::Sub(32)),
            M::Fxch => {
                let other = second.unwrap_or(first);
                let (one, two) = (self.element(0), self.element(other));
                self.set_element(0, two);
                self.set_element(other, one);
            }
            M::Fcomi | M::Fcomip | M::Fucomi | M::Fucomip => {
                let values = [self.element(0), self.element(second.unwrap_or(first))];
                let flags = self.opaque(i, &values);
                self.set_all_flags(flags);
            }
            M::Fcom | M::Fcomp | M::Fcompp | M::Fucom | M::Fucomp | M::Fucompp | M::Ftst | M::Fxam => {
                let other = match i.mnemonic() {
                    M::Ftst | M::Fxam => 0,
                    M::Fcompp | M::Fucompp => 1,
                    _ => second.unwrap_or(first),
                };
                let values = [self.element(0), self.element(other)];
                let codes = self.opaque(i, &values);
                self.put(state::FC3210, codes);
            }
            M::Fcmovb | M::Fcmovbe | M::Fcmove | M::Fcmovu => self.fcmov(i, second.unwrap_or(0)),
            M::Fcmovnb | M::Fcmovnbe | M::Fcmovne | M::Fcmovnu => self.fcmov(i, second.unwrap_or(0)),
            M::Fyl2x | M::Fyl2xp1 | M::Fpatan => {
                let values = [self.element(1), self.element(0)];
                let value = self.opaque(i, &values);
                self.set_element(1, value);
            }
            M::Fprem | M::Fprem1 | M::Fscale => {
                let values = [self.element(0), self.element(1)];
                let value = self.opaque(i, &values);
                self.set_element(0, value);
                if i.mnemonic() != M::Fscale {
                    self.put(state::FC3210, value);
                }
            }
            M::Fptan | M::Fsincos | M::Fxtract => {
                let value = self.element(0);
                let value = self.opaque(i, &[value]);
                self.set_element(0, value);
                self.push(value);
            }
            _ => {
                // Arithmetic on the top alone or on two elements.
                let mut values = vec![self.element(first)];
                if let Some(second) = second {
                    values.push(self.element(second));
                }
                let value = self.opaque(i, &values);
                self.set_element(first, value);
            }
        }
    }

    fn fcmov(&mut self, i: &Instruction, from: u8) {
        let code = match i.mnemonic() {
            M::Fcmovb => cond::B,
            M::Fcmovnb => cond::NB,
            M::Fcmove => cond::Z,
            M::Fcmovne => cond::NZ,
            M::Fcmovbe => cond::BE,
            M::Fcmovnbe => cond::NBE,
            M::Fcmovu => cond::P,
            _ => cond::NP,
        };
        let holds = self.condition(code);
        let values = [self.element(from), self.element(0)];
        let value = self.op(Op::Ite, &[holds, values[0], values[1]]);
        self.set_element(0, value);
    }
}
