//! What a target cannot do, where the kernel can keep it from it.

use std::net::TcpListener;

use crate::support::{batch, planted_options, run};
use fissure_execute::{Pool, SandboxOptions};
use fissure_model::Outcome;

const OPEN: SandboxOptions = SandboxOptions {
    confine_writes: false,
    cut_network: false,
};

#[test]
fn a_write_outside_the_scratch_folder_is_refused_and_one_inside_is_not() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim.txt");
    for sandbox in [SandboxOptions::default(), OPEN] {
        let scratch = tempfile::tempdir().unwrap();
        let mut options = planted_options(scratch.path());
        options.sandbox = sandbox;
        options.environment = vec![(
            "PLANTED_OUTSIDE".into(),
            victim.to_str().unwrap().to_owned(),
        )];
        let pool = Pool::start(options).unwrap();
        let confined = pool.info().sandbox.writes_confined;
        if sandbox.confine_writes && !confined {
            println!("skipped: this kernel has no Landlock");
            continue;
        }
        assert_eq!(confined, sandbox.confine_writes);
        let answer = run(&pool, batch("write_outside", &[7]));
        assert_eq!(victim.exists(), !confined, "{answer:?}");
        // Read-only where there are mount namespaces, else forbidden.
        let refused = matches!(&answer.executions[0].outcome, Outcome::Rejected(it)
            if it.class == "PermissionError" || it.message.contains("Read-only"));
        assert_eq!(refused, confined, "{answer:?}");
        let answer = run(&pool, batch("write_inside", &[7]));
        assert_eq!(
            answer.executions[0].outcome,
            Outcome::Accepted { nan: false }
        );
    }
}

#[test]
fn the_network_cannot_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for sandbox in [SandboxOptions::default(), OPEN] {
        let scratch = tempfile::tempdir().unwrap();
        let mut options = planted_options(scratch.path());
        options.sandbox = sandbox;
        options.environment = vec![("PLANTED_PORT".into(), port.clone())];
        let pool = Pool::start(options).unwrap();
        let cut = pool.info().sandbox.network_cut;
        if sandbox.cut_network && !cut {
            println!("skipped: no network namespace can be had here");
            continue;
        }
        let answer = run(&pool, batch("open_connection", &[7]));
        let accepted = answer.executions[0].outcome == Outcome::Accepted { nan: false };
        assert_eq!(accepted, !cut, "{answer:?}");
    }
}

#[test]
fn a_worker_cannot_kill_the_zygote_where_landlock_knows_signals() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let answer = run(&pool, batch("kill_parent", &[1, 7, 2]));
    let zygotes = pool.stop().zygotes_started;
    match &answer.executions[1].outcome {
        Outcome::Rejected(exception) => {
            assert_eq!(exception.class, "PermissionError");
            assert_eq!(zygotes, 1);
        }
        Outcome::Crash { signal: 9 } => {
            println!("skipped: this kernel's Landlock has no scope for signals");
        }
        other => panic!("{other:?}"),
    }
    for other in [0, 2] {
        assert_eq!(
            answer.executions[other].outcome,
            Outcome::Accepted { nan: false }
        );
    }
}
