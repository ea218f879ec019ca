//! Workers and scripts from the zygote of a pool that is under way.

use std::path::Path;
use std::time::Duration;

use fissure_execute::{Ended, Event, ForkedScripts, Pool, SandboxOptions, ScriptOptions};

use crate::support::{batch, planted_options};

fn options(folder: &Path) -> ScriptOptions {
    ScriptOptions {
        timeout: Duration::from_secs(60),
        memory_limit: 512 << 20,
        scratch: folder.join("confirm"),
        sandbox: SandboxOptions::default(),
        environment: Vec::new(),
        cancelled: Default::default(),
    }
}

fn run(scripts: &mut ForkedScripts, folder: &Path, text: &str) -> (Ended, String) {
    let path = folder.join("script.py");
    std::fs::write(&path, text).unwrap();
    let run = scripts.run(&path, &options(folder)).unwrap();
    (run.ended, run.log)
}

#[test]
fn a_script_ends_as_in_an_interpreter_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(&folder.path().join("scratch"))).unwrap();
    let mut scripts = pool.spares().scripts().unwrap();
    let mut run = |text: &str| run(&mut scripts, folder.path(), text);

    let said = "import planted\nprint(__name__, planted.__name__)\n";
    assert_eq!(run(said), (Ended::Exit(0), "__main__ planted\n".to_owned()));
    assert_eq!(run("import sys\nsys.exit(3)\n").0, Ended::Exit(3));
    let (ended, log) = run("raise SystemExit('no more')\n");
    assert_eq!((ended, log.as_str()), (Ended::Exit(1), "no more\n"));
    let (ended, log) = run("def inner():\n    return 1 / 0\ninner()\n");
    assert!(
        ended == Ended::Exit(1) && log.contains("ZeroDivisionError"),
        "{log}"
    );
    let (ended, log) = run("def inner():\n    import ctypes\n    ctypes.string_at(0)\ninner()\n");
    assert!(
        ended == Ended::Signal(11) && log.contains("in inner"),
        "{log}"
    );
    // What one leaves behind, the next does not find.
    assert_eq!(run("import planted\nplanted.left = 1\n").0, Ended::Exit(0));
    let found = "import planted\nprint(hasattr(planted, 'left'))\n";
    assert_eq!(run(found), (Ended::Exit(0), "False\n".to_owned()));
}

#[test]
fn a_forked_script_is_ended_at_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(&folder.path().join("scratch"))).unwrap();
    let mut scripts = pool.spares().scripts().unwrap();
    let path = folder.path().join("script.py");
    std::fs::write(&path, "import time\ntime.sleep(600)\n").unwrap();
    let short = ScriptOptions {
        timeout: Duration::from_millis(300),
        ..options(folder.path())
    };
    assert_eq!(scripts.run(&path, &short).unwrap().ended, Ended::Timeout);
    let grows = "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))\n";
    let (ended, _) = run(&mut scripts, folder.path(), grows);
    assert_eq!(ended, Ended::OutOfMemory);
}

#[test]
fn spare_workers_run_beside_the_pools_own_and_their_place_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(&folder.path().join("scratch"))).unwrap();
    let spares = pool.spares();
    // One worker: two places, more often than there are places.
    for _ in 0..5 {
        let one = spares.pool(Duration::from_secs(60)).unwrap();
        let other = spares.scripts().unwrap();
        assert!(spares.scripts().is_err(), "every place is taken");
        for busy in [&pool, &one] {
            busy.submit(batch("fine", &[1, 2, 3]));
        }
        for busy in [&pool, &one] {
            let event = busy.events().recv_timeout(Duration::from_secs(60)).unwrap();
            assert!(matches!(event, Event::Done { executions, .. } if executions.len() == 3));
        }
        drop((one, other));
    }
    assert_eq!(
        pool.stop().zygotes_started,
        1,
        "the library was imported once"
    );
}
