//! One step up a stack by a function's unwinding table.

use gimli::{
    CfaRule, Encoding, EvaluationResult, Expression, Location, Register, RegisterRule,
    UnwindContext, Value,
};

use super::module::{Bytes, Entry};
use super::registers::STACK_POINTER;
use super::unwind::{Left, Walk};

/// Unwinding tables are programs; none needs more steps.
const MOST_STEPS: u32 = 1000;

type Rule = RegisterRule<usize>;

impl Walk {
    /// Goes on to the caller; `None` when what the table says cannot be done.
    pub(super) fn leave_by_table(&mut self, entry: &Entry<'_>, address: u64) -> Option<Left> {
        let mut context = UnwindContext::new();
        let row = entry
            .description
            .unwind_info_for_address(&entry.frames, entry.bases, &mut context, address)
            .ok()?;
        let encoding = entry.description.cie().encoding();
        let frame = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.registers.get(*register)?.checked_add_signed(*offset)?
            }
            CfaRule::Expression(expression) => {
                self.evaluate(expression.get(&entry.frames).ok()?, encoding, None)?
            }
        };
        let mut caller = self.registers.clone();
        caller.set(STACK_POINTER, Some(frame));
        for (register, rule) in row.registers() {
            let value = self.value(entry, encoding, frame, *register, rule);
            caller.set(*register, value);
        }
        let register = entry.description.cie().return_address_register();
        if let Some(RegisterRule::Undefined) = row.register(register) {
            return Some(Left::Outermost);
        }
        caller.return_to(caller.get(register)?, caller.stack_pointer()?);
        self.registers = caller;
        Some(Left::To {
            exact: entry.description.is_signal_trampoline(),
        })
    }

    /// The value that `register` had in the caller.
    fn value(
        &mut self,
        entry: &Entry<'_>,
        encoding: Encoding,
        frame: u64,
        register: Register,
        rule: &Rule,
    ) -> Option<u64> {
        match rule {
            RegisterRule::SameValue => self.registers.get(register),
            RegisterRule::Offset(offset) => self.memory.word(frame.checked_add_signed(*offset)?),
            RegisterRule::ValOffset(offset) => frame.checked_add_signed(*offset),
            RegisterRule::Register(other) => self.registers.get(*other),
            RegisterRule::Constant(value) => Some(*value),
            RegisterRule::Expression(expression) => {
                let expression = expression.get(&entry.frames).ok()?;
                let address = self.evaluate(expression, encoding, Some(frame))?;
                self.memory.word(address)
            }
            RegisterRule::ValExpression(expression) => {
                let expression = expression.get(&entry.frames).ok()?;
                self.evaluate(expression, encoding, Some(frame))
            }
            _ => None,
        }
    }

    fn evaluate(
        &mut self,
        expression: Expression<Bytes<'_>>,
        encoding: Encoding,
        initial: Option<u64>,
    ) -> Option<u64> {
        let mut evaluation = expression.evaluation(encoding);
        evaluation.set_max_iterations(MOST_STEPS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut state = evaluation.evaluate();
        loop {
            state = match state.ok()? {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.registers.get(register)?;
                    evaluation.resume_with_register(Value::Generic(value))
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let value = self.memory.number(address, size.into())?;
                    evaluation.resume_with_memory(Value::Generic(value))
                }
                _ => return None,
            };
        }
        match evaluation.result().pop()?.location {
            Location::Address { address } => Some(address),
            Location::Value { value } => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }
}
