//! Instructions of the x87.

use iced_x86::{CpuidFeature, Instruction, Mnemonic as M, OpKind};

use super::ir::{Op, Statement, Value};
use super::lift::Lifter;
use super::state;

/// What stands for a number that is not computed: VEX never looks into one.
const NUMBER: Value = Value::Known(1);

/// Whether an instruction is one of the x87.
pub(super) fn is_fpu(i: &Instruction) -> bool {
    let fpu = [CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::FPU387];
    i.cpuid_features().iter().any(|feature| fpu.contains(feature)) || i.mnemonic() == M::Fisttp
}

/// Instructions that take one element from the stack in the end.
fn pops(mnemonic: M) -> u8 {
    match mnemonic {
        M::Fcompp | M::Fucompp => 2,
        M::Fstp | M::Fistp | M::Fisttp | M::Faddp | M::Fmulp | M::Fsubp | M::Fsubrp | M::Fdivp => 1,
        M::Fdivrp | M::Fcomp | M::Fucomp | M::Ficomp | M::Fcomip | M::Fucomip => 1,
        M::Fyl2x | M::Fyl2xp1 | M::Fpatan => 1,
        _ => 0,
    }
}

impl Lifter {
    fn get_stack(&mut self, tag: bool, bias: u8) -> Value {
        let top = self.get(state::FPU_TOP);
        let Value::Temp(to) = self.unknown() else { return NUMBER };
        self.code.pop();
        self.code.push(Statement::GetStack { to, tag, top, bias });
        Value::Temp(to)
    }

    /// An element of the stack, if it is in use.
    fn element(&mut self, bias: u8) -> Value {
        let tag = self.get_stack(true, bias);
        let used = self.op(Op::Differ(8), &[tag, Value::Known(0)]);
        let value = self.get_stack(false, bias);
        self.op(Op::Choose, &[used, value, NUMBER])
    }

    fn set_element(&mut self, bias: u8, value: Value) {
        let top = self.get(state::FPU_TOP);
        self.put_stack(false, top, bias, value);
        let top = self.get(state::FPU_TOP);
        self.put_stack(true, top, bias, Value::Known(1));
    }

    /// Pushes; onto an element in use, something that is no number.
    fn push(&mut self, value: Value) {
        self.move_top(Op::Sub(32));
        let tag = self.get_stack(true, 0);
        let used = self.op(Op::Differ(8), &[tag, Value::Known(0)]);
        let value = self.op(Op::Choose, &[used, NUMBER, value]);
        self.set_element(0, value);
    }

    fn pop(&mut self) {
        let top = self.get(state::FPU_TOP);
        self.put_stack(true, top, 0, Value::Known(0));
        self.move_top(Op::Add(32));
    }

    fn move_top(&mut self, op: Op) {
        let top = self.get(state::FPU_TOP);
        let top = self.op(op, &[top, Value::Known(1)]);
        self.put(state::FPU_TOP, top);
    }

    /// An instruction of the x87.
    pub(super) fn fpu(&mut self, i: &Instruction) {
        let memory = i.op0_kind() == OpKind::Memory || i.op1_kind() == OpKind::Memory;
        if memory {
            self.fpu_memory(i);
        } else {
            self.fpu_registers(i);
        }
        for _ in 0..pops(i.mnemonic()) {
            self.pop();
        }
    }

    fn fpu_memory(&mut self, i: &Instruction) {
        // Of ten bytes, by a function.
        let long = i.memory_size().size() == 10;
        match i.mnemonic() {
            M::Fnstenv => self.barrier(false),
            M::Fldenv | M::Fnsave | M::Frstor | M::Fbld | M::Fbstp => self.barrier(true),
            M::Fld if long => {
                self.helper();
                let value = self.unknown();
                self.push(value);
            }
            M::Fstp if long => {
                let value = self.element(0);
                self.used(value);
                self.helper();
            }
            M::Fldcw => {
                let address = self.address(i);
                let value = self.load(0, address);
                self.put(state::FPU_ROUND, value);
                self.used(value);
                self.barrier(false);
            }
            M::Fnstcw | M::Fnstsw => {
                let from = if i.mnemonic() == M::Fnstcw { state::FPU_ROUND } else { state::FPU_CODES };
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
                self.put(state::FPU_CODES, codes);
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

    fn fpu_registers(&mut self, i: &Instruction) {
        let number = |operand: u32| match i.op_register(operand) {
            register if register.is_st() => Some(register.number() as u8),
            _ => None,
        };
        let (first, second) = (number(0).unwrap_or(0), number(1));
        match i.mnemonic() {
            M::Fninit | M::Fnclex => self.barrier(true),
            M::Fnstsw => {
                let (top, codes) = (self.get(state::FPU_TOP), self.get(state::FPU_CODES));
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
                let top = self.get(state::FPU_TOP);
                self.put_stack(true, top, first, Value::Known(0));
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
                self.put(state::FPU_CODES, codes);
            }
            M::Fcmovb | M::Fcmovbe | M::Fcmove | M::Fcmovu => self.moves_if(i, second.unwrap_or(0)),
            M::Fcmovnb | M::Fcmovnbe | M::Fcmovne | M::Fcmovnu => self.moves_if(i, second.unwrap_or(0)),
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
                    self.put(state::FPU_CODES, value);
                }
            }
            M::Fptan | M::Fsincos | M::Fxtract => {
                let value = self.element(0);
                let value = self.opaque(i, &[value]);
                self.set_element(0, value);
                self.push(value);
            }
            _ => {
                // Arithmetic: of the top alone, or of two elements.
                let mut values = vec![self.element(first)];
                if let Some(second) = second {
                    values.push(self.element(second));
                }
                let value = self.opaque(i, &values);
                self.set_element(first, value);
            }
        }
    }

    fn moves_if(&mut self, i: &Instruction, from: u8) {
        let code = match i.mnemonic() {
            M::Fcmovb => 2,
            M::Fcmovnb => 3,
            M::Fcmove => 4,
            M::Fcmovne => 5,
            M::Fcmovbe => 6,
            M::Fcmovnbe => 7,
            M::Fcmovu => 10,
            _ => 11,
        };
        let holds = self.condition(code);
        let values = [self.element(from), self.element(0)];
        let value = self.op(Op::Choose, &[holds, values[0], values[1]]);
        self.set_element(0, value);
    }
}
