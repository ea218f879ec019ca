//! Disks that are full, folders that cannot be written, logs that are torn.

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
