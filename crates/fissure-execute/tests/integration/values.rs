//! What the generator made is what the library gets, whatever the size of arena and batch.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{api, batch, input, planted_options, run};
use fissure_execute::{Batch, Event, Pool};
use fissure_model::{Argument, ConcreteInput, Dtype, Outcome, Passing, Value};

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// Each value with Python's type name and representation of it.
fn plain_values() -> Vec<(Value, String)> {
    let long = "é".repeat(300);
    let mut values: Vec<(Value, String)> = [
        (Value::None, "NoneType:None"),
        (Value::Bool(true), "bool:True"),
        (Value::Bool(false), "bool:False"),
        (Value::Float(-0.0), "float:-0.0"),
        (Value::Float(1e-310), "float:1e-310"),
        (Value::Float(f64::NAN), "float:nan"),
        (Value::Float(f64::NEG_INFINITY), "float:-inf"),
        (Value::Complex { re: 1.5, im: -2.0 }, "complex:(1.5-2j)"),
        (text(""), "str:''"),
        (text("naïve 🐍"), "str:'naïve 🐍'"),
        (Value::Bytes(vec![0, 255]), "bytes:b'\\x00\\xff'"),
        (Value::List(vec![]), "list:[]"),
        (Value::Tuple(vec![Value::Int(1)]), "tuple:(1,)"),
        (
            Value::List(vec![
                Value::Tuple(vec![]),
                Value::List(vec![Value::Int(-1)]),
                Value::None,
            ]),
            "list:[(), [-1], None]",
        ),
        (Value::Dict(vec![]), "dict:{}"),
        (
            Value::Dict(vec![
                (text("k"), Value::List(vec![Value::Int(1)])),
                (Value::Int(2), Value::None),
            ]),
            "dict:{'k': [1], 2: None}",
        ),
        (Value::Object("math.pi".into()), "float:3.141592653589793"),
        (
            Value::Call {
                path: "builtins.pow".into(),
                arguments: vec![Value::Int(2), Value::Int(100)],
            },
            "int:1267650600228229401496703205376",
        ),
        (
            Value::Tuple(vec![Value::Object("math.tau".into()), Value::Int(3)]),
            "tuple:(6.283185307179586, 3)",
        ),
    ]
    .map(|(value, kind)| (value, kind.to_owned()))
    .into();
    values.push((text(&long), format!("str:'{long}'")));
    values.push((
        Value::Tuple(vec![Value::Int(0); 300]),
        format!("tuple:({})", ["0"; 300].join(", ")),
    ));
    let bounds = [
        i32::MIN.into(),
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        i128::MAX,
        i128::MIN,
    ];
    for bound in bounds {
        for near in [bound, bound.wrapping_add(1), bound.wrapping_sub(1)] {
            values.push((Value::Int(near), format!("int:{near}")));
        }
    }
    for small in [0, 1, -1, 32767, 32768, 1 << 30, -(1 << 30), 1 << 45] {
        values.push((Value::Int(small), format!("int:{small}")));
    }
    values
}

#[test]
fn plain_values_arrive_as_they_are_by_name_and_by_position() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let mut inputs = Vec::new();
    for (value, kind) in plain_values() {
        inputs.push(input(
            0,
            vec![("kind", text(&kind)), ("value", value.clone())],
        ));
        inputs.push(input(0, vec![("", text(&kind)), ("", value)]));
    }
    let asked = Batch {
        id: 1,
        api: api("planted", "expect"),
        check_nan: false,
        oracles: Arc::default(),
        inputs,
        abandoned: Default::default(),
        slow_calls: None,
    };
    let answer = run(&pool, asked.clone());
    assert_eq!(answer.executions.len(), asked.inputs.len());
    for (execution, input) in answer.executions.iter().zip(&asked.inputs) {
        assert_eq!(
            execution.outcome,
            Outcome::Accepted { nan: false },
            "{:?}",
            input.arguments
        );
    }
}

#[test]
fn what_cannot_be_built_says_nothing_about_the_api() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let inputs = vec![
        input(
            0,
            vec![("x", Value::Object("planted.no_such_thing".into()))],
        ),
        input(
            1,
            vec![("x", Value::Dict(vec![(Value::List(vec![]), Value::None)]))],
        ),
        input(2, vec![("x", Value::Dtype(Dtype::Variant))]),
        input(3, vec![("x", Value::Int(1))]),
    ];
    let answer = run(
        &pool,
        Batch {
            id: 1,
            api: api("planted", "fine"),
            check_nan: false,
            oracles: Arc::default(),
            inputs,
            abandoned: Default::default(),
            slow_calls: None,
        },
    );
    let classes: Vec<_> = answer
        .executions
        .iter()
        .map(|execution| match &execution.outcome {
            Outcome::NotBuilt(exception) => exception.class.as_str(),
            Outcome::Accepted { .. } => "accepted",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        classes,
        ["AttributeError", "TypeError", "TypeError", "accepted"]
    );
}

#[test]
fn an_api_that_does_not_exist_builds_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let answer = run(&pool, batch("no_such_function", &[1, 2]));
    for execution in &answer.executions {
        let Outcome::NotBuilt(exception) = &execution.outcome else {
            panic!("{execution:?}")
        };
        assert_eq!(exception.message, "there is no planted.no_such_function");
    }
    assert_eq!(answer.executions.len(), 2);
}

