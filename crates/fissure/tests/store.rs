//! Disks that are full, folders that cannot be written, logs that are torn; and that nobody else is harmed.

mod support;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fissure_campaign::{EVENTS_FILE, Record, read_events};
use support::{TestContext, names, planted, run};

fn campaign(context: &TestContext, output: &Path) -> Command {
    let mut command = context.command();
    command
        .args(["campaign", "--no-shrink", "--no-learn", "--workers", "1"])
        // Planted functions take what their files forbid; here only failures count.
        .args(["--oracles", "default,-acceptance,-rejection"])
        .args([
            "--max-iter",
            "3000",
            "--api",
            "planted.segv",
            "--api",
            "planted.fine",
        ])
        .arg("--specs")
        .arg(planted().join("specs"))
        .arg("--pythonpath")
        .arg(planted())
        .arg("--output")
        .arg(output);
    command
}

/// A small disk, which goes away with it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: PathBuf) -> Result<SmallDisk, String> {
        std::fs::create_dir_all(&path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(&path);
        match mount.output() {
            Ok(output) if output.status.success() => Ok(SmallDisk(path)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Leaves no byte free.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        for size in [1 << 16, 1 << 12, 1 << 8, 1] {
            while file
                .write(&vec![b'x'; size])
                .is_ok_and(|written| written == size)
            {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What is left behind is in a temporary folder.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "says why it is skipped")]
fn a_full_disk_ends_a_campaign_with_the_reason_and_it_goes_on_once_there_is_room() {
    let context = TestContext::new();
    let disk = match SmallDisk::mount(context.path("disk")) {
        Ok(disk) => disk,
        Err(reason) => {
            eprintln!("skipped: no small disk can be mounted here: {reason}");
            return;
        }
    };
    let whole = run(&mut campaign(&context, &context.path("whole")));
    assert_eq!(whole.code, Some(1), "{whole:?}");
    let output = disk.0.join("out");
    let child = campaign(&context, &output)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let logged = || read_events::<Record>(&output).map_or(0, |records| records.len());
    while logged() < 4 {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
    let filler = disk.fill();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("the disk is full"), "{said}");
    assert!(said.contains("--resume"), "{said}");
    std::fs::remove_file(filler).unwrap();
    let mut resume = context.command();
    let resumed = run(resume.args(["campaign", "--resume"]).arg(&output));
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    assert_eq!(
        names(&output.join("findings")),
        names(&context.path("whole/findings"))
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_at_once() {
    let context = TestContext::new();
    context.write("closed/file", "");
    let closed = context.path("closed");
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o555)).unwrap();
    if OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(closed.join("probe"))
        .is_ok()
    {
        // Root writes where it likes: a file in the place of the folder refuses it as well.
        let refused = run(&mut campaign(&context, &closed.join("file/out")));
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains("failed to make"), "{refused:?}");
        return;
    }
    let refused = run(&mut campaign(&context, &closed.join("out")));
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("failed to make"), "{refused:?}");
}

#[test]
fn a_campaign_whose_log_is_torn_goes_on() {
    let context = TestContext::new();
    let output = context.path("out");
    assert_eq!(run(&mut campaign(&context, &output)).code, Some(1));
    let log = output.join(EVENTS_FILE);
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 7]).unwrap();
    let mut resume = context.command();
    let resumed = run(resume.args(["campaign", "--resume"]).arg(&output));
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    assert!(
        resumed.stdout.contains("1 finding in 6000 inputs"),
        "{resumed:?}"
    );
}

/// Functions that harm whoever they can reach, and leave a process that has detached itself.
const NASTY: &str = "\
import os
import socket
import subprocess

PLACE = os.path.dirname(os.path.abspath(__file__))
DONE = []


