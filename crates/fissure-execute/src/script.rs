//! One prepared script in a fresh interpreter, under the same limits as a worker.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;

use crate::environment::{make_folders, marker_variable, new_marker, set_environment};
use crate::error::ExecuteError;
use crate::interpreter;
use crate::options::{SandboxOptions, SandboxReport};
use crate::output::Output;
use crate::process;
use crate::sandbox;
use crate::socket::wait_readable;

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
    let marker = new_marker();
    let mut command = Command::new(&executable);
    command
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
    set_environment(&mut command, &scratch, &marker, &[], &options.environment);
    let pending = sandbox::prepare(&mut command, options.sandbox, &scratch, &[])?;
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|source| ExecuteError::InterpreterMissing {
            path: executable,
            source,
        })?;
    drop(command);
    let sandbox = pending.report();
    let ended = watch(&mut child, &mut output, &options);
    let duration = begin.elapsed();
    process::kill_group(child.id().cast_signed());
    let ended = match ended {
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
    process::kill_marked(&marker_variable(&marker));
    output.drain();
    Ok(ScriptRun {
        ended,
        log: output.text(),
        duration,
        sandbox,
    })
}

fn watch(
    child: &mut Child,
    output: &mut Output,
    options: &ScriptOptions,
) -> std::io::Result<Ended> {
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
        if let Some(status) = child.try_wait()? {
            return Ok(match (status.code(), status.signal()) {
                (Some(code), _) => Ended::Exit(code),
                (None, Some(signal)) => Ended::Signal(signal),
                (None, None) => Ended::Exit(-1),
            });
        }
        if options.cancelled.load(Ordering::Relaxed) {
            return Ok(Ended::Cancelled);
        }
        if Instant::now() > deadline {
            return Ok(Ended::Timeout);
        }
        let resident = process::resident_with_children(child.id().cast_signed());
        if resident.is_some_and(|resident| resident > options.memory_limit) {
            return Ok(Ended::OutOfMemory);
        }
    }
}
