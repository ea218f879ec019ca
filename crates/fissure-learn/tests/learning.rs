//! Learning from a function whose rules are known.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use fissure_execute::{Pool, PoolOptions};
use fissure_learn::{Invariants, LearnError, LearnOptions, Learned, Observed, learn};
use fissure_model::{Api, Value};

const SOURCE: &str = "
def pick(count, most, how='all'):
    if count < 0:
        raise ValueError('count is negative: %d' % count)
    if count > most:
        raise ValueError('count %d is above most %d' % (count, most))
    if how not in ('all', 'some'):
        raise ValueError('no such way: %s' % how)
    return count
";

fn observed(count: i128, most: i128, how: &str) -> Observed {
    Observed {
        arguments: vec![Value::Int(count), Value::Int(most)],
        keywords: BTreeMap::from([("how".to_owned(), Value::Text(how.to_owned()))]),
        call: None,
    }
}

fn learn_pick(calls: &[Observed], name: &str) -> Result<Learned, LearnError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("picking.py"), SOURCE).unwrap();
    let pool = Pool::start(PoolOptions {
        extra_path: vec![folder.path().to_owned()],
        ..PoolOptions::new(
            PathBuf::from("python3"),
            "picking",
            folder.path().join("scratch"),
        )
    })
    .unwrap();
    let api = Api {
        title: format!("picking.{name}"),
        package: "picking".into(),
        path: format!("picking.{name}"),
        ..Api::default()
    };
    let options = LearnOptions {
        mutants: 600,
        evaluate: true,
        ..LearnOptions::default()
    };
    learn(&pool, api, calls, &options, &AtomicBool::new(false))
}

fn calls() -> Vec<Observed> {
    let mut calls = Vec::new();
    for (count, most) in [
        (0, 1),
        (1, 3),
        (2, 2),
        (3, 9),
        (5, 8),
        (0, 0),
        (7, 30),
        (4, 5),
    ] {
        calls.push(observed(count, most, "all"));
        calls.push(observed(count, most, "some"));
    }
    calls
}

#[test]
fn the_rules_of_a_known_function_are_learned_with_its_own_words() {
    let learned = learn_pick(&calls(), "pick").unwrap();
    let text = learned.invariants.file.to_string();
    for rule in [
        "count >= 0",
        "count <= most",
        "how in {\"all\", \"some\"}",
        "count is negative",
    ] {
        assert!(text.contains(rule), "{rule} is not in\n{text}");
    }
    let measured = learned.evaluation.unwrap();
    assert_eq!(measured.accepted, measured.drawn, "{text}");
    assert_eq!(measured.allowed, measured.apart, "{text}");
    assert!(measured.drawn > 0 && measured.apart > 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pick.rules");
    learned.invariants.save(&path).unwrap();
    let read = Invariants::load(&path).unwrap();
    assert_eq!(read, learned.invariants);
    assert!(read.sampler(1).sample().is_some());
}

#[test]
fn what_is_not_there_and_what_accepts_nothing_are_told() {
    let error = learn_pick(&calls(), "absent").unwrap_err();
    assert!(matches!(error, LearnError::Missing { .. }), "{error}");
    let error = learn_pick(&[observed(-1, 1, "all")], "pick").unwrap_err();
    assert!(matches!(error, LearnError::NoSeeds { .. }), "{error}");
}
