//! What the kernel keeps a process from that runs code of others, set up between fork and exec.
//!
//! Several layers, each as far as this machine offers it; [`SandboxReport`] says which are there.
//! Namespaces give it a file system that is read-only but for its scratch folder, shared memory of its
//! own, and no network (`namespaces.rs`). Landlock refuses writes elsewhere, the reading of secrets, and
//! signals to others (`rules.rs`). A filter refuses system calls that no library needs (`calls.rs`).
//! Capabilities are given up, and none can be had again (`capabilities.rs`).

mod calls;
mod capabilities;
mod namespaces;
mod rules;
mod secrets;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::io::FdFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};

use crate::error::ExecuteError;
use crate::options::{SandboxOptions, SandboxReport};

const LARGEST_FILE: u64 = 1 << 30;
/// Where the machine itself runs out of memory, the target goes first.
const OUT_OF_MEMORY_PREFERENCE: &str = "500";

/// Where a process may write, and what else it may do.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub options: SandboxOptions,
    /// Folders that it may write into, with all that is in them.
    pub writable: Vec<PathBuf>,
    /// Files become no larger than a gibibyte.
    pub limit_files: bool,
    /// Sockets with a path: programs of users talk to their own processes by them.
    pub local_sockets: bool,
}

impl Confinement {
    /// For a target that nobody asked to do anything in particular.
    pub fn of_target(options: SandboxOptions, scratch: PathBuf) -> Confinement {
        Confinement {
            options,
            writable: vec![scratch],
            limit_files: true,
            local_sockets: false,
        }
    }

    /// For a program of the user, which may write large files into its folders and use sockets.
    pub fn of_program(options: SandboxOptions, writable: Vec<PathBuf>) -> Confinement {
        Confinement {
            options,
            writable,
            limit_files: false,
            local_sockets: true,
        }
    }
}

/// Tells what was achieved, after the process was started.
#[derive(Debug)]
pub(crate) struct Pending {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Pending {
    /// To be called once the command was spawned.
    pub(crate) fn report(self) -> SandboxReport {
        drop(self.writer);
        let mut byte = [0];
        // Nothing comes when the child died before exec; the spawn failed then anyway.
        match rustix::io::read(&self.reader, &mut byte) {
            Ok(1) => SandboxReport::from_byte(byte[0]),
            _ => SandboxReport::default(),
        }
    }
}

/// Prepares `command`: own session, limits, sandbox; `inherited` descriptors stay open in it under
/// their numbers.
pub(crate) fn prepare(
    command: &mut Command,
    confinement: &Confinement,
    inherited: &[RawFd],
) -> Result<Pending, ExecuteError> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(ExecuteError::system("create a pipe"))?;
    let options = confinement.options;
    // Everything that needs memory or files is made ready here, before the fork.
    let mut namespaces = namespaces::Plan::new(confinement);
    let mut ruleset = rules::Rules::new(confinement);
    let filters = calls::Filters::new(confinement);
    let status: RawFd = writer.as_fd().as_raw_fd();
    let inherited = inherited.to_vec();
    let limit_files = confinement.limit_files;
    let enter = move || -> io::Result<()> {
        rustix::process::setsid()?;
        // A core file of a process with a deep-learning library in it takes seconds to write.
        lower_limit(Resource::Core, 0)?;
        if limit_files {
            lower_limit(Resource::Fsize, LARGEST_FILE)?;
        }
        // Not essential, and refused in some containers.
        let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_PREFERENCE);
        let mut report = SandboxReport::default();
        if !options.is_off() {
            namespaces.enter(&mut report);
            capabilities::give_up(&mut report);
            ruleset.enter(&mut report);
            filters.enter(&mut report);
        }
        for descriptor in &inherited {
            // SAFETY: the descriptor is open: its owner in the parent outlives the spawn.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*descriptor) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        // SAFETY: as above, the owner is the `Pending` that the caller holds.
        let status = unsafe { BorrowedFd::borrow_raw(status) };
        rustix::io::write(status, &[report.to_byte()])?;
        Ok(())
    };
    // SAFETY: the closure runs in the forked child. It makes system calls and at most small
    // allocations, which glibc and musl keep usable after a fork; it takes no lock of ours.
    unsafe { command.pre_exec(enter) };
    Ok(Pending { reader, writer })
}

fn lower_limit(resource: Resource, limit: u64) -> io::Result<()> {
    let present = rustix::process::getrlimit(resource);
    let lowered = |value: Option<u64>| Some(value.map_or(limit, |value| value.min(limit)));
    let limits = Rlimit {
        current: lowered(present.current),
        maximum: lowered(present.maximum),
    };
    Ok(rustix::process::setrlimit(resource, limits)?)
}
