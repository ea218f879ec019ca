//! The registers of a thread under their DWARF numbers.

use std::io;

use gimli::Register;

use super::ptrace;

/// General registers, stack pointer and return address of any supported processor.
const COUNT: usize = 33;

/// Whether this processor's registers are known here.
pub(super) const SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Position, in the words of the kernel, of the register with each DWARF number.
#[cfg(target_arch = "x86_64")]
const ORDER: [usize; 16] = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0];
#[cfg(target_arch = "x86_64")]
const INSTRUCTION: usize = 16;
#[cfg(target_arch = "x86_64")]
pub(super) const STACK_POINTER: Register = Register(7);
#[cfg(target_arch = "x86_64")]
const FRAME_POINTER: Register = Register(6);

#[cfg(not(target_arch = "x86_64"))]
const ORDER: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];
#[cfg(not(target_arch = "x86_64"))]
const INSTRUCTION: usize = 32;
#[cfg(not(target_arch = "x86_64"))]
pub const STACK_POINTER: Register = Register(31);
#[cfg(not(target_arch = "x86_64"))]
const FRAME_POINTER: Register = Register(29);

/// Where a call leaves its return address: in a register, or on top of the stack.
#[cfg(target_arch = "x86_64")]
pub(super) const RETURN_ADDRESS: Option<Register> = None;
#[cfg(not(target_arch = "x86_64"))]
pub const RETURN_ADDRESS: Option<Register> = Some(Register(30));

/// A return address may carry a signature in the bits that no address uses.
#[cfg(target_arch = "x86_64")]
const ADDRESS_BITS: u64 = u64::MAX;
#[cfg(not(target_arch = "x86_64"))]
const ADDRESS_BITS: u64 = (1 << 48) - 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registers {
    values: [Option<u64>; COUNT],
    /// Of the instruction that failed, or after the call that is under way.
    pub instruction: u64,
}

impl Registers {
    /// Those of a stopped thread.
    pub(super) fn of_thread(thread: i32) -> io::Result<Registers> {
        let (words, known) = ptrace::registers(thread)?;
        if !SUPPORTED || known <= INSTRUCTION {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut registers = Registers {
            values: [None; COUNT],
            instruction: words[INSTRUCTION],
        };
        for (value, position) in registers.values.iter_mut().zip(ORDER) {
            *value = Some(words[position]);
        }
        Ok(registers)
    }

    pub(super) fn get(&self, register: Register) -> Option<u64> {
        self.values.get(usize::from(register.0)).copied().flatten()
    }

    /// A register that is not one of the general ones is not followed.
    pub(super) fn set(&mut self, register: Register, value: Option<u64>) {
        if let Some(slot) = self.values.get_mut(usize::from(register.0)) {
            *slot = value;
        }
    }

    pub(super) fn stack_pointer(&self) -> Option<u64> {
        self.get(STACK_POINTER)
    }

    pub(super) fn frame_pointer(&self) -> Option<u64> {
        self.get(FRAME_POINTER)
    }

    pub(super) fn set_frame_pointer(&mut self, value: Option<u64>) {
        self.set(FRAME_POINTER, value);
    }

    /// The caller, whose frame begins at `stack` and which goes on at `instruction`.
    pub(super) fn return_to(&mut self, instruction: u64, stack: u64) {
        self.instruction = instruction & ADDRESS_BITS;
        self.set(STACK_POINTER, Some(stack));
    }
}
