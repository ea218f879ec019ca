//! What people and machines read: terminal output and JSON.

pub mod diff;
pub mod export;
pub mod html;
#[cfg(feature = "index")]
pub mod index;
mod progress;
pub mod run;
#[cfg(feature = "serve")]
pub mod serve;
mod table;
pub mod words;

pub use progress::{Progress, Style};
pub use table::{Figures, acceptance_line, api_table, closing_line, oracle_table, table};

/// A duration as people say it: `850 ms`, `12.4 s`, `3 min 20 s`.
pub fn human_duration(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!(
            "{} min {} s",
            duration.as_secs() / 60,
            duration.as_secs() % 60
        )
    }
}
