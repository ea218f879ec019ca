//! The same bug through ten inputs is one finding; two bugs in one API are two.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{api, exception, execution, finding, input, keyword};
use fissure_model::{Exception, Finding, Outcome, Value};
use fissure_triage::{Collector, Observed, ScriptEnd, script};

const LIBRARY: &str = r#"
import ctypes

def first_bug(x):
    ctypes.string_at(0)

def second_bug(x):
    ctypes.string_at(0)

def two_bugs(x):
    if x > 0:
        first_bug(x)
    second_bug(x)
"#;

/// Really crashes `planted.two_bugs(x)` and takes the log of that process.
fn crashed(folder: &Path, x: i128) -> Finding {
    let call = input(vec![keyword("x", Value::Int(x))]);
    let outcome = Outcome::Crash { signal: 11 };
    let plan = finding(
        api("planted_twice.two_bugs"),
        call.clone(),
        execution(outcome.clone(), None),
    );
    let run = common::run_text(&common::python3(), &script(&plan), folder);
    assert_eq!(run.end, ScriptEnd::Signal(11), "{}", run.log);
    finding(
        api("planted_twice.two_bugs"),
        call,
        execution(outcome, Some(run.log)),
    )
}

#[test]
fn one_bug_through_many_inputs_is_one_finding_and_two_bugs_are_two() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("planted_twice.py"), LIBRARY).unwrap();
    let ids = |range: std::ops::Range<i128>| -> BTreeSet<String> {
        range.map(|x| crashed(folder.path(), x).id).collect()
    };
    let first = ids(1..6);
    let second = ids(-5..0);
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
}

fn raised(message: &str) -> Finding {
    let rejected = Outcome::Rejected(exception("RuntimeError", message));
    finding(api("torch.pool"), input(vec![]), execution(rejected, None))
}

#[test]
fn an_assertion_is_one_finding_whatever_numbers_it_prints() {
    let message = |line: u32, size: u32, dtype: &str| {
        format!(
            "got {size} for '{dtype}' INTERNAL ASSERT FAILED at \"/b/native/P.cpp\":{line}, \
             please report a bug to PyTorch. shape [{size}, 2]\nException raised from f at \
             /b/native/P.cpp:{line} (most recent call first):\n"
        )
    };
    let same: BTreeSet<String> = (0..10)
        .map(|size| raised(&message(10, size, if size < 5 { "Half" } else { "Long" })).id)
        .collect();
    assert_eq!(same.len(), 1);
    assert_ne!(
        raised(&message(10, 1, "Half")).id,
        raised(&message(20, 1, "Half")).id
    );
}

#[test]
fn native_frames_tell_two_aborts_apart() {
    let abort = |function: &str, address: u32| {
        let log = format!(
            "terminate called after throwing an instance of 'c10::Error'\n  what():  bad\n\
             frame #0: c10::Error::Error(std::string) + 0x80 (0x7f{address:x} in /x/libc10.so)\n\
             frame #1: at::native::{function}(at::Tensor const&) + 0x{address:x} (0x7f in /x/t.so)\n"
        );
        let outcome = Outcome::Crash { signal: 6 };
        finding(
            api("torch.pool"),
            input(vec![]),
            execution(outcome, Some(log)),
        )
        .id
    };
    assert_eq!(abort("max_pool", 0x10), abort("max_pool", 0x20));
    assert_ne!(abort("max_pool", 0x10), abort("avg_pool", 0x10));
}

#[test]
fn kinds_and_apis_are_never_merged() {
    let ids: BTreeSet<String> = [
        ("torch.a", Outcome::Timeout),
        ("torch.b", Outcome::Timeout),
        ("torch.a", Outcome::OutOfMemory),
        ("torch.a", Outcome::Crash { signal: 11 }),
        ("torch.a", Outcome::Crash { signal: 6 }),
        ("torch.a", Outcome::Exit { code: 3 }),
        ("torch.a", Outcome::Fatal(exception("SystemExit", "0"))),
    ]
    .into_iter()
    .map(|(path, outcome)| finding(api(path), input(vec![]), execution(outcome, None)).id)
    .collect();
    assert_eq!(ids.len(), 7);
}

#[test]
fn a_hang_that_its_input_explains_does_not_hide_one_that_nothing_explains() {
    let hang = |x: i128| {
        let call = input(vec![keyword("x", Value::Int(x))]);
        finding(api("torch.a"), call, execution(Outcome::Timeout, None))
    };
    assert!(hang(1 << 40).verdict.note);
    assert_ne!(hang(1 << 40).id, hang(1).id);
}

#[test]
fn the_collector_keeps_the_simplest_input_until_it_is_taken() {
    let mut collector = Collector::new();
    let api = api("torch.pool");
    let outcome = Outcome::Crash { signal: 8 };
    let observe = |collector: &mut Collector, x: i128| {
        let bad = finding(
            api.clone(),
            input(vec![keyword("x", Value::Int(x))]),
            execution(outcome.clone(), None),
        );
        collector.observe(&api, &bad.verdict, &bad.input, &bad.execution, 0)
    };
    let Observed::New(signature) = observe(&mut collector, 1 << 40) else {
        panic!("the first of its kind is new")
    };
    assert_eq!(observe(&mut collector, 3), Observed::Duplicate(2));
    assert_eq!(observe(&mut collector, 1 << 50), Observed::Duplicate(3));
    let simplest = collector.take(&signature).expect("not taken before");
    assert_eq!(simplest.input.arguments[0].value, Value::Int(3));
    assert_eq!(observe(&mut collector, 0), Observed::Duplicate(4));
    assert!(
        collector.take(&signature).is_none(),
        "later inputs are only counted"
    );
    assert_eq!((collector.count(&signature), collector.distinct()), (4, 1));
}

#[test]
fn an_api_whose_messages_never_repeat_does_not_fill_the_disk() {
    let mut collector = Collector::new();
    let api = api("torch.pool");
    for at in 0..Collector::PER_API + 10 {
        let word: String = (0..4)
            .map(|digit| char::from(b'a' + (at >> (digit * 2) & 3) as u8))
            .collect();
        let error = Exception {
            class: "RuntimeError".into(),
            message: format!("Unknown error in {word}"),
            ..Exception::default()
        };
        let bad = finding(
            api.clone(),
            input(vec![]),
            execution(Outcome::Rejected(error), None),
        );
        let observed = collector.observe(&api, &bad.verdict, &bad.input, &bad.execution, 0);
        assert_eq!(
            matches!(observed, Observed::New(_)),
            at < Collector::PER_API
        );
    }
    assert_eq!(
        (collector.distinct(), collector.suppressed()),
        (Collector::PER_API, 10)
    );
}
