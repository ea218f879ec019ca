//! Where in native code a process crashed.
//!
//! A [`Tracer`] is a thread that follows one process with `ptrace`. It does nothing until the
//! kernel is about to deliver a signal that means a crash; then it looks at the registers and the
//! stack of the thread concerned, lets the signal through, and goes on waiting. The process runs at
//! full speed: neither its system calls nor its forks are stopped, only signals and new threads.
//!
//! Python's `faulthandler` names Python lines only, and two bugs of one API mostly share those.
//! Core files would need the machine's consent and seconds per crash; a handler inside the process
//! would run on the very stack and heap that the crash has left broken.
//!
//! `gimli`, `object` and `cpp_demangle` do the reading. `framehop` was refused: it follows only two
//! registers, and vector kernels that realign their stack need the others. `blazesym` was refused:
//! it names addresses, does not walk stacks, and brings the same three crates and more.
//!
//! Invariant: whoever may not trace (a container without the right, Fissure under `strace -f`)
//! gets empty lists and is otherwise not affected. [`check_tracing`] tells why.
//!
//! Invariant: only this module knows `ptrace`, unwinding tables and symbol tables.

mod calls;
mod child;
mod frames;
mod maps;
mod memory;
mod module;
mod ptrace;
mod recursion;
mod registers;
mod symbols;
mod table;
mod tracer;
mod unwind;

use std::io;
use std::process::{Command, Stdio};

pub(crate) use child::TracedChild;
pub(crate) use tracer::{Tracer, Traps};

/// Whether processes can be looked into when they crash; the error says why not.
pub fn check_tracing() -> io::Result<()> {
    if !registers::SUPPORTED {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the registers of this processor are not known",
        ));
    }
    // Waits for the end of its input, which comes at the latest when we end.
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let answer = ptrace::seize(child.id().cast_signed());
    child.kill()?;
    child.wait()?;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_leaves_nothing_behind_and_answers_the_same_twice() {
        let first = check_tracing().map_err(|error| error.kind());
        let second = check_tracing().map_err(|error| error.kind());
        assert_eq!(first, second);
    }
}
