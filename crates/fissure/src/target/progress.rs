//! Shows how the making of an environment goes on: one live line in a terminal, plain lines
//! elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use fissure_environment::Progress;
use fissure_environment::machine::human_bytes;
use indicatif::{ProgressBar, ProgressStyle};

use crate::console::{self, notice};

/// In a log a sign of life is enough once in a while.
const PLAIN_INTERVAL: Duration = Duration::from_secs(15);
/// Steps of the live line's wheel.
const WHEEL_INTERVAL: Duration = Duration::from_millis(120);

/// The display on stderr. Nothing is shown until something is made.
pub(crate) struct MakingDisplay {
    /// `None` outside a terminal.
    line: Option<ProgressBar>,
    step: String,
    begun: usize,
    downloaded: usize,
    last_sign: Instant,
}

impl MakingDisplay {
    pub(crate) fn new() -> Self {
        Self {
            line: (stderr().is_terminal() && !console::quiet()).then(ProgressBar::hidden),
            step: String::new(),
            begun: 0,
            downloaded: 0,
            last_sign: Instant::now(),
        }
    }

    pub(crate) fn show(&mut self, news: Progress) {
        match news {
            Progress::Making {
                name,
                requirement,
                folder,
                python_version,
                bytes,
                download,
                ..
            } => {
                let size = match (bytes, download) {
                    (Some(bytes), Some(download)) => format!(
                        ", about {} to download and {} on disk,",
                        human_bytes(download),
                        human_bytes(bytes)
                    ),
                    _ => String::new(),
                };
                self.say(&format!(
                    "making the environment {name}: {requirement} for Python {python_version}{size} in {}",
                    folder.display(),
                ));
            }
            Progress::Step(step) => {
                if self.line.is_none() {
                    self.say(&step);
                }
                self.step = step;
                (self.begun, self.downloaded) = (0, 0);
                self.redraw(None);
            }
            Progress::Downloading { package, size } => {
                self.begun += 1;
                let size = size.map_or_else(String::new, |size| format!(" ({size})"));
                if self.line.is_none() {
                    self.say(&format!("downloading {package}{size}"));
                }
                self.redraw(None);
            }
            Progress::Downloaded { .. } => {
                self.downloaded += 1;
                self.redraw(None);
            }
            // The list of installed packages is long and says nothing new; errors come with the
            // failure.
            Progress::Line(_) => {}
            Progress::Running { elapsed, written } => {
                self.redraw(written);
                if self.line.is_none() && self.last_sign.elapsed() >= PLAIN_INTERVAL {
                    let text = self.describe(written);
                    self.say(&format!("{text}, {} s", elapsed.as_secs()));
                }
            }
            Progress::Made {
                name,
                seconds,
                bytes,
            } => {
                self.say(&format!(
                    "made {name} in {seconds} s, {} on disk",
                    human_bytes(bytes)
                ));
            }
        }
    }

    /// Takes the live line away.
    pub(crate) fn finish(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }

    fn describe(&self, written: Option<u64>) -> String {
        let mut text = self.step.clone();
        match (self.begun, self.downloaded) {
            (0, _) => {}
            // pip says when a download begins, not when it ends.
            (begun, 0) => text += &format!(", download {begun}"),
            (begun, done) => text += &format!(", {done} of {begun} downloads done"),
        }
        if let Some(bytes) = written.filter(|bytes| *bytes > 1_000_000) {
            text += &format!(", {} written", human_bytes(bytes));
        }
        text
    }

    fn redraw(&mut self, written: Option<u64>) {
        let text = self.describe(written);
        let Some(line) = &mut self.line else { return };
        if line.is_hidden() {
            *line = ProgressBar::new_spinner().with_style(
                ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}")
                    .expect("the template is a constant that is read by every terminal run"),
            );
            line.enable_steady_tick(WHEEL_INTERVAL);
        }
        line.set_message(text);
    }

    fn say(&mut self, text: &str) {
        self.last_sign = Instant::now();
        let say = || notice!("fissure: {text}");
        match &self.line {
            Some(line) => line.suspend(say),
            None => say(),
        }
    }
}

impl Drop for MakingDisplay {
    fn drop(&mut self) {
        self.finish();
    }
}
