//! Starting a process of which nothing remains: neither what it starts nor what detaches itself.
//!
//! Between us and the process stands `warden.py`, which adopts every orphan below it and kills what
//! is left when the process ends, when it is told to, and when we are gone, however we ended. A
//! namespace for process numbers would do the same by the kernel alone, but the numbers inside are
//! others than outside (the zygote tells us numbers, tracers need them), and many machines refuse it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::environment::{MARKER, marker_variable, new_marker};
use crate::error::ExecuteError;
use crate::options::SandboxReport;
use crate::process::{self, ExitStatus};
use crate::sandbox::{self, Confinement};
use crate::socket::Socket;
use crate::sources::warden;

/// Time for the warden to say that it started the process.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for the warden to end everything below it.
const END_TIMEOUT: Duration = Duration::from_secs(12);
/// Its end of the socket lies out of the way of numbers that callers choose.
const FIRST_NUMBER: i32 = 100;

type Listener = Box<dyn Fn(Option<SandboxReport>) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Who shows the user which protections are in force hears of every process that is started: `None` where none were
/// asked for. The first listener stays.
pub fn on_protections(listener: impl Fn(Option<SandboxReport>) + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

/// A command whose process will stand under a warden.
#[derive(Debug)]
pub struct WardedCommand {
    /// For the arguments, the environment and the descriptors of the program.
    pub command: Command,
    control: Socket,
    theirs: OwnedFd,
    marker: String,
}

impl WardedCommand {
    /// `python` is the program, and runs the warden too. With `confine_signals` the program cannot
    /// signal the warden, where the kernel knows that.
    pub fn new(python: &Path, confine_signals: bool) -> Result<WardedCommand, ExecuteError> {
        let (control, theirs) = Socket::pair().map_err(ExecuteError::system("create a socket"))?;
        let theirs = rustix::io::fcntl_dupfd_cloexec(&theirs, FIRST_NUMBER)
            .map_err(ExecuteError::system("copy a file descriptor"))?;
        let marker = new_marker();
        let mut command = Command::new(python);
        command
            .args(["-I", "-S", "-c", &warden()])
            .arg(theirs.as_raw_fd().to_string())
            .arg(if confine_signals { "confine" } else { "free" })
            .arg(python)
            .env(MARKER, &marker);
        Ok(WardedCommand {
            command,
            control,
            theirs,
            marker,
        })
    }

    /// Starts it; `inherited` descriptors stay open in it under their numbers.
    pub fn spawn(
        mut self,
        confinement: &Confinement,
        inherited: &[&dyn AsFdRaw],
    ) -> Result<Warded, ExecuteError> {
        self.command.env(MARKER, &self.marker);
        let mut numbers: Vec<i32> = inherited.iter().map(|it| it.raw()).collect();
        numbers.push(self.theirs.as_raw_fd());
        let pending = sandbox::prepare(&mut self.command, confinement, &numbers)?;
        let child = self
            .command
            .spawn()
            .map_err(|source| ExecuteError::InterpreterMissing {
                path: self.command.get_program().into(),
                source,
            })?;
        // The command holds the writing ends of pipes.
        drop(self.command);
        drop(self.theirs);
        let mut warded = Warded {
            warden: child,
            control: Some(self.control),
            pid: 0,
            ended: None,
            marker: self.marker,
            report: pending.report(),
        };
        let started = warded
            .control
            .as_ref()
            .map(|control| control.receive_within(START_TIMEOUT));
        match started {
            Some(Ok(Some(message))) => match word(&message, "started") {
                Some(pid) => warded.pid = pid,
                None => return Err(silent("it says what it should not")),
            },
            Some(Ok(None)) | None => return Err(silent("it ended")),
            Some(Err(error)) => return Err(silent(&error.to_string())),
        }
        if let Some(listener) = LISTENER.get() {
            listener((!confinement.options.is_off()).then_some(warded.report));
        }
        Ok(warded)
    }
}

fn silent(reason: &str) -> ExecuteError {
    ExecuteError::System {
        action: "start a process under a warden",
        source: io::Error::other(reason.to_owned()),
    }
}

/// A number after a keyword.
fn word(message: &[u8], keyword: &str) -> Option<i32> {
    let text = std::str::from_utf8(message).ok()?;
    text.strip_prefix(keyword)?.trim().parse().ok()
}

/// Anything with a descriptor.
pub trait AsFdRaw {
    fn raw(&self) -> i32;
}

impl<T: AsFd> AsFdRaw for T {
    fn raw(&self) -> i32 {
        self.as_fd().as_raw_fd()
    }
}

/// A process with its warden. Dropping it ends every process below.
#[derive(Debug)]
pub struct Warded {
    warden: Child,
    control: Option<Socket>,
    pid: i32,
    ended: Option<ExitStatus>,
    marker: String,
    /// What keeps it from doing harm.
    pub report: SandboxReport,
}

impl Warded {
    /// The number of the program itself.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// How the program ended, if it has; what it left behind may still be dying.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        while self.ended.is_none()
            && let Some(control) = &self.control
        {
            match control.receive() {
                Ok(Some(message)) => {
                    self.ended = word(&message, "ended").map(ExitStatus::from_wait_status);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // The warden is gone without a word: somebody killed it, and the program with it.
                Ok(None) | Err(_) => self.ended = Some(ExitStatus::Signal(libc::SIGKILL)),
            }
        }
        self.ended
    }

    /// Waits for the end of the program.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        while self.ended().is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        self.ended
    }

    /// Ends everything below, and waits until it is gone.
    pub fn end(&mut self) {
        self.ended();
        if self.control.take().is_none() {
            return;
        }
        let deadline = Instant::now() + END_TIMEOUT;
        while let Ok(None) = self.warden.try_wait() {
            if Instant::now() > deadline {
                process::kill_group(self.warden.id().cast_signed());
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.warden.wait();
        // Where the warden could adopt nobody, or was killed itself.
        process::kill_marked(&marker_variable(&self.marker));
    }
}

impl Drop for Warded {
    fn drop(&mut self) {
        self.end();
    }
}
