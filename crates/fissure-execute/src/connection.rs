//! What a slot and the zygote say to each other.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::coverage::Armed;
use crate::error::ExecuteError;
use crate::journal::SLOTS;
use crate::process::ExitStatus;
use crate::socket::Socket;
use crate::zygote::Zygote;

/// For the zygote's answer to a request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// What a worker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Task {
    Run,
    Describe,
    /// Run a finding's own script as a fresh interpreter would.
    Script,
}

/// A request for a new worker.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ForkRequest<'a> {
    pub task: Task,
    /// Where the worker runs.
    pub folder: &'a Path,
    pub confine_signals: bool,
    /// Which slot's list gets the blocks that it runs.
    pub slot: usize,
    slots: usize,
}

impl<'a> ForkRequest<'a> {
    pub(crate) fn new(task: Task, folder: &'a Path, confine_signals: bool, slot: usize) -> Self {
        ForkRequest {
            task,
            folder,
            confine_signals,
            slot,
            slots: SLOTS,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    Forked(i32),
    Refused(String),
    Ended { pid: i32, status: i32 },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ForkError {
    /// Gone, or it does not answer.
    #[error("the zygote is gone")]
    ZygoteLost,
    #[error(transparent)]
    Other(#[from] ExecuteError),
}

/// The socket of one slot to one zygote, with the reports that nobody has asked for yet.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    /// Which zygote: the first is 1.
    pub generation: u64,
    /// Resident bytes of the zygote: what a worker has before it does anything.
    pub baseline: u64,
    /// See [`TargetInfo::fresh_inputs`](crate::TargetInfo::fresh_inputs).
    pub fresh_inputs: u64,
    pub coverage: Option<Arc<Armed>>,
    lost: bool,
    /// Answers to requests, in their order.
    answers: Vec<Result<i32, String>>,
    ended: BTreeMap<i32, ExitStatus>,
}

impl Connection {
    pub(crate) fn new(socket: Socket, generation: u64, zygote: &Zygote) -> Connection {
        Connection {
            socket,
            generation,
            baseline: zygote.baseline,
            fresh_inputs: zygote.info.fresh_inputs,
            coverage: zygote.coverage.clone(),
            lost: false,
            answers: Vec::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Asks for a worker; [`Connection::forked`] gets the answer.
    pub(crate) fn request(
        &mut self,
        request: ForkRequest<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), ForkError> {
        let message = serde_json::to_vec(&request).map_err(|_| ExecuteError::ForkRefused {
            reason: "the name of the scratch folder is no text".into(),
        })?;
        self.socket
            .send(&message, descriptors)
            .map_err(|_| ForkError::ZygoteLost)
    }

    /// The process number of the worker that was asked for first and not yet claimed.
    pub(crate) fn forked(&mut self) -> Result<i32, ForkError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        while self.answers.is_empty() {
            if !self.wait(deadline) {
                return Err(ForkError::ZygoteLost);
            }
        }
        self.answers
            .remove(0)
            .map_err(|reason| ExecuteError::ForkRefused { reason }.into())
    }

    /// How a worker ended, if it has. Told once.
    pub(crate) fn take_end(&mut self, pid: i32) -> Option<ExitStatus> {
        self.hear();
        self.ended.remove(&pid)
    }

    /// Waits for the end of a worker.
    pub(crate) fn wait_end(&mut self, pid: i32, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.take_end(pid) {
                return Some(status);
            }
            if !self.wait(deadline) {
                return None;
            }
        }
    }

    /// The other side is closed: the zygote is dead.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Takes all waiting reports.
    pub(crate) fn hear(&mut self) {
        while !self.lost {
            match self.socket.receive() {
                Ok(Some(message)) => self.note(&message),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(None) | Err(_) => self.lost = true,
            }
        }
    }

    /// Waits for one report; false when none comes.
    fn wait(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.socket.receive_within(left) {
            Ok(Some(message)) => {
                self.note(&message);
                true
            }
            Ok(None) => {
                self.lost = true;
                false
            }
            Err(_) => false,
        }
    }

    fn note(&mut self, message: &[u8]) {
        match serde_json::from_slice(message) {
            Ok(Report::Forked(pid)) => self.answers.push(Ok(pid)),
            Ok(Report::Refused(reason)) => self.answers.push(Err(reason)),
            Ok(Report::Ended { pid, status }) => {
                self.ended.insert(pid, ExitStatus::from_wait_status(status));
            }
            // Not something our zygote says: it is not ours any more.
            Err(_) => self.lost = true,
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
