//! Scripts in a fresh interpreter.

use std::path::PathBuf;
use std::time::Duration;

use fissure_execute::{Ended, SandboxOptions, ScriptOptions, ScriptRun, run_script};

use crate::support::python;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn options(&self) -> ScriptOptions {
        ScriptOptions {
            timeout: Duration::from_secs(20),
            memory_limit: 512 << 20,
            scratch: self.0.path().join("scratch"),
            sandbox: SandboxOptions::default(),
            environment: vec![("GREETING".into(), "hello".into())],
            cancelled: Default::default(),
        }
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.0.path().join("script.py");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, text: &str) -> ScriptRun {
        run_script(&python(), &self.script(text), self.options()).unwrap()
    }
}

#[test]
fn exit_codes_signals_and_output_are_told() {
    let folder = Folder::new();
    let run = folder.run("import os, sys\nprint(os.environ['GREETING'])\nsys.exit(3)\n");
    assert_eq!((run.ended, run.log.as_str()), (Ended::Exit(3), "hello\n"));

    let run = folder.run("print('done')\n");
    assert_eq!((run.ended, run.log.as_str()), (Ended::Exit(0), "done\n"));

    let run = folder.run("def inner():\n    import ctypes\n    ctypes.string_at(0)\ninner()\n");
    assert_eq!(run.ended, Ended::Signal(11));
    assert!(run.log.contains("in inner"), "{}", run.log);
}

#[test]
fn a_script_is_ended_at_its_limits() {
    let folder = Folder::new();
    let hang = folder.script("import time\nprint('x' * 1000000)\ntime.sleep(600)\n");
    let mut options = folder.options();
    options.timeout = Duration::from_millis(400);
    let run = run_script(&python(), &hang, options).unwrap();
    assert_eq!(run.ended, Ended::Timeout);
    assert!(run.log.len() < 70_000);

    let run = folder.run("kept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))\n");
    assert_eq!(run.ended, Ended::OutOfMemory);
}

#[test]
fn children_of_a_script_do_not_outlive_it() {
    let folder = Folder::new();
    let run = folder.run(
        "import os, time\n\
         if os.fork() == 0:\n\
         \x20   os.setsid()\n\
         \x20   if os.fork() == 0:\n\
         \x20       time.sleep(600)\n\
         \x20   os._exit(0)\n\
         time.sleep(0.2)\n\
         print('parent ends')\n",
    );
    assert_eq!(run.ended, Ended::Exit(0));
    let home = folder.0.path().canonicalize().unwrap().join("scratch/home");
    let wanted = format!("HOME={}", home.display());
    let alive = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let environment = std::fs::read(entry.path().join("environ"));
            environment
                .is_ok_and(|text| text.split(|it| *it == 0).any(|it| it == wanted.as_bytes()))
        });
    // A killed process may still be on its way out.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(alive.count(), 0);
}

#[test]
fn a_script_cannot_write_outside_its_scratch_folder() {
    let folder = Folder::new();
    let outside = folder.0.path().join("outside.txt");
    let run = folder.run(&format!("open({outside:?}, 'w').write('x')\n"));
    if !run.sandbox.writes_confined {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    assert_eq!(run.ended, Ended::Exit(1));
    let refused = run.log.contains("PermissionError") || run.log.contains("Read-only");
    assert!(refused, "{}", run.log);
    assert!(!outside.exists());
    assert_eq!(
        folder.run("open('inside.txt', 'w').write('x')\n").ended,
        Ended::Exit(0)
    );
}

#[test]
fn a_script_nobody_waits_for_any_more_is_ended() {
    let folder = Folder::new();
    let options = folder.options();
    options
        .cancelled
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let script = folder.script("import time\ntime.sleep(600)\n");
    let run = run_script(&python(), &script, options).unwrap();
    assert_eq!(run.ended, Ended::Cancelled);
}