#[test]
fn a_layer_is_constructed_and_then_called() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let layer = |number, size, x: Option<i128>| {
        let arguments = |x| {
            vec![Argument {
                name: "x".into(),
                passing: Passing::Keyword,
                value: Value::Int(x),
            }]
        };
        ConcreteInput {
            layer_arguments: x.map(arguments),
            ..input(number, vec![("size", Value::Int(size))])
        }
    };
    let inputs = vec![
        layer(0, -1, Some(1)),
        layer(1, 2, Some(7)),
        layer(2, 2, Some(1)),
        layer(3, 7, None),
    ];
    let answer = run(
        &pool,
        Batch {
            id: 1,
            api: api("planted", "Layer"),
            check_nan: true,
            oracles: Arc::default(),
            inputs,
            abandoned: Default::default(),
            slow_calls: None,
        },
    );
    let outcomes: Vec<_> = answer.executions.into_iter().map(|it| it.outcome).collect();
    assert!(matches!(&outcomes[0], Outcome::Rejected(it) if it.message.contains("negative")));
    assert_eq!(outcomes[1], Outcome::Crash { signal: 11 });
    assert_eq!(
        outcomes[2..],
        [
            Outcome::Accepted { nan: false },
            Outcome::Accepted { nan: false }
        ]
    );
}

#[test]
fn batches_and_inputs_larger_than_the_arena_run_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.arena_bytes = 4096;
    let pool = Pool::start(options).unwrap();
    let mut inputs: Vec<_> = (0..5000)
        .map(|number| input(number, vec![("x", Value::Int(number.into()))]))
        .collect();
    inputs[2500] = input(2500, vec![("x", text(&"x".repeat(1_000_000)))]);
    let answer = run(
        &pool,
        Batch {
            id: 1,
            api: api("planted", "segv"),
            check_nan: false,
            oracles: Arc::default(),
            inputs,
            abandoned: Default::default(),
            slow_calls: None,
        },
    );
    let crashed: Vec<_> = answer
        .executions
        .iter()
        .filter(|execution| execution.outcome != Outcome::Accepted { nan: false })
        .map(|execution| (execution.number, execution.outcome.clone()))
        .collect();
    assert_eq!(crashed, [(7, Outcome::Crash { signal: 11 })]);
    assert!(
        answer
            .executions
            .iter()
            .map(|execution| execution.number)
            .eq(0..5000)
    );
}

#[test]
fn more_exception_text_than_the_journal_holds_is_taken_out_in_parts() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let answer = run(&pool, batch("huge_text", &[7; 1500]));
    assert_eq!(answer.executions.len(), 1500);
    for execution in &answer.executions {
        let Outcome::Rejected(exception) = &execution.outcome else {
            panic!("{execution:?}")
        };
        assert_eq!(exception.message.len(), 2048);
    }
}

#[test]
fn two_workers_share_the_batches_and_each_crash_is_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.workers = 2;
    let pool = Pool::start(options).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for id in 0..20 {
                pool.submit(Batch {
                    id,
                    ..batch("segv", &[0, 1, 7, 2, 7, 3])
                });
            }
        });
        let mut seen = Vec::new();
        let mut abnormal = 0;
        while seen.len() < 20 {
            match pool.events().recv_timeout(Duration::from_secs(60)).unwrap() {
                Event::Abnormal { .. } => abnormal += 1,
                Event::Done {
                    batch, executions, ..
                } => {
                    let crashes: Vec<_> = executions
                        .iter()
                        .map(|it| it.outcome == Outcome::Crash { signal: 11 })
                        .collect();
                    assert_eq!(crashes, [false, false, true, false, true, false]);
                    seen.push(batch.id);
                }
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..20));
        assert_eq!(abnormal, 40);
    });
}

#[test]
fn a_cancelled_pool_gives_batches_back_cut_short() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.timeout = Duration::from_secs(600);
    let pool = Pool::start(options).unwrap();
    pool.submit(batch("hang", &[1, 2, 7, 3]));
    pool.submit(Batch {
        id: 2,
        ..batch("fine", &[1])
    });
    std::thread::sleep(Duration::from_millis(200));
    pool.cancel();
    let mut counts = Vec::new();
    while counts.len() < 2 {
        if let Event::Done {
            batch, executions, ..
        } = pool.events().recv_timeout(Duration::from_secs(60)).unwrap()
        {
            counts.push((batch.id, executions.len()));
        }
    }
    assert_eq!(counts, [(1, 2), (2, 0)]);
}

#[test]
fn an_abandoned_batch_comes_back_at_the_next_loss_of_a_worker() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let asked = batch("segv", &[1, 7, 2, 3]);
    let abandoned = Arc::clone(&asked.abandoned);
    pool.submit(asked);
    let Event::Abnormal { execution, .. } =
        pool.events().recv_timeout(Duration::from_secs(60)).unwrap()
    else {
        panic!("the crash is told first");
    };
    assert_eq!(execution.outcome, Outcome::Crash { signal: 11 });
    abandoned.store(true, std::sync::atomic::Ordering::Relaxed);
    let Event::Done { executions, .. } =
        pool.events().recv_timeout(Duration::from_secs(60)).unwrap()
    else {
        panic!("the batch comes back");
    };
    assert!(executions.len() >= 2, "what ran is there");
    assert_eq!(run(&pool, batch("segv", &[1, 2])).executions.len(), 2);
}
