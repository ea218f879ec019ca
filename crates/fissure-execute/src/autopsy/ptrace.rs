//! `ptrace(2)` as far as it is needed, without anything that could be misused.

use std::io;
use std::ptr;

use crate::process::ExitStatus;

/// Registers come as machine words in the order of the kernel; no processor has more.
pub(super) const MOST_WORDS: usize = 64;
/// The general registers.
const NT_PRSTATUS: usize = 1;

/// What a traced thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A signal is about to be delivered.
    Signal {
        thread: i32,
        signal: i32,
    },
    /// Stopped together with its whole process, by a signal that does that.
    GroupStop {
        thread: i32,
    },
    /// Stopped because something is to be told that we do not need.
    Other {
        thread: i32,
    },
    Ended {
        thread: i32,
        status: ExitStatus,
    },
}

/// What caused a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cause {
    /// A thread sent it with `raise` or `abort`.
    pub raised: bool,
    /// The memory that an instruction was refused.
    pub memory: Option<u64>,
}

/// Follows a thread without stopping it, and all threads that it starts.
pub(super) fn seize(thread: i32) -> io::Result<()> {
    // The process dies with us, as it would anyway: its zygote ends it.
    let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACECLONE;
    request(libc::PTRACE_SEIZE, thread, 0, options as usize)
}

/// Lets a stopped thread go on, with this signal (0: none).
pub(super) fn proceed(thread: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, thread, 0, signal as usize)
}

/// Leaves a thread stopped that its process wants stopped.
pub(super) fn leave_stopped(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0)
}

/// The general registers of a stopped thread, and how many words there are.
pub(super) fn registers(thread: i32) -> io::Result<([u64; MOST_WORDS], usize)> {
    let mut words = [0_u64; MOST_WORDS];
    let mut area = libc::iovec {
        iov_base: words.as_mut_ptr().cast(),
        iov_len: size_of_val(&words),
    };
    request(
        libc::PTRACE_GETREGSET,
        thread,
        NT_PRSTATUS,
        (&raw mut area).expose_provenance(),
    )?;
    Ok((words, area.iov_len / size_of::<u64>()))
}

/// Where the signal comes from that a thread is stopped for.
pub(super) fn cause(thread: i32) -> io::Result<Cause> {
    // SAFETY: all-zero bytes are a valid `siginfo_t`: it is made of integers and pointers.
    let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
    request(
        libc::PTRACE_GETSIGINFO,
        thread,
        0,
        (&raw mut information).expose_provenance(),
    )?;
    let refused = matches!(information.si_signo, libc::SIGSEGV | libc::SIGBUS);
    Ok(Cause {
        raised: information.si_code == libc::SI_TKILL,
        // The kernel's own reasons have positive codes.
        memory: (refused && information.si_code > 0).then(|| {
            // SAFETY: with these signals and codes this is the member that the kernel has filled.
            unsafe { information.si_addr() }.expose_provenance() as u64
        }),
    })
}

/// Waits for the next change of a thread that the calling thread follows; `None` when it follows
/// none any more.
pub(super) fn wait() -> Option<Change> {
    loop {
        let mut status = 0;
        // Children and tracees of other threads of ours are theirs to wait for.
        let flags = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: the only pointer is to a local integer.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, flags) };
        if thread > 0 {
            return Some(change(thread, status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn change(thread: i32, status: i32) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended {
            thread,
            status: ExitStatus::from_wait_status(status),
        };
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 => Change::Signal { thread, signal },
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Change::GroupStop { thread },
        _ => Change::Other { thread },
    }
}

fn request(request: impl Into<i64>, thread: i32, address: usize, data: usize) -> io::Result<()> {
    // The type of requests differs between C libraries, their values are small everywhere.
    let request = request.into() as _;
    // SAFETY: the requests of this file write, if at all, into the local that `data` points to
    // (for registers: into the area described there), which outlives the call.
    let answer = unsafe {
        libc::ptrace(
            request,
            thread,
            ptr::with_exposed_provenance_mut::<libc::c_void>(address),
            ptr::with_exposed_provenance_mut::<libc::c_void>(data),
        )
    };
    if answer == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_and_ends_are_told_apart() {
        let stopped = |signal: i32, event: i32| (event << 16) | (signal << 8) | 0x7f;
        let thread = 7;
        assert_eq!(
            change(thread, stopped(11, 0)),
            Change::Signal { thread, signal: 11 }
        );
        assert_eq!(
            change(thread, stopped(libc::SIGSTOP, libc::PTRACE_EVENT_STOP)),
            Change::GroupStop { thread }
        );
        for event in [libc::PTRACE_EVENT_STOP, libc::PTRACE_EVENT_CLONE] {
            assert_eq!(
                change(thread, stopped(libc::SIGTRAP, event)),
                Change::Other { thread }
            );
        }
        let status = ExitStatus::Signal(11);
        assert_eq!(change(thread, 11), Change::Ended { thread, status });
    }

    #[test]
    fn a_process_that_is_not_there_cannot_be_followed() {
        assert!(seize(i32::MAX).is_err());
        assert!(registers(i32::MAX).is_err());
    }
}
