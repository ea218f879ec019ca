//! Scripts in processes that are forked from a pool's zygote: as a fresh interpreter that has
//! imported the library already.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::arena::{Access, Arena};
use crate::connection::{Connection, ForkError, ForkRequest, Task};
use crate::error::ExecuteError;
use crate::pool::SpareSlot;
use crate::process::{self, ExitStatus};
use crate::script::{Ended, ScriptOptions, ScriptRun};
use crate::worker::{Requested, Stop, Worker};

const TICK: Duration = Duration::from_millis(10);

/// Runs one script after the other, each in a process of its own.
pub struct ForkedScripts {
    connection: Option<Connection>,
    /// The zygote with this number was found dead.
    stale: Option<u64>,
    slot: SpareSlot,
}

impl ForkedScripts {
    pub(crate) fn new(slot: SpareSlot) -> ForkedScripts {
        ForkedScripts {
            connection: None,
            stale: None,
            slot,
        }
    }

    /// Runs `script` under the limits of `options`; environment and protections are the zygote's.
    /// Its frames are not looked for.
    pub fn run(
        &mut self,
        script: &Path,
        options: &ScriptOptions,
    ) -> Result<ScriptRun, ExecuteError> {
        let text = std::fs::read(script).map_err(ExecuteError::system("read the script"))?;
        let mut source = Arena::new("fissure-script", text.len().max(1), Access::Read)?;
        source.bytes_mut()[..text.len()].copy_from_slice(&text);
        let begin = Instant::now();
        let mut worker = match self.fork(&source) {
            Ok(worker) => worker,
            Err(ForkError::ZygoteLost) => {
                self.lose_zygote();
                self.fork(&source).map_err(|error| match error {
                    ForkError::Other(error) => error,
                    ForkError::ZygoteLost => ExecuteError::ForkRefused {
                        reason: "the zygote ends again and again".into(),
                    },
                })?
            }
            Err(ForkError::Other(error)) => return Err(error),
        };
        let ended = self.watch(&mut worker, options)?;
        Ok(ScriptRun {
            ended,
            log: worker.output.text(),
            native_frames: Vec::new(),
            duration: begin.elapsed(),
            sandbox: Default::default(),
        })
    }

    fn fork(&mut self, source: &Arena) -> Result<Worker, ForkError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.slot.connect(self.stale)?,
        };
        let connection = self.connection.insert(connection);
        let folder = self.slot.scratch().join("work");
        let confine = self.slot.confines_signals();
        let request = ForkRequest::new(Task::Script, &folder, confine, self.slot.number());
        // Every worker gets a journal; this one has nothing to say in it.
        Requested::new(connection, request, source.file(), source.file())?.claim(connection)
    }

    /// Until it has ended, by itself or for a limit.
    fn watch(
        &mut self,
        worker: &mut Worker,
        options: &ScriptOptions,
    ) -> Result<Ended, ExecuteError> {
        let lost = || ExecuteError::ForkRefused {
            reason: "the zygote is gone".into(),
        };
        let Some(connection) = &mut self.connection else {
            return Err(lost());
        };
        let deadline = Instant::now() + options.timeout;
        let ended = loop {
            match worker.wait_for_end(connection, TICK) {
                Some(Stop::Died(ExitStatus::Code(code))) => return Ok(Ended::Exit(code)),
                Some(Stop::Died(ExitStatus::Signal(signal))) => return Ok(Ended::Signal(signal)),
                Some(_) => {
                    self.lose_zygote();
                    return Err(lost());
                }
                None => {}
            }
            if options.cancelled.load(Ordering::Relaxed) {
                break Ended::Cancelled;
            }
            if Instant::now() > deadline {
                break Ended::Timeout;
            }
            let resident = process::resident_with_children(worker.pid());
            if resident.is_some_and(|resident| resident > options.memory_limit) {
                break Ended::OutOfMemory;
            }
        };
        if let Stop::ZygoteLost = worker.end(connection, Stop::Cancelled) {
            self.lose_zygote();
        }
        Ok(ended)
    }

    fn lose_zygote(&mut self) {
        let connection = self.connection.take();
        self.stale = connection.map(|connection| connection.generation);
    }
}

impl Drop for ForkedScripts {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.slot.keep(connection);
        }
    }
}
