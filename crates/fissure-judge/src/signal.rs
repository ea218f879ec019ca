//! Names of signals, and which of them mean that the library itself failed.

use std::borrow::Cow;

use fissure_model::FAULT_SIGNALS;

const NAMES: [(i32, &str); 24] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGIO, "SIGIO"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
];

/// `SIGSEGV` for 11; `signal 42` for a number without a name.
pub fn signal_name(signal: i32) -> Cow<'static, str> {
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => Cow::Borrowed(name),
        None => Cow::Owned(format!("signal {signal}")),
    }
}

/// Dying of this signal is the library's own doing. SIGKILL is not: it comes from outside, most
/// often from the kernel when the machine runs out of memory.
pub fn is_fault(signal: i32) -> bool {
    FAULT_SIGNALS.contains(&signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_from_signals_that_others_send() {
        assert!(is_fault(libc::SIGFPE));
        assert!(!is_fault(libc::SIGKILL));
        assert!(!is_fault(libc::SIGTERM));
    }

    #[test]
    fn a_signal_without_a_name_is_shown_by_its_number() {
        assert_eq!(signal_name(libc::SIGBUS), "SIGBUS");
        assert_eq!(signal_name(42), "signal 42");
    }
}
