//! The status screen in a real pseudo-terminal.

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use support::{TestContext, planted};

/// A program in a terminal of its own.
struct Terminal {
    keyboard: File,
    program_side: OwnedFd,
    child: Child,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(command: &mut Command) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let program_side = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let side = || program_side.try_clone().unwrap();
        let child = command
            .env("TERM", "xterm-256color")
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                seen.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            keyboard,
            program_side,
            child,
            shown,
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.shown.lock().unwrap().contains(text)
    }

    /// Waits for a text that the screen draws in one piece.
    fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.shows(text) {
            let shown = self.shown.lock().unwrap().clone();
            assert!(Instant::now() < deadline, "{text:?} never came:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lines are edited and echoed as in a shell.
    fn is_ordinary(&self) -> bool {
        let modes = tcgetattr(&self.program_side).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ENTER_SCREEN: &str = "\u{1b}[?1049h";
const LEAVE_SCREEN: &str = "\u{1b}[?1049l";

fn campaign(context: &TestContext) -> Terminal {
    let mut command = context.command();
    command
        .args(["campaign", "--output", "out", "--no-learn", "--no-shrink"])
        .args(["--api", "planted.fine", "--api", "planted.reject"])
        .args(["--total", "forever", "--workers", "1", "--specs"])
        .arg(planted().join("specs"))
        .arg("--pythonpath")
        .arg(planted());
    Terminal::start(&mut command)
}

#[test]
fn a_campaign_is_watched_paused_and_ended_by_keys() {
    let context = TestContext::new();
    let mut terminal = campaign(&context);
    terminal.wait_for(ENTER_SCREEN);
    terminal.wait_for("planted.reject");
    assert!(!terminal.is_ordinary());
    terminal.keyboard.write_all(b"p").unwrap();
    terminal.wait_for("paused");
    terminal.keyboard.write_all(b"pq").unwrap();
    let status = terminal.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    terminal.wait_for(LEAVE_SCREEN);
    terminal.wait_for("interrupted");
    assert!(terminal.is_ordinary(), "the terminal is as it was");
}

#[test]
fn the_terminal_is_given_back_when_a_signal_ends_the_run() {
    let context = TestContext::new();
    let mut terminal = campaign(&context);
    terminal.wait_for("planted.reject");
    let process = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let status = terminal.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    terminal.wait_for(LEAVE_SCREEN);
    assert!(terminal.is_ordinary());
}
