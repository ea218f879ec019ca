//! Scripts in fresh processes: a finding's own, and the one that says where it ran.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use fissure_execute::{Ended, ScriptOptions, run_script};
use fissure_triage::{
    FACTS_PROGRAM, FACTS_VARIABLE, MemoryLimit, ScriptEnd, ScriptRun, read_facts,
};

/// How much more memory a call gets when it took all it might have.
const LARGER: u64 = 2;

/// Runs a script under its limits.
pub fn run_fresh(python: &Path, script: &Path, options: &ScriptOptions) -> io::Result<ScriptRun> {
    script_run(run_script(python, script, options.clone()).map_err(io::Error::other)?)
}

/// What triage has to know of a run.
pub(crate) fn script_run(run: fissure_execute::ScriptRun) -> io::Result<ScriptRun> {
    let end = match run.ended {
        Ended::Exit(code) => ScriptEnd::Exit(code),
        Ended::Signal(signal) => ScriptEnd::Signal(signal),
        Ended::Timeout => ScriptEnd::Timeout,
        Ended::OutOfMemory => ScriptEnd::OutOfMemory,
        Ended::Cancelled => return Err(io::Error::other("the run was stopped")),
    };
    Ok(ScriptRun { end, log: run.log })
}

/// The options with more memory, if the machine has it to give.
pub(crate) fn with_limit(options: &ScriptOptions, limit: MemoryLimit) -> io::Result<ScriptOptions> {
    let mut options = options.clone();
    if limit == MemoryLimit::Larger {
        options.memory_limit *= LARGER;
        let free = available_memory()?;
        if free < options.memory_limit {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("only {} MiB are free", free >> 20),
            ));
        }
    }
    Ok(options)
}

/// Bytes that could be taken without swapping, as the kernel sees it.
fn available_memory() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kilobytes| kilobytes << 10)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel does not say how much memory is free",
            )
        })
}

/// Where findings are confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// As [`fissure_model::Finding::environment`].
    pub environment: Vec<(String, String)>,
    /// From the start of the process to the end, the import of the library included.
    pub duration: Duration,
}

/// Asks an interpreter about itself, its library and the machine. What cannot be found out is
/// missing: a finding is worth having without.
pub fn facts(python: &Path, package: &str, options: &ScriptOptions) -> io::Result<Facts> {
    std::fs::create_dir_all(&options.scratch)?;
    let script = options
        .scratch
        .join(format!("facts-{}.py", std::process::id()));
    std::fs::write(&script, FACTS_PROGRAM)?;
    let mut options = options.clone();
    options
        .environment
        .push((FACTS_VARIABLE.to_owned(), package.to_owned()));
    let begin = Instant::now();
    let run = run_fresh(python, &script, &options)?;
    Ok(Facts {
        environment: read_facts(&run.log),
        duration: begin.elapsed(),
    })
}
