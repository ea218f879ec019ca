//! From the fork of a slot's worker to its end.

use std::time::Duration;

use super::{Slot, folder_name};
use crate::autopsy::Traps;
use crate::connection::{ForkError, ForkRequest, Task};
use crate::error::ExecuteError;
use crate::process::ExitStatus;
use crate::worker::{Requested, Stop};

/// Attempts to get a worker.
const ATTEMPTS: u32 = 5;

/// A worker that has taken this part of the memory limit is replaced between two messages.
const GROWN_SHARE: u64 = 4;

impl Slot {
    /// Ends the worker if it still runs; what it printed can still be read.
    pub(super) fn stop_worker(&mut self) {
        if let (Some(worker), Some(connection)) = (&mut self.worker, &mut self.connection)
            && let Stop::ZygoteLost = worker.end(connection, Stop::Cancelled)
        {
            self.lose_zygote();
        }
    }

    /// The log and, after a crash, the native frames of the worker that is lost.
    pub(super) fn take_remains(&mut self, stop: Stop) -> (String, Vec<String>) {
        self.stop_worker();
        let Some(worker) = self.worker.take() else {
            return Default::default();
        };
        let native_frames = match stop {
            Stop::Died(ExitStatus::Signal(_)) => worker.native_frames(),
            _ => Vec::new(),
        };
        (worker.output.text(), native_frames)
    }

    /// Makes sure that there is a worker that takes messages.
    pub(super) fn ensure_worker(&mut self) -> Result<(), ExecuteError> {
        if let (Some(worker), Some(connection)) = (&mut self.worker, &mut self.connection)
            && !worker.is_ready(connection)
        {
            self.shared
                .count(|statistics| statistics.workers_lost_idle += 1);
            self.end_worker();
        }
        let mut attempts = 0;
        while self.worker.is_none() {
            match self.fork() {
                Ok(()) => self
                    .shared
                    .count(|statistics| statistics.workers_started += 1),
                Err(error) if attempts == ATTEMPTS => {
                    return Err(match error {
                        ForkError::Other(error) => error,
                        ForkError::ZygoteLost => ExecuteError::ForkRefused {
                            reason: "the zygote ends again and again".into(),
                        },
                    });
                }
                Err(ForkError::ZygoteLost) => self.lose_zygote(),
                // Out of processes or memory for a moment.
                Err(ForkError::Other(ExecuteError::ForkRefused { .. })) => {
                    std::thread::sleep(Duration::from_millis(100 << attempts));
                }
                Err(ForkError::Other(error)) => return Err(error),
            }
            attempts += 1;
        }
        if self.lost_before && self.spare.is_none() {
            // Without a spare the next loss costs a little more, that is all.
            self.spare = self.request().ok();
        }
        Ok(())
    }

    /// Takes the spare worker, or waits for a new one.
    pub(super) fn fork(&mut self) -> Result<(), ForkError> {
        self.clean_folder()?;
        let requested = match self.spare.take() {
            Some(spare) => spare,
            None => self.request()?,
        };
        let Some(connection) = &mut self.connection else {
            return Err(ForkError::ZygoteLost);
        };
        let mut worker = requested.claim(connection)?;
        if worker.is_ready(connection) {
            let traps = match &connection.coverage {
                Some(_) => Traps::Expected,
                None => Traps::Crashes,
            };
            worker.trace(traps);
            self.coverage.begin_worker(connection.coverage.clone());
            self.served.begin_worker();
            self.worker = Some(worker);
            return Ok(());
        }
        if connection.is_lost() {
            return Err(ForkError::ZygoteLost);
        }
        let reason = format!("it ended at once: {}", worker.output.text());
        Err(ExecuteError::ForkRefused { reason }.into())
    }

    pub(super) fn request(&mut self) -> Result<Requested, ForkError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.shared.connect(self.number, self.stale)?,
        };
        let confine = self.shared.options.sandbox.confine_writes;
        Requested::new(
            self.connection.insert(connection),
            ForkRequest::new(Task::Run, &self.folder, confine, self.number),
            self.arena.file(),
            self.journal.file(),
        )
    }

    /// What inputs wrote is gone when the next worker starts; it enters the new folder by name.
    pub(super) fn clean_folder(&self) -> Result<(), ExecuteError> {
        let failed = || ExecuteError::system("make the scratch folder");
        let work = self.shared.folder.below("work").map_err(failed())?;
        let name = folder_name(self.number);
        // What belongs to somebody else stays; it does no harm.
        let _ = work.remove(&name);
        work.below(&name).map_err(failed())?;
        Ok(())
    }

    pub(super) fn lose_zygote(&mut self) {
        self.spare = None;
        if let Some(connection) = self.connection.take() {
            self.stale = Some(connection.generation);
        }
    }

    /// Replaces a worker that has grown: inputs leave memory behind, and one of them must not be
    /// blamed for what a thousand before it left.
    pub(super) fn recycle(&mut self) {
        let (Some(worker), Some(connection)) = (&self.worker, &self.connection) else {
            return;
        };
        let grown = worker.resident().saturating_sub(connection.baseline);
        if grown > self.shared.options.memory_limit / GROWN_SHARE {
            self.shared
                .count(|statistics| statistics.workers_recycled += 1);
            self.end_worker();
        }
    }

    /// Ends the worker, if there is one.
    pub(super) fn end_worker(&mut self) {
        if let (Some(mut worker), Some(connection)) = (self.worker.take(), &mut self.connection)
            && let Stop::ZygoteLost = worker.end(connection, Stop::Cancelled)
        {
            self.lose_zygote();
        }
    }

    /// Ends the worker and its spare.
    pub(super) fn retire(&mut self) {
        self.end_worker();
        if let (Some(spare), Some(connection)) = (self.spare.take(), &mut self.connection) {
            self.worker = spare.claim(connection).ok();
            self.end_worker();
        }
    }
}
