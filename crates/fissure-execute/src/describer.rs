//! The worker that answers questions about objects of the library.

use std::time::{Duration, Instant};

use fissure_model::Signature;

use crate::arena::{Access, Arena};
use crate::connection::{Connection, ForkError, ForkRequest, Task};
use crate::error::ExecuteError;
use crate::pool::Shared;
use crate::worker::{Requested, Stop, Worker};

/// Looking an object up may import half a library.
const TIMEOUT: Duration = Duration::from_secs(60);
const ATTEMPTS: usize = 2;

/// Forked when first needed, replaced when a question ended it.
pub(crate) struct Describer {
    connection: Option<Connection>,
    worker: Option<Worker>,
    /// The one whose forks run examples.
    apart: Option<Worker>,
    /// Every worker gets shared memory; this one never looks at it.
    unused: Arena,
    /// The zygote with this number was found dead.
    stale: Option<u64>,
}

impl Describer {
    pub(crate) fn new() -> Result<Describer, ExecuteError> {
        Ok(Describer {
            connection: None,
            worker: None,
            apart: None,
            unused: Arena::new("fissure-unused", 4096, Access::Read)?,
            stale: None,
        })
    }

    pub(crate) fn describe(
        &mut self,
        shared: &Shared,
        path: &str,
    ) -> Result<Signature, ExecuteError> {
        let answer = self.ask(shared, path)?;
        serde_json::from_slice(&answer).map_err(|error| ExecuteError::Describe {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    /// The worker's answer to a question, as it is (`describe.py` has the questions).
    pub(crate) fn ask(&mut self, shared: &Shared, question: &str) -> Result<Vec<u8>, ExecuteError> {
        self.ask_within(shared, question, TIMEOUT)
    }

    /// The same, if it comes in time.
    pub(crate) fn ask_within(
        &mut self,
        shared: &Shared,
        question: &str,
        limit: Duration,
    ) -> Result<Vec<u8>, ExecuteError> {
        let failed = |reason: String| ExecuteError::Describe {
            path: question.to_owned(),
            reason,
        };
        let mut reason = String::new();
        let begun = Instant::now();
        for _ in 0..ATTEMPTS {
            if begun.elapsed() >= limit {
                break;
            }
            let (worker, connection) = match self.ready(shared) {
                Ok(ready) => ready,
                Err(ForkError::Other(error)) => return Err(error),
                Err(ForkError::ZygoteLost) => {
                    self.stale = self
                        .connection
                        .take()
                        .map(|connection| connection.generation);
                    reason = "the zygote is gone".into();
                    continue;
                }
            };
            match worker.ask(connection, question, limit, shared.silenced()) {
                Ok(answer) => return Ok(answer),
                Err(why) => {
                    // Often the end of the worker after an earlier answer: ask a fresh one.
                    self.retire();
                    reason = why;
                }
            }
        }
        Err(failed(reason))
    }

    /// The same, of a second worker, which answers in forks of itself and runs nothing of the library (`apart.py`).
    pub(crate) fn ask_apart(
        &mut self,
        shared: &Shared,
        question: &str,
        limit: Duration,
    ) -> Result<Vec<u8>, ExecuteError> {
        std::mem::swap(&mut self.worker, &mut self.apart);
        let answer = self.ask_within(shared, question, limit);
        std::mem::swap(&mut self.worker, &mut self.apart);
        answer
    }

    fn ready(&mut self, shared: &Shared) -> Result<(&mut Worker, &mut Connection), ForkError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => shared.connect(shared.describer(), self.stale)?,
        };
        let connection = self.connection.insert(connection);
        if self
            .worker
            .as_mut()
            .is_some_and(|worker| !worker.is_ready(connection))
        {
            self.worker = None;
        }
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let folder = shared.scratch.join("work");
                let confine = shared.options.sandbox.confine_writes;
                let request =
                    ForkRequest::new(Task::Describe, &folder, confine, shared.describer());
                let unused = self.unused.file();
                Requested::new(connection, request, unused, unused)?.claim(connection)?
            }
        };
        Ok((self.worker.insert(worker), connection))
    }

    /// Both workers end.
    pub(crate) fn end(&mut self) {
        self.retire();
        self.worker = self.apart.take();
        self.retire();
    }

    fn retire(&mut self) {
        if let (Some(mut worker), Some(connection)) = (self.worker.take(), &mut self.connection)
            && let Stop::ZygoteLost = worker.end(connection, Stop::Cancelled)
        {
            self.stale = self
                .connection
                .take()
                .map(|connection| connection.generation);
        }
    }
}
