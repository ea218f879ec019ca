//! In place of the screen, in a build that left it out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_campaign::RunEvent;

/// There is none.
pub(crate) enum Screen {}

impl Screen {
    pub(crate) fn open(
        _: String,
        _: &[String],
        _: Option<Duration>,
        _: &Arc<AtomicBool>,
        _: &Arc<AtomicBool>,
    ) -> io::Result<Screen> {
        Err(io::Error::other(
            "this build was made without the feature `screen`",
        ))
    }

    pub(crate) fn observe(&mut self, _: RunEvent<'_>) {
        match *self {}
    }

    pub(crate) fn close(self) -> Vec<String> {
        match self {}
    }
}

pub(crate) fn close_if_open() {}

pub(crate) fn is_open() -> bool {
    false
}
