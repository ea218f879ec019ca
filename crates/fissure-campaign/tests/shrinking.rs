//! Findings shrink in a real worker, on a thread of their own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_campaign::{ApiIndex, ShrinkEvent, Shrinker, ShrinkerOptions};
use fissure_execute::{Pool, PoolOptions};
use fissure_model::{
    Api, Argument, ConcreteInput, Confidence, Execution, Finding, Intent, Outcome, OutcomeKind,
    Passing, Value, Verdict,
};
use fissure_triage::ShrinkBudget;

fn keyword(name: &str, value: i128) -> Argument {
    Argument {
        name: name.into(),
        passing: Passing::Keyword,
        value: Value::Int(value),
    }
}

/// A crash of the planted layer, which dies when it is called with 7.
fn finding(x: i128) -> Finding {
    Finding {
        id: "planted.Layer-crash-SIGSEGV-00000000".into(),
        library_version: "1.0".into(),
        python_version: "3.11.7".into(),
        ..Finding::new(
            Api {
                title: "planted.Layer".into(),
                package: "planted".into(),
                path: "planted.Layer".into(),
                layer: true,
                ..Api::default()
            },
            Verdict {
                kind: OutcomeKind::Crash,
                oracle: "fatal-signal".into(),
                confidence: Confidence::Crash,
                detail: "SIGSEGV".into(),
                note: false,
            },
            ConcreteInput {
                number: 3,
                arguments: vec![keyword("size", 123_456)],
                layer_arguments: Some(vec![keyword("x", x)]),
                intent: Intent::Conform,
                mutations: Vec::new(),
            },
            Execution::new(3, Outcome::Crash { signal: 11 }, Duration::ZERO),
        )
    }
}

fn planted(scratch: &Path) -> Pool {
    Pool::start(PoolOptions {
        extra_path: vec![fissure_testing::root().join("testdata/planted")],
        ..PoolOptions::new("python3", "planted", scratch)
    })
    .unwrap()
}

fn shrinker(pool: &Pool, stopped: bool) -> Shrinker {
    Shrinker::start(ShrinkerOptions {
        spares: pool.spares(),
        threads: 1,
        timeout: Duration::from_secs(10),
        oracles: Arc::default(),
        budget: ShrinkBudget::default(),
        stop: Arc::new(AtomicBool::new(stopped)),
    })
}

/// The finding, how many steps it took or why none, and how often progress was told.
fn done(shrinker: &mut Shrinker) -> (Finding, Result<u64, String>, u64) {
    let mut told = 0;
    loop {
        match shrinker.wait(Duration::from_secs(120)) {
            Some(ShrinkEvent::Progress { .. }) => told += 1,
            Some(ShrinkEvent::Done {
                finding, outcome, ..
            }) => return (*finding, outcome.map(|summary| summary.steps), told),
            None => panic!("nothing came for two minutes"),
        }
    }
}

#[test]
fn a_crash_is_made_small_and_explained_and_its_first_input_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = planted(scratch.path());
    let mut shrinker = shrinker(&pool, false);
    // As a worker's log tells it: the frames of the first run are part of what is looked for.
    let mut crash = finding(7);
    crash.execution.log = first_log(scratch.path());
    let unshrunk = crash.input.clone();
    shrinker.submit(ApiIndex::default(), Box::new(crash), None);
    let (small, outcome, told) = done(&mut shrinker);
    assert_eq!(small.input.arguments, [keyword("size", 0)], "{outcome:?}");
    assert_eq!(small.input.layer_arguments, Some(vec![keyword("x", 7)]));
    assert_eq!(small.unshrunk.as_deref(), Some(&unshrunk));
    assert_eq!((outcome, shrinker.pending()), (Ok(told), 0));
    let roles: Vec<(&str, bool)> = small
        .roles
        .iter()
        .map(|role| (role.parameter.as_str(), role.matters))
        .collect();
    assert_eq!(roles, [("size", true), ("call.x", true)]);
    assert!(
        small.roles[0].tried.contains("still fails when 1, 2, 3"),
        "{:?}",
        small.roles
    );
}

/// What a worker writes when the layer crashes.
fn first_log(scratch: &Path) -> Option<String> {
    use fissure_execute::{Batch, Event};
    let pool = planted(&scratch.join("first"));
    let Finding { api, input, .. } = finding(7);
    pool.submit(Batch {
        id: 0,
        api: Arc::new(api),
        check_nan: false,
        oracles: Arc::default(),
        inputs: vec![input],
        abandoned: Arc::default(),
        slow_calls: None,
    });
    loop {
        if let Event::Done { executions, .. } = pool.events().recv().unwrap() {
            return executions[0].log.clone();
        }
    }
}

#[test]
fn a_finding_that_does_not_fail_again_or_is_no_longer_wanted_stays_as_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = planted(scratch.path());
    let mut again = shrinker(&pool, false);
    again.submit(ApiIndex::default(), Box::new(finding(8)), None);
    let (same, outcome, _) = done(&mut again);
    assert!(
        outcome.unwrap_err().contains("did not fail"),
        "it never crashed"
    );
    assert_eq!(same, finding(8));

    let mut stopped = shrinker(&pool, true);
    stopped.submit(ApiIndex::default(), Box::new(finding(7)), None);
    let (same, outcome, _) = done(&mut stopped);
    assert_eq!(outcome, Err("the run was stopped".to_owned()));
    assert_eq!(same, finding(7));
}
