//! Looking at processes and ending them, by number.

use std::fmt;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const MOST_LOOKS: usize = 100;
const QUIET_LOOKS: usize = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    Code(i32),
    Signal(i32),
}

impl ExitStatus {
    /// From the word that `waitpid` fills.
    pub fn from_wait_status(status: i32) -> ExitStatus {
        match status & 0x7f {
            0 => ExitStatus::Code((status >> 8) & 0xff),
            signal => ExitStatus::Signal(signal),
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = match self {
            ExitStatus::Code(code) => code << 8,
            ExitStatus::Signal(signal) => *signal,
        };
        std::process::ExitStatus::from_raw(raw).fmt(f)
    }
}

/// Kills a process and its whole group; one that is gone already is what was wanted.
pub(crate) fn kill_group(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // The only errors are "no such process" and "not yours any more".
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Sends a signal to a process that may be gone already.
pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Resident bytes of a process; `None` when there is no such process, 0 for one that has ended and
/// was not yet reaped.
pub(crate) fn resident(pid: i32) -> Option<u64> {
    let mut text = String::new();
    fs::File::open(format!("/proc/{pid}/statm"))
        .ok()?
        .read_to_string(&mut text)
        .ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Resident bytes of a process and of its children and their children.
pub(crate) fn resident_with_children(pid: i32) -> Option<u64> {
    let mut total = resident(pid)?;
    let mut open = children(pid);
    // A bound instead of a search without end: a fork bomb grows while we look.
    for _ in 0..64 {
        let Some(child) = open.pop() else { break };
        total += resident(child).map_or(0, |bytes| bytes);
        open.extend(children(child));
    }
    Some(total)
}

fn children(pid: i32) -> Vec<i32> {
    // Absent on kernels built without it: then only the process itself is watched.
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) else {
        return Vec::new();
    };
    text.split_ascii_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

/// Kills every process that has `marker` (`NAME=value`) in the environment it was started with:
/// also those that left their group and lost their parent.
pub(crate) fn kill_marked(marker: &str) {
    // A process that is about to become another program shows no environment for a moment, and one
    // that forks is faster than one look: so look until there was nothing to find for a while.
    let mut quiet = 0;
    for _ in 0..MOST_LOOKS {
        quiet = if kill_marked_once(marker) {
            0
        } else {
            quiet + 1
        };
        if quiet == QUIET_LOOKS {
            return;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// True if there was one.
fn kill_marked_once(marker: &str) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return false;
    };
    let mut found = false;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // Unreadable for other users' processes, empty for those that have ended.
        let Ok(environment) = fs::read(entry.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == marker.as_bytes())
        {
            signal(pid, Signal::KILL);
            found = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn wait_statuses_are_told_apart() {
        assert_eq!(ExitStatus::from_wait_status(0), ExitStatus::Code(0));
        assert_eq!(
            ExitStatus::from_wait_status(255 << 8),
            ExitStatus::Code(255)
        );
        assert_eq!(ExitStatus::from_wait_status(11), ExitStatus::Signal(11));
        assert_eq!(
            ExitStatus::from_wait_status(6 | 0x80),
            ExitStatus::Signal(6)
        );
    }

    #[test]
    fn a_marked_process_is_found_wherever_it_went() {
        let marker = format!("FISSURE_TEST_MARKER=process-{}", std::process::id());
        let (name, value) = marker.split_once('=').unwrap();
        let mut child = Command::new("setsid")
            .args(["sleep", "60"])
            .env(name, value)
            .spawn()
            .unwrap();
        kill_marked(&marker);
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn this_process_has_resident_memory_and_an_ended_one_has_none() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(resident_with_children(own).unwrap() >= resident(own).unwrap() / 2);
        let mut child = Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        child.wait().unwrap();
        assert_eq!(resident(pid), None);
    }
}
