//! The screen itself: it has the terminal, draws what is known and hears the keys.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_campaign::RunEvent;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use super::draw;
use super::keys::Wish;
use super::state::State;
use crate::exit_status::{self, ExitStatus};

/// The screen has the terminal.
static OPEN: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back, if a screen has it.
pub(crate) fn close_if_open() {
    if OPEN.swap(false, Ordering::Relaxed) {
        ratatui::restore();
    }
}

/// A screen has the terminal: nothing else may print.
pub(crate) fn is_open() -> bool {
    OPEN.load(Ordering::Relaxed)
}

pub(crate) struct Screen {
    terminal: DefaultTerminal,
    state: State,
    stop: Arc<AtomicBool>,
    pause: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open(
        title: String,
        apis: &[String],
        total_time: Option<Duration>,
        stop: &Arc<AtomicBool>,
        pause: &Arc<AtomicBool>,
    ) -> io::Result<Screen> {
        // Restores the terminal on a panic of any thread, too.
        let terminal = ratatui::try_init()?;
        let restore_and_tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            OPEN.store(false, Ordering::Relaxed);
            restore_and_tell(info);
        }));
        OPEN.store(true, Ordering::Relaxed);
        let mut state = State::new(title, apis.len(), total_time, Instant::now());
        state.queue(apis.iter().cloned());
        Ok(Screen {
            terminal,
            state,
            stop: Arc::clone(stop),
            pause: Arc::clone(pause),
        })
    }

    pub(crate) fn observe(&mut self, event: RunEvent<'_>) {
        let tick = matches!(event, RunEvent::Tick { .. });
        self.state.observe(event, Instant::now());
        // After a panic elsewhere the terminal is no longer ours.
        if tick && is_open() {
            self.state.stopping = self.stop.load(Ordering::Relaxed);
            self.state.paused = self.pause.load(Ordering::Relaxed);
            let state = &mut self.state;
            // A terminal that is gone ends the watching, not the run.
            let drawn = self
                .terminal
                .draw(|frame| draw::draw(frame, state, Instant::now()));
            if drawn.is_err() || self.read_keys().is_err() {
                close_if_open();
            }
        }
    }

    fn read_keys(&mut self) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            let Event::Key(key) = event::read()? else {
                continue;
            };
            match self.state.key(key) {
                Wish::Nothing => {}
                Wish::Pause => {
                    self.pause.fetch_xor(true, Ordering::Relaxed);
                }
                wish @ (Wish::Quit | Wish::Interrupt) => {
                    if wish == Wish::Interrupt {
                        exit_status::note_interruption();
                    }
                    if self.stop.swap(true, Ordering::Relaxed) {
                        close_if_open();
                        std::process::exit(ExitStatus::Interrupted as i32);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the terminal back, and returns what was shown and is worth keeping, one line each.
    pub(crate) fn close(self) -> Vec<String> {
        close_if_open();
        self.state.lines
    }
}

#[cfg(test)]
#[path = "../../tests/support/terminal.rs"]
mod terminal;

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Command;

    use super::terminal::{ENTER_SCREEN, LEAVE_SCREEN, Terminal};
    use super::*;

    /// Set in the process that panics.
    const INSIDE: &str = "FISSURE_TEST_INSIDE_TERMINAL";

    #[test]
    fn the_terminal_is_given_back_when_a_thread_panics_and_nothing_is_drawn_after() {
        if std::env::var_os(INSIDE).is_some() {
            let (stop, pause) = (Arc::default(), Arc::default());
            let mut screen =
                Screen::open("title".to_owned(), &["a".to_owned()], None, &stop, &pause).unwrap();
            let panics = std::thread::spawn(|| panic!("on purpose"));
            assert!(panics.join().is_err());
            screen.observe(RunEvent::Tick {
                workers: Vec::new(),
                shrinking: 0,
                confirming: 0,
            });
            writeln!(io::stdout(), "nothing drawn").unwrap();
            return;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["panics_and_nothing_is_drawn", "--nocapture"])
            .env(INSIDE, "yes");
        let mut terminal = Terminal::start(&mut command);
        terminal.wait_for("nothing drawn");
        let status = terminal.child.wait().unwrap();
        assert!(status.success());
        for text in [ENTER_SCREEN, LEAVE_SCREEN, "on purpose"] {
            terminal.wait_for(text);
        }
        assert!(terminal.is_ordinary(), "the terminal is as it was");
        assert!(!terminal.shows("elapsed"), "the screen was not drawn");
    }
}
