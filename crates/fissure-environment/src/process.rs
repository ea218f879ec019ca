//! Starts a program, hands over its lines as they come, and never waits for ever.

use std::{
    fs,
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

/// How often a silent program is reported as still running.
const TICK: Duration = Duration::from_millis(500);
/// How long output is still read after the program ended; a grandchild may hold the pipe open.
const DRAIN: Duration = Duration::from_secs(2);
/// Lines kept for an error message.
const KEPT_LINES: usize = 400;

/// What happens while a program runs.
pub(crate) enum Event<'a> {
    Line(&'a str),
    /// Nothing was said for a while. Bytes written so far by the program, where the system tells.
    Tick {
        written: Option<u64>,
    },
}

/// A program that ended.
pub(crate) struct Finished {
    /// `None` when it ran out of time and was killed.
    pub status: Option<ExitStatus>,
    /// The last lines of both streams, in the order of arrival.
    pub lines: Vec<String>,
}

impl Finished {
    pub(crate) fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// The last lines for an error message, indented.
    pub(crate) fn tail(&self, count: usize) -> String {
        let said: Vec<&String> = self.lines.iter().filter(|l| !l.trim().is_empty()).collect();
        let mut shown: Vec<String> = said[said.len().saturating_sub(count)..]
            .iter()
            .map(|line| format!("  {line}"))
            .collect();
        match self.status {
            None => shown.push("  (killed: it took too long)".to_owned()),
            Some(status) if shown.is_empty() => shown.push(format!("  ({status}, no output)")),
            Some(_) => {}
        }
        shown.join("\n")
    }
}

/// Runs a program without standard input to its end, or kills it after `limit`.
///
/// The program stays in Fissure's process group, so that Ctrl-C in a terminal reaches it too, and
/// it is killed when Fissure dies in any other way: an orphaned installer would go on writing into
/// a folder that the next Fissure is building again.
pub(crate) fn run(
    mut command: Command,
    limit: Duration,
    on_event: &mut dyn FnMut(Event<'_>),
) -> io::Result<Finished> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut command);
    let mut child = command.spawn()?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        read_lines(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        read_lines(stderr, sender);
    }

    let started = Instant::now();
    let mut lines: Vec<String> = Vec::new();
    let mut ended: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(line) => {
                on_event(Event::Line(&line));
                if lines.len() == KEPT_LINES {
                    lines.remove(0);
                }
                lines.push(line);
            }
            Err(RecvTimeoutError::Timeout) => on_event(Event::Tick {
                written: bytes_written(&child),
            }),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if ended.is_none() && child.try_wait()?.is_some() {
            ended = Some(Instant::now());
        }
        if ended.is_some_and(|at| at.elapsed() > DRAIN) || started.elapsed() > limit {
            break;
        }
    }
    let status = wait(&mut child, limit.saturating_sub(started.elapsed()))?;
    Ok(Finished { status, lines })
}

/// Waits for a program whose output has ended; kills it when the time is over.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn read_lines(mut stream: impl Read + Send + 'static, lines: Sender<String>) {
    thread::spawn(move || {
        let mut pending = Vec::new();
        let mut buffer = [0; 8192];
        loop {
            let count = match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            for &byte in &buffer[..count] {
                // Progress bars redraw their line with a carriage return.
                if byte != b'\n' && byte != b'\r' {
                    pending.push(byte);
                } else if !pending.is_empty() && send(&mut pending, &lines).is_err() {
                    return;
                }
            }
        }
        if !pending.is_empty() {
            // The receiver may be gone after a time limit; then nobody misses the line.
            let _ = send(&mut pending, &lines);
        }
    });
}

fn send(pending: &mut Vec<u8>, lines: &Sender<String>) -> Result<(), mpsc::SendError<String>> {
    let line = String::from_utf8_lossy(pending).trim_end().to_owned();
    pending.clear();
    lines.send(line)
}

/// What the program itself has written to disk so far. Installers download into a cache first and
/// link from there at the end, so the size of the environment's folder would stand still.
fn bytes_written(child: &Child) -> Option<u64> {
    let counters = fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    counters
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "))
        .and_then(|value| value.parse().ok())
}

#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // SAFETY: the closure runs between fork and exec and makes one system call; it does not
    // allocate and takes no lock.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> (Finished, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut seen = Vec::new();
        let finished = run(command, limit, &mut |event| {
            if let Event::Line(line) = event {
                seen.push(line.to_owned());
            }
        })
        .unwrap();
        (finished, seen)
    }

    #[test]
    fn lines_of_both_streams_arrive_and_carriage_returns_end_a_line() {
        let (finished, mut seen) = shell(
            "printf 'one\\rtwo\\n'; echo three >&2",
            Duration::from_secs(60),
        );
        seen.sort();
        assert_eq!(seen, ["one", "three", "two"]);
        assert!(finished.success());
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_and_said_so() {
        let (finished, _) = shell("echo begun; exec sleep 1000", Duration::from_millis(300));
        assert!(finished.status.is_none() && !finished.success());
        assert_eq!(finished.tail(5), "  begun\n  (killed: it took too long)");
    }

    #[test]
    fn a_grandchild_that_keeps_the_output_open_does_not_hold_us() {
        let (finished, seen) = shell("sleep 1000 & echo $!", Duration::from_secs(60));
        assert!(finished.success());
        let orphan = rustix::process::Pid::from_raw(seen[0].parse().unwrap()).unwrap();
        rustix::process::kill_process(orphan, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn text_that_is_not_utf8_does_not_stop_the_reading() {
        let (finished, seen) = shell("printf 'a\\377b\\nend\\n'; exit 3", Duration::from_secs(60));
        assert_eq!(seen, ["a\u{fffd}b", "end"]);
        assert_eq!(finished.status.and_then(|status| status.code()), Some(3));
    }
}
