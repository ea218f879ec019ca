//! From the registers of a stopped thread to the functions it was in.

use std::io;

use super::calls;
use super::frames::{Frame, Stack};
use super::maps::{self, Mapping};
use super::memory::Memory;
use super::module;
use super::registers::{RETURN_ADDRESS, Registers};
use fissure_coverage::names::module_name;

/// A stack that has overflowed has a hundred thousand.
const MOST_FRAMES: usize = 64;
/// Bytes of stack that are searched for a return address.
const SEARCHED: u64 = 64 << 10;
/// A return address that was found by searching is believed when this many callers follow from it.
const BELIEVED: usize = 5;
/// A function whose frame does not fit any more is refused memory this close to its end.
const AT_THE_END: u64 = 64 << 10;

/// Where a step up the stack led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// To the caller. `exact`: to the very instruction that a signal interrupted.
    To { exact: bool },
    /// The function began its thread: it says that it has no caller.
    Outermost,
}

pub(super) struct Walk {
    mappings: Vec<Mapping>,
    pub memory: Memory,
    pub registers: Registers,
    /// The instruction is the one that failed, rather than the one after a call.
    exact: bool,
}

/// The functions that a stopped thread of process `pid` is in. `refused` is the memory that it
/// wanted, if that is what stopped it.
pub(super) fn walk(pid: i32, thread: i32, refused: Option<u64>) -> io::Result<Stack> {
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
        match self.step(frame) {
            Some(Left::To { exact }) => {
                self.exact = exact;
                Some(())
            }
            Some(Left::Outermost) => None,
            None => self.search(),
        }
    }

    /// Goes on by what is known for certain.
    fn step(&mut self, frame: &Frame) -> Option<Left> {
        let Frame::Module { module, address } = frame else {
            return None;
        };
        let entry = module.entry(*address)?;
        let before = self.registers.clone();
        let left = self.leave_by_table(&entry, *address);
        let after = (self.registers.instruction, self.registers.stack_pointer());
        let plausible = match left {
            Some(Left::To { exact: true }) => true,
            // A caller's frame lies above, and it has called.
            Some(Left::To { exact: false }) => {
                after != (before.instruction, before.stack_pointer())
                    && after.1 >= before.stack_pointer()
                    && self.is_returned_to(after.0)
            }
            Some(Left::Outermost) | None => return left,
        };
        if plausible {
            return left;
        }
        self.registers = before;
        None
    }

    /// Where no table helps (a call through a broken pointer, assembler, code made at run time):
    /// the nearest return address from which the way out can be seen. What earlier calls have left
    /// on the stack looks like one too, but leads nowhere. A chain of frame pointers is no
    /// alternative, as such code rarely keeps one.
    fn search(&mut self) -> Option<()> {
        let start = self.registers.clone();
        let stack = start.stack_pointer()?;
        if let Some(register) = RETURN_ADDRESS
            && self.exact
            && let Some(instruction) = start.get(register)
            && self.leads_out(&start, instruction, stack, start.frame_pointer())
        {
            return Some(());
        }
        for place in (stack..stack.checked_add(SEARCHED)?).step_by(8) {
            let instruction = self.memory.word(place)?;
            if !self.is_returned_to(instruction) {
                continue;
            }
            // Who uses the frame pointer for other things saves it first.
            let saved = self.memory.word(place - 8);
            for frame_pointer in [start.frame_pointer(), saved] {
                if self.leads_out(&start, instruction, place + 8, frame_pointer) {
                    return Some(());
                }
            }
        }
        None
    }

    /// Goes to a caller if the callers after it can be found.
    fn leads_out(
        &mut self,
        start: &Registers,
        instruction: u64,
        stack: u64,
        frame_pointer: Option<u64>,
    ) -> bool {
        let exact = self.exact;
        let mut caller = start.clone();
        caller.return_to(instruction, stack);
        caller.set_frame_pointer(frame_pointer);
        self.registers = caller.clone();
        self.exact = false;
        let mut found = 0;
        let believed = loop {
            match self.step(&self.frame()) {
                Some(Left::Outermost) => break true,
                Some(Left::To { exact }) => {
                    self.exact = exact;
                    found += 1;
                }
                None => break false,
            }
            if found == BELIEVED {
                break true;
            }
        };
        if believed {
            self.registers = caller;
            self.exact = false;
        } else {
            self.registers = start.clone();
            self.exact = exact;
        }
        believed
    }

    /// Code that stands right behind a call.
    fn is_returned_to(&mut self, address: u64) -> bool {
        let before = address.wrapping_sub(calls::BEFORE as u64);
        maps::find(&self.mappings, address).is_some()
            && self
                .memory
                .word(before)
                .is_some_and(|bytes| calls::returns_here(bytes.to_le_bytes()))
    }
}
