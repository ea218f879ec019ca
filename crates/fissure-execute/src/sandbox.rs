//! What the kernel keeps a target from, set up between fork and exec.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, AccessFs, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};
use rustix::io::FdFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};
use rustix::thread::UnshareFlags;

use crate::error::ExecuteError;
use crate::options::{SandboxOptions, SandboxReport};

/// Written to although they are outside: nothing is kept there, or (shared memory) libraries
/// cannot work without it.
const WRITABLE: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];
const LARGEST_FILE: u64 = 1 << 30;
/// Where the machine itself runs out of memory, the target goes first.
const OUT_OF_MEMORY_PREFERENCE: &str = "500";

const WRITES_CONFINED: u8 = 1;
const NETWORK_CUT: u8 = 2;

/// Tells what was achieved, after the process was started.
#[derive(Debug)]
pub struct Pending {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Pending {
    /// To be called once the command was spawned.
    pub fn report(self) -> SandboxReport {
        drop(self.writer);
        let mut byte = [0];
        // Nothing comes when the child died before exec; the spawn failed then anyway.
        let achieved = match rustix::io::read(&self.reader, &mut byte) {
            Ok(1) => byte[0],
            _ => 0,
        };
        SandboxReport {
            writes_confined: achieved & WRITES_CONFINED != 0,
            network_cut: achieved & NETWORK_CUT != 0,
        }
    }
}

/// Prepares `command`: own session, limits, sandbox; `inherited` descriptors stay open in it under
/// their numbers.
pub fn prepare(
    command: &mut Command,
    options: SandboxOptions,
    scratch: &Path,
    inherited: &[BorrowedFd<'_>],
) -> Result<Pending, ExecuteError> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(ExecuteError::system("create a pipe"))?;
    let mut ruleset = if options.confine_writes {
        ruleset(scratch).ok()
    } else {
        None
    };
    let status: RawFd = writer.as_fd().as_raw_fd();
    let inherited: Vec<RawFd> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
    let user = rustix::process::getuid().as_raw();
    let group = rustix::process::getgid().as_raw();
    let maps = (format!("{user} {user} 1"), format!("{group} {group} 1"));
    let enter = move || -> io::Result<()> {
        rustix::process::setsid()?;
        // A core file of a process with a deep-learning library in it takes seconds to write.
        lower_limit(Resource::Core, 0)?;
        lower_limit(Resource::Fsize, LARGEST_FILE)?;
        // Not essential, and refused in some containers.
        let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_PREFERENCE);
        let mut achieved = 0;
        if options.cut_network && cut_network(&maps.0, &maps.1) {
            achieved |= NETWORK_CUT;
        }
        if let Some(ruleset) = ruleset.take()
            && let Ok(outcome) = ruleset.restrict_self()
            && outcome.ruleset != RulesetStatus::NotEnforced
        {
            achieved |= WRITES_CONFINED;
        }
        for descriptor in &inherited {
            // SAFETY: the descriptor is open: its owner in the parent outlives the spawn.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*descriptor) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        // SAFETY: as above, the owner is the `Pending` that the caller holds.
        let status = unsafe { BorrowedFd::borrow_raw(status) };
        rustix::io::write(status, &[achieved])?;
        Ok(())
    };
    // SAFETY: the closure runs in the forked child. It makes system calls and at most small
    // allocations, which glibc and musl keep usable after a fork; it takes no lock of ours.
    unsafe { command.pre_exec(enter) };
    Ok(Pending { reader, writer })
}

fn ruleset(scratch: &Path) -> Result<RulesetCreated, RulesetError> {
    // The third version is the last whose rights are about files only; the next restrict what
    // can be asked of devices, which accelerators need.
    let writing = AccessFs::from_write(ABI::V3);
    Ruleset::default()
        .handle_access(writing)?
        // A process number among random arguments must not hit anything outside.
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules([scratch], writing))?
        .add_rules(path_beneath_rules(WRITABLE, writing))
}

/// A network namespace of its own has no way out. Only root gets it directly, others in a user
/// namespace in which they keep their number.
fn cut_network(user_map: &str, group_map: &str) -> bool {
    // SAFETY: the child has one thread, and neither flag touches its file descriptors.
    if unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.is_ok() {
        return true;
    }
    let both = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
    // SAFETY: as above.
    if unsafe { rustix::thread::unshare_unsafe(both) }.is_err() {
        return false;
    }
    // Without a map the process would call itself nobody, which is ugly but works.
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    let _ = std::fs::write("/proc/self/uid_map", user_map);
    let _ = std::fs::write("/proc/self/gid_map", group_map);
    true
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
