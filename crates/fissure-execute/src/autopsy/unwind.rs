//! From the registers of a stopped thread to the functions it was in.

use std::io;
use std::sync::Arc;

use gimli::{CfaRule, Encoding, EvaluationResult, Location, RegisterRule, UnwindContext, Value};

use super::maps::{self, Mapping};
use super::memory::Memory;
use super::module::{self, Bytes, Entry, Module};
use super::names::module_name;
use super::recursion::without_depth;
use super::registers::{RETURN_ADDRESS, Registers, STACK_POINTER};

/// A stack that has overflowed has a hundred thousand.
const MOST_FRAMES: usize = 64;
/// Unwinding tables are programs; none needs more steps.
const MOST_STEPS: u32 = 1000;
/// A function whose frame does not fit any more is refused memory this close to its end.
const AT_THE_END: u64 = 64 << 10;

/// A function that a thread was in.
#[derive(Clone, Debug)]
pub enum Frame {
    /// An address that the file was linked with.
    Module { module: Arc<Module>, address: u64 },
    /// A file that could not be read, and the place in it.
    File { name: String, offset: u64 },
    /// Code that was made at run time.
    Generated,
    /// Not code at all: a call through a broken pointer.
    Nowhere,
}

type Rule = RegisterRule<usize>;

struct Walk {
    mappings: Vec<Mapping>,
    memory: Memory,
    registers: Registers,
    /// The instruction is the one that failed, rather than the one after a call.
    exact: bool,
}

/// What was found on the stack of a thread.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// Innermost first.
    frames: Vec<Frame>,
    /// It has become too deep.
    overflowed: bool,
}

/// The functions that a stopped thread of process `pid` is in. `refused` is the memory that it
/// wanted, if that is what stopped it.
pub fn walk(pid: i32, thread: i32, refused: Option<u64>) -> io::Result<Stack> {
    let mut walk = Walk {
        mappings: maps::executable(pid)?,
        memory: Memory::of_thread(thread)?,
        registers: Registers::of_thread(thread)?,
        exact: true,
    };
    let pointer = walk.registers.stack_pointer();
    let overflowed = refused
        .zip(pointer)
        .is_some_and(|(refused, pointer)| refused.abs_diff(pointer) < AT_THE_END);
    let mut frames = Vec::new();
    while frames.len() < MOST_FRAMES {
        let frame = walk.frame();
        if matches!(frame, Frame::Nowhere) && !frames.is_empty() {
            break;
        }
        frames.push(frame.clone());
        if walk.leave(&frame).is_none() {
            break;
        }
    }
    Ok(Stack { frames, overflowed })
}

/// Frames as text, `module!function`, or `module+0x…` with the place where a function without a
/// name begins.
pub fn describe(stack: &Stack) -> Vec<String> {
    let frames = &stack.frames;
    let texts = frames.iter().map(|frame| frame.describe(frames)).collect();
    if stack.overflowed {
        without_depth(texts)
    } else {
        texts
    }
}

impl Frame {
    fn describe(&self, all: &[Frame]) -> String {
        match self {
            Frame::Module { module, address } => {
                // One search for all frames of the module; the others find it done.
                let mut addresses = vec![*address];
                addresses.extend(all.iter().filter_map(|frame| match frame {
                    Frame::Module {
                        module: other,
                        address,
                    } if Arc::ptr_eq(module, other) => Some(*address),
                    _ => None,
                }));
                match module.names(&addresses).swap_remove(0) {
                    Some(name) => format!("{}!{name}", module.name),
                    None => {
                        let place = module.function(*address).unwrap_or(*address);
                        format!("{}+{place:#x}", module.name)
                    }
                }
            }
            Frame::File { name, offset } => format!("{name}+{offset:#x}"),
            Frame::Generated => "[generated code]".into(),
            Frame::Nowhere => "[no code]".into(),
        }
    }
}

impl Walk {
    /// An address inside of the instruction that is under way.
    fn address(&self) -> u64 {
        let back = u64::from(!self.exact);
        self.registers.instruction.wrapping_sub(back)
    }

    fn frame(&self) -> Frame {
        let address = self.address();
        let Some(mapping) = maps::find(&self.mappings, address) else {
            return Frame::Nowhere;
        };
        let Some(path) = &mapping.path else {
            return Frame::Generated;
        };
        let offset = address - mapping.addresses.start + mapping.offset;
        let found = module::load(path)
            .and_then(|module| module.address(offset).map(|address| (module, address)));
        match found {
            Some((module, address)) => Frame::Module { module, address },
            None => Frame::File {
                name: module_name(path),
                offset,
            },
        }
    }

    /// Goes on to the caller; `None` when there is none, or none that can be found.
    fn leave(&mut self, frame: &Frame) -> Option<()> {
        let before = (self.registers.instruction, self.registers.stack_pointer());
        let signal = match frame {
            Frame::Module { module, address } => match module.entry(*address) {
                Some(entry) => self.leave_by_table(&entry, *address)?,
                None => self.leave_without_table()?,
            },
            Frame::File { .. } | Frame::Generated | Frame::Nowhere => self.leave_without_table()?,
        };
        let after = (self.registers.instruction, self.registers.stack_pointer());
        self.exact = signal;
        // A handler runs on a stack of its own; otherwise a caller's frame lies above.
        (after != before && (signal || after.1 >= before.1)).then_some(())
    }

    /// True when the frame is that of a signal: then the next instruction is exact.
    fn leave_by_table(&mut self, entry: &Entry<'_>, address: u64) -> Option<bool> {
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
        // An undefined one is how the first function of a thread says that it has no caller.
        let instruction = caller.get(register).filter(|address| *address != 0)?;
        caller.return_to(instruction, caller.stack_pointer()?);
        self.registers = caller;
        Some(entry.description.is_signal_trampoline())
    }

    /// The value that `register` had in the caller.
    fn value(
        &mut self,
        entry: &Entry<'_>,
        encoding: Encoding,
        frame: u64,
        register: gimli::Register,
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
        expression: gimli::Expression<Bytes<'_>>,
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

    /// Where no table helps: a call through a broken pointer has just begun, so that its return
    /// address is where calls leave it; other code may keep the customary chain of frames.
    fn leave_without_table(&mut self) -> Option<bool> {
        let stack = self.registers.stack_pointer()?;
        let called = match RETURN_ADDRESS {
            _ if !self.exact => None,
            None => self.memory.word(stack).map(|to| (to, stack + 8)),
            Some(register) => self.registers.get(register).map(|to| (to, stack)),
        };
        if let Some((instruction, stack)) = called.filter(|(to, _)| self.is_code(*to)) {
            self.registers.return_to(instruction, stack);
            return Some(false);
        }
        let frame = self.registers.frame_pointer().filter(|at| *at >= stack)?;
        let outer = self.memory.word(frame)?;
        let instruction = self.memory.word(frame.checked_add(8)?)?;
        if !self.is_code(instruction) {
            return None;
        }
        self.registers
            .return_to(instruction, frame.checked_add(16)?);
        self.registers.set_frame_pointer(outer);
        Some(false)
    }

    fn is_code(&self, address: u64) -> bool {
        maps::find(&self.mappings, address).is_some()
    }
}
