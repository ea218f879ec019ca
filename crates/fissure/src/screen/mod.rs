//! The status screen of a long run.
//!
//! It lives on the thread of the run: every event changes what is known, every tick draws it and
//! looks at the keyboard. The terminal is given back when the screen is dropped, when anything
//! panics, and before the program ends on a second Ctrl-C. A build without the feature `screen` shows lines.

#[cfg(feature = "screen")]
mod draw;
#[cfg(feature = "screen")]
mod keys;
#[cfg(feature = "screen")]
mod live;
#[cfg(feature = "screen")]
mod state;
#[cfg(not(feature = "screen"))]
mod without;

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use fissure_campaign::RunOptions;

#[cfg(feature = "screen")]
pub(crate) use live::{Screen, close_if_open, is_open};
#[cfg(not(feature = "screen"))]
pub(crate) use without::{Screen, close_if_open, is_open};

/// Runs shorter than this are over before a screen is understood.
const LONG: Duration = Duration::from_secs(120);

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ScreenArgs {
    /// Show the status screen (usual for long runs in a terminal)
    #[arg(long, conflicts_with_all = ["plain", "quiet"])]
    pub screen: bool,

    /// Lines instead of the status screen
    #[arg(long)]
    pub plain: bool,
}

impl ScreenArgs {
    /// Whether a run gets the screen: when asked for, or when it is long and somebody can watch it.
    pub(crate) fn wanted(self, long: bool, quiet: bool) -> bool {
        let watched = io::stdin().is_terminal() && io::stdout().is_terminal();
        self.screen || (cfg!(feature = "screen") && long && watched && !self.plain && !quiet)
    }
}

/// Whether a run is one that people watch for a while.
pub(crate) fn is_long(options: &RunOptions) -> bool {
    match options.total_time {
        Some(total) => total >= LONG,
        None => options.max_inputs.is_none() && options.max_time.is_none_or(|time| time >= LONG),
    }
}
