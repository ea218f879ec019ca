//! A child of ours that is followed by a tracer.

use std::io;
use std::time::Duration;

use super::tracer::{Autopsy, Tracer, Traps};
use crate::process::ExitStatus;
use crate::warden::Warded;

/// For a child that was killed.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// A child with the one who waits for it: while a tracer follows it, a wait by any other thread of
/// ours would take the tracer's news away.
#[derive(Debug)]
pub(crate) struct TracedChild {
    child: Warded,
    tracer: Option<Tracer>,
}

impl TracedChild {
    pub(crate) fn new(child: Warded) -> TracedChild {
        let tracer = Tracer::attach(child.pid(), Traps::Crashes);
        TracedChild { child, tracer }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// How it ended, if it has. Told once.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<Autopsy>> {
        match &self.tracer {
            Some(tracer) => tracer.poll().map_err(io::Error::other),
            None => Ok(self.child.ended().map(unseen)),
        }
    }

    /// Waits for the end of a child that was killed.
    pub(crate) fn wait(&mut self) -> io::Result<Autopsy> {
        match &self.tracer {
            Some(tracer) => tracer.wait().ok_or_else(|| io::ErrorKind::TimedOut.into()),
            None => self
                .child
                .wait(END_TIMEOUT)
                .map(unseen)
                .ok_or_else(|| io::ErrorKind::TimedOut.into()),
        }
    }

    /// Ends whatever the child has left behind.
    pub(crate) fn end(&mut self) {
        self.child.end();
    }
}

fn unseen(status: ExitStatus) -> Autopsy {
    Autopsy {
        status,
        frames: Vec::new(),
    }
}
