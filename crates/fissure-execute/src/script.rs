//! One prepared script in a fresh interpreter, under the same limits as a worker.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use std::os::fd::AsFd;

use crate::autopsy::TracedChild;
use crate::environment::{make_folders, set_environment};
use crate::error::ExecuteError;
use crate::interpreter;
use crate::options::{SandboxOptions, SandboxReport};
use crate::output::Output;
use crate::process::{self, ExitStatus};
use crate::sandbox::Confinement;
use crate::socket::wait_readable;
use crate::warden::WardedCommand;

const TICK: Duration = Duration::from_millis(10);

#[derive(Clone, Debug)]
pub struct ScriptOptions {
    pub timeout: Duration,
    /// Resident bytes, of the whole process with its library.
    pub memory_limit: u64,
    pub scratch: PathBuf,
    pub sandbox: SandboxOptions,
    /// Added to the environment, `PYTHONPATH` for instance.
    pub environment: Vec<(String, String)>,
    /// Set by the caller who no longer wants to know.
    pub cancelled: Arc<AtomicBool>,
}

/// How a script came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    Signal(i32),
    Timeout,
    OutOfMemory,
    /// Ended because [`ScriptOptions::cancelled`] was set.
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRun {
    pub ended: Ended,
    /// The end of standard output and error together.
    pub log: String,
    /// Native frames of the thread that crashed, innermost first; empty when the script did not
    /// crash or could not be looked into.
    pub native_frames: Vec<String>,
    pub duration: Duration,
    pub sandbox: SandboxReport,
}

/// Runs `script` and leaves no process behind.
pub fn run_script(
    python: &Path,
    script: &Path,
    options: ScriptOptions,
) -> Result<ScriptRun, ExecuteError> {
    let executable = interpreter::find(python)?;
    let script = std::path::absolute(script).map_err(ExecuteError::system("find the script"))?;
    let scratch =
        make_folders(&options.scratch).map_err(ExecuteError::system("make the scratch folder"))?;
    let (mut output, writer) = Output::new()?;
    let mut warded = WardedCommand::new(&executable, options.sandbox.confine_writes)?;
    warded
        .command
        .args(["-X", "faulthandler", "-u"])
        .arg(script)
        .current_dir(scratch.join("work"))
        .stdin(Stdio::null())
        .stdout(
            writer
                .try_clone()
                .map_err(ExecuteError::system("copy a file descriptor"))?,
        )
        .stderr(writer);
    set_environment(&mut warded.command, &scratch, &[], &options.environment);
    let begin = Instant::now();
    let child = warded.spawn(&Confinement::of_target(options.sandbox, scratch), &[])?;
    let sandbox = child.report;
    let mut child = TracedChild::new(child);
    let ended = watch(&mut child, &mut output, &options);
    let duration = begin.elapsed();
    process::kill_group(child.pid());
    let (ended, native_frames) = match ended {
        Ok(ended) => ended,
        Err(source) => {
            let _ = child.wait();
            return Err(ExecuteError::System {
                action: "wait for the script",
                source,
            });
        }
    };
    if matches!(
        ended,
        Ended::Timeout | Ended::OutOfMemory | Ended::Cancelled
    ) {
        let _ = child.wait();
    }
    child.end();
    output.drain();
    Ok(ScriptRun {
        ended,
        log: output.text(),
        native_frames,
        duration,
        sandbox,
    })
}

fn watch(
    child: &mut TracedChild,
    output: &mut Output,
    options: &ScriptOptions,
) -> std::io::Result<(Ended, Vec<String>)> {
    let deadline = Instant::now() + options.timeout;
    let mut writers_open = true;
    loop {
        if writers_open {
            let [readable] = wait_readable(&[output.as_fd()], TICK)?;
            if readable {
                writers_open = output.drain();
            }
        } else {
            thread::sleep(TICK);
        }
        if let Some(autopsy) = child.try_wait()? {
            let ended = match autopsy.status {
                ExitStatus::Code(code) => Ended::Exit(code),
                ExitStatus::Signal(signal) => Ended::Signal(signal),
            };
            return Ok((ended, autopsy.frames));
        }
        if options.cancelled.load(Ordering::Relaxed) {
            return Ok((Ended::Cancelled, Vec::new()));
        }
        if Instant::now() > deadline {
            return Ok((Ended::Timeout, Vec::new()));
        }
        let resident = process::resident_with_children(child.pid());
        if resident.is_some_and(|resident| resident > options.memory_limit) {
            return Ok((Ended::OutOfMemory, Vec::new()));
        }
    }
}
