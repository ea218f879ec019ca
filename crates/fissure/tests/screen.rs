//! The status screen in a real pseudo-terminal.

mod support;

#[path = "support/terminal.rs"]
mod terminal;

use std::io::Write;

use support::{TestContext, planted};
use terminal::{ENTER_SCREEN, LEAVE_SCREEN, Terminal};

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
fn ctrl_c_in_the_screen_is_told_by_the_exit_code() {
    let context = TestContext::new();
    let mut terminal = campaign(&context);
    terminal.wait_for("planted.reject");
    terminal.keyboard.write_all(b"\x03").unwrap();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    terminal.wait_for("interrupted");
    assert!(terminal.is_ordinary());
}

#[test]
fn the_terminal_is_given_back_when_a_signal_ends_the_run() {
    let context = TestContext::new();
    let mut terminal = campaign(&context);
    terminal.wait_for("planted.reject");
    let process = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let status = terminal.child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    terminal.wait_for(LEAVE_SCREEN);
    assert!(terminal.is_ordinary());
}