def harm():
    if DONE:
        return
    DONE.append(True)
    # Whoever gets at a secret ends the process, which every command tells.
    if 'STORE_TOKEN' in os.environ or 'STORE_UNLISTED' in os.environ:
        os.abort()
    try:
        with open('SECRET') as stream:
            if stream.read():
                os.abort()
    except OSError:
        pass
    precious = os.path.join(PLACE, 'precious.txt')
    for attempt in (
        lambda: os.truncate(precious, 0),
        lambda: os.chmod(precious, 0o777),
        lambda: os.open(os.path.join(PLACE, 'new.txt'), os.O_CREAT | os.O_WRONLY),
        lambda: socket.create_connection(('127.0.0.1', PORT), 1),
        lambda: subprocess.Popen(['sleep', 'SECONDS'], start_new_session=True),
    ):
        try:
            attempt()
        except OSError:
            pass


def root(n: int):
    harm()
    if n < 0:
        raise ValueError('negative')
    return n ** 0.5


def crash(n: int):
    harm()
    os.abort()


def logarithm(x):
    harm()
    return x.log()
";

/// Processes of this machine that were started with this argument.
fn processes_with(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has = |line: &Vec<u8>| {
        let mut words = line.split(|byte| *byte == 0);
        words.any(|word| word == argument.as_bytes())
    };
    lines.filter(has).count()
}

#[test]
fn no_command_lets_a_function_write_connect_or_leave_a_process() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // A number that no other process sleeps for.
    let seconds = format!("700.{}", std::process::id());
    let context = TestContext::new();
    let secret = context.write("home/.ssh/id_ed25519", "a key");
    let text = NASTY
        .replace("PORT", &port)
        .replace("SECONDS", &seconds)
        .replace("SECRET", &secret.display().to_string());
    context.write("package/nasty.py", &text);
    let precious = context.write("package/precious.txt", "kept");
    std::fs::set_permissions(&precious, PermissionsExt::from_mode(0o640)).unwrap();
    for (arguments, code) in [
        (
            &["fuzz", "nasty.root", "--max-iter", "20", "--output", "root"][..],
            0,
        ),
        (
            &[
                "fuzz",
                "nasty.crash",
                "--max-iter",
                "3",
                "--output",
                "crash",
            ],
            1,
        ),
        (&["replay", "crash"], 1),
        (
            &[
                "learn",
                "nasty.root",
                "--api-time",
                "3s",
                "--output",
                "rules",
            ],
            0,
        ),
        (
            &[
                "train",
                "nasty.logarithm",
                "--oracle",
                "nonfinite",
                "--dtypes",
                "float16",
                "--output",
                "trained",
            ],
            0,
        ),
        (
            &[
                "sweep",
                "nasty.logarithm",
                "--library",
                "torch",
                "--dtypes",
                "float16",
            ],
            0,
        ),
        (
            &[
                "compare",
                "package",
                "package",
                "nasty.root",
                "--package",
                "nasty",
                "--max-iter",
                "20",
                "--output",
                "compared",
            ],
            0,
        ),
    ] {
        let ran = run(context
            .command()
            .args(arguments)
            .arg("--python")
            .arg(&python)
            .env("HOME", context.path("home"))
            .env("STORE_TOKEN", "a token")
            .env("STORE_UNLISTED", "a variable that no library reads")
            .env("PYTHONPATH", context.path("package")));
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        let told = ran.stderr.matches("fissure: protections: ").count();
        assert_eq!(told, 1, "{arguments:?}: {ran:?}");
        assert_eq!(
            std::fs::read_to_string(&precious).unwrap(),
            "kept",
            "{arguments:?}"
        );
        let mode = precious.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{arguments:?}");
        assert!(!context.path("package/new.txt").exists(), "{arguments:?}");
        assert!(
            listener.accept().is_err(),
            "{arguments:?} reached the network"
        );
        assert_eq!(processes_with(&seconds), 0, "{arguments:?} left a process");
    }
    // What was found may say how a library that is not public can be broken.
    for folder in ["root", "crash"] {
        let mode = context
            .path(folder)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}
