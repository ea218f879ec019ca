//! A child of ours that is followed by a tracer.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

use super::tracer::{Autopsy, Tracer, Traps};
use crate::process::ExitStatus;

/// A child with the one who waits for it: while a tracer follows it, a wait by any other thread of
/// ours would take the tracer's news away.
#[derive(Debug)]
pub struct TracedChild {
    child: Child,
    tracer: Option<Tracer>,
}

impl TracedChild {
    pub fn new(child: Child) -> TracedChild {
        let tracer = Tracer::attach(child.id().cast_signed(), Traps::Crashes);
        TracedChild { child, tracer }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// How it ended, if it has. Told once.
    pub fn try_wait(&mut self) -> io::Result<Option<Autopsy>> {
        match &self.tracer {
            Some(tracer) => tracer.poll().map_err(io::Error::other),
            None => Ok(self.child.try_wait()?.map(unseen)),
        }
    }

    /// Waits for the end of a child that was killed.
    pub fn wait(&mut self) -> io::Result<Autopsy> {
        match &self.tracer {
            Some(tracer) => tracer.wait().ok_or_else(|| io::ErrorKind::TimedOut.into()),
            None => self.child.wait().map(unseen),
        }
    }
}

fn unseen(status: std::process::ExitStatus) -> Autopsy {
    Autopsy {
        status: ExitStatus::from_wait_status(status.into_raw()),
        frames: Vec::new(),
    }
}
