//! A pseudo-terminal.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

pub(crate) const ENTER_SCREEN: &str = "\u{1b}[?1049h";
pub(crate) const LEAVE_SCREEN: &str = "\u{1b}[?1049l";

/// A program in a terminal of its own.
pub(crate) struct Terminal {
    pub keyboard: File,
    program_side: OwnedFd,
    pub child: Child,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    pub(crate) fn start(command: &mut Command) -> Terminal {
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

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.shown.lock().unwrap().contains(text)
    }

    /// Waits for a text that the screen draws in one piece.
    pub(crate) fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.shows(text) {
            let shown = self.shown.lock().unwrap().clone();
            assert!(Instant::now() < deadline, "{text:?} never came:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lines are edited and echoed as in a shell.
    pub(crate) fn is_ordinary(&self) -> bool {
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
