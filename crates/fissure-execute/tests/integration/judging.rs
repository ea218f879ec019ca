//! Judged batches: what oracles say arrives with the execution, and a call of theirs that ends the
//! process has its report all the same.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Batch, Pool, PoolOptions};
use fissure_model::{ConcreteInput, Dtype, Oracle, Outcome, TensorData, TensorValue, Value};

use crate::support::{Answer, api, input, run};

/// Each does as its name says with a tensor that is not contiguous, which only an oracle passes.
const STRIDED: &str = r#"
import os
import time
import torch

def fine(x):
    return x + 1

def differs(x):
    return x + 1 if x.is_contiguous() else x + 2

def crashes(x):
    if not x.is_contiguous():
        os.abort()
    return x + 1

def leaves(x):
    if not x.is_contiguous():
        os._exit(3)
    return x + 1

def hangs(x):
    if not x.is_contiguous():
        time.sleep(1000)
    return x + 1

def raises(x):
    if not x.is_contiguous():
        raise IndexError("out of range")
    return x + 1

def rejects(x):
    raise ValueError("no")
"#;

fn start(timeout: u64) -> Option<(Pool, [tempfile::TempDir; 2])> {
    let python = fissure_testing::torch_python()?;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    fs::write(folders[1].path().join("strided.py"), STRIDED).unwrap();
    let mut options = PoolOptions::new(&python, "torch", folders[0].path());
    options.extra_path = vec![folders[1].path().to_owned()];
    options.timeout = Duration::from_secs(timeout);
    Some((Pool::start(options).unwrap(), folders))
}

fn matrix(number: u64) -> ConcreteInput {
    let pattern: Vec<u8> = (0..6u8)
        .flat_map(|it| f32::from(it).to_le_bytes())
        .collect();
    let tensor = Value::Tensor(TensorValue {
        dtype: Dtype::Float32,
        shape: vec![2, 3],
        data: TensorData {
            pattern: pattern.into(),
        },
    });
    input(number, vec![("x", tensor)])
}

fn judged(pool: &Pool, function: &str, oracles: &[&str]) -> Answer {
    let oracles: Vec<Oracle> = oracles.iter().copied().map(Oracle::from).collect();
    let answer = run(
        pool,
        Batch {
            id: 1,
            api: api("strided", function),
            check_nan: false,
            oracles: oracles.into(),
            inputs: (0..3).map(matrix).collect(),
            abandoned: Arc::default(),
            slow_calls: None,
        },
    );
    assert_eq!(answer.executions.len(), 3);
    answer
}

#[test]
fn reports_and_costs_arrive_with_the_execution() {
    let Some((pool, _folders)) = start(60) else {
        return;
    };
    for execution in judged(&pool, "fine", &["layout"]).executions {
        assert_eq!(execution.outcome, Outcome::Accepted { nan: false });
        assert_eq!((execution.reports, execution.log), (vec![], None));
        assert_eq!(execution.oracle_costs[0].oracle, Oracle::Layout);
        assert!(!execution.oracle_costs[0].duration.is_zero());
    }
    for execution in judged(&pool, "differs", &["layout"]).executions {
        assert_eq!(execution.outcome, Outcome::Accepted { nan: false });
        let report = &execution.reports[0];
        assert_eq!(report.oracle, Oracle::Layout);
        assert_eq!(report.detail, "transposed storage of x: values");
        assert!(report.observed.starts_with("[2.0, 3.0,"), "{report:?}");
        assert!(report.expected.starts_with("[1.0, 2.0,"), "{report:?}");
        assert!(report.check.starts_with("def check():\n"), "{report:?}");
    }
    for execution in judged(&pool, "raises", &["layout"]).executions {
        assert_eq!(
            execution.reports[0].detail,
            "transposed storage of x: raises IndexError"
        );
        assert_eq!(execution.reports[0].observed, "IndexError('out of range')");
    }
    for execution in judged(&pool, "rejects", &["layout"]).executions {
        assert!(matches!(execution.outcome, Outcome::Rejected(_)));
        assert!(execution.reports.is_empty() && execution.oracle_costs.is_empty());
    }
}

#[test]
fn a_variant_that_ends_the_process_leaves_its_report() {
    let Some((pool, _folders)) = start(60) else {
        return;
    };
    let cases = [
        ("crashes", Outcome::Crash { signal: 6 }, "signal 6"),
        ("leaves", Outcome::Exit { code: 3 }, "code 3"),
    ];
    for (function, outcome, words) in cases {
        let answer = judged(&pool, function, &["layout"]);
        assert_eq!(answer.abnormal.len(), 3);
        for execution in &answer.executions {
            assert_eq!(execution.outcome, outcome);
            let [report] = execution.reports.as_slice() else {
                panic!("{execution:?}");
            };
            assert_eq!(report.detail, "transposed storage of x");
            assert!(report.observed.ends_with(words), "{report:?}");
            assert!(report.check.contains("transpose(-1, -2)"), "{report:?}");
        }
    }
    let answer = judged(&pool, "fine", &["layout"]);
    assert!(answer.executions.iter().all(|it| it.reports.is_empty()));
}

#[test]
fn a_variant_that_hangs_is_timed_by_itself() {
    let Some((pool, _folders)) = start(2) else {
        return;
    };
    for execution in judged(&pool, "hangs", &["layout"]).executions {
        assert_eq!(execution.outcome, Outcome::Timeout);
        assert_eq!(execution.reports[0].detail, "transposed storage of x");
    }
}

#[test]
fn an_oracle_that_fails_itself_is_told_in_the_log() {
    let Some((pool, _folders)) = start(60) else {
        return;
    };
    for execution in judged(&pool, "differs", &["no-such-oracle", "layout"]).executions {
        let log = execution.log.unwrap();
        assert!(
            log.starts_with("the oracle no-such-oracle failed:"),
            "{log}"
        );
        assert_eq!(execution.reports.len(), 1);
    }
}
