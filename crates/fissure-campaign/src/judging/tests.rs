//! Which inputs the oracles look at, and how much that may cost.

use fissure_model::{Argument, Intent, OracleCost, Outcome, Passing, Value};

use super::*;

fn input(number: u64, word: &str) -> ConcreteInput {
    ConcreteInput {
        number,
        arguments: vec![Argument {
            name: "mode".into(),
            passing: Passing::Keyword,
            value: Value::Text(word.into()),
        }],
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: vec![],
    }
}

fn judging(share: f64) -> Judging {
    Judging::new(&JudgingOptions {
        oracles: Arc::from([Oracle::Layout]),
        price: 10,
        share,
        ..JudgingOptions::default()
    })
}

fn chosen(judging: &mut Judging) -> Vec<u64> {
    std::iter::from_fn(|| judging.next(|_, _, _| false))
        .flat_map(|chosen| chosen.inputs)
        .map(|input| input.number)
        .collect()
}

#[test]
fn kinds_not_yet_chosen_come_first() {
    let mut judging = judging(0.0);
    judging.credit = 20.0;
    let words = ["mean", "mean", "mean", "sum"];
    let inputs = words.iter().zip(0..).map(|(word, n)| input(n, word));
    judging.offer(4, Duration::ZERO, inputs.collect());
    assert_eq!(chosen(&mut judging), [0, 3]);
}

#[test]
fn an_oracle_that_looks_once_sees_one_input_of_each_element_type() {
    let mut judging = Judging::new(&JudgingOptions {
        oracles: Arc::from([Oracle::Layout, Oracle::Sweep]),
        price: 1000,
        share: 0.0,
        ..JudgingOptions::default()
    });
    judging.credit = 0.0;
    let of = |number, dtype| {
        let tensor = fissure_model::TensorValue {
            dtype,
            shape: vec![0],
            data: fissure_model::TensorData {
                pattern: [].as_slice().into(),
            },
        };
        let mut made = input(number, "mean");
        made.arguments[0].value = Value::Tensor(tensor);
        made
    };
    use fissure_model::Dtype::{Float16, Float32};
    let inputs = vec![
        input(0, "no tensor"),
        of(1, Float32),
        of(2, Float32),
        of(3, Float16),
    ];
    judging.offer(4, Duration::ZERO, inputs);
    let batch = judging.next(|_, _, _| false).expect("two inputs wait");
    assert_eq!(*batch.oracles, [Oracle::Sweep]);
    let numbers: Vec<u64> = batch.inputs.iter().map(|input| input.number).collect();
    assert_eq!(numbers, [1, 3]);
}

#[test]
fn oracles_make_no_more_calls_than_plain_calls_have_earned() {
    let mut judging = judging(0.5);
    for batch in 0..100 {
        let inputs = (0..20).map(|n| input(batch * 20 + n, "mean")).collect();
        judging.offer(20, Duration::ZERO, inputs);
    }
    // 2,000 plain calls earn 1,000, which pays for 100 inputs; the rest is guaranteed.
    assert_eq!(chosen(&mut judging).len() as u64, 100 + LEAST);
}

#[test]
fn by_the_clock_a_few_are_judged_at_once_and_then_half_of_the_time() {
    let mut judging = Judging::new(&JudgingOptions {
        time_share: Some(0.5),
        ..judging(0.0).options
    });
    let inputs = |from: u64| (from..from + 64).map(|n| input(n, "mean")).collect();
    judging.offer(64, Duration::from_millis(1), inputs(0));
    assert_eq!(chosen(&mut judging).len(), 1, "one in the first turn");
    let costs = |millis: u64| {
        let mut execution = Execution::new(0, Outcome::Timeout, Duration::ZERO);
        execution.oracle_costs.push(OracleCost {
            oracle: Oracle::Layout,
            duration: Duration::from_millis(millis),
        });
        execution
    };
    judging.count(&[costs(1)], Duration::from_millis(1));
    judging.offer(96, Duration::from_millis(9), inputs(64));
    let early = chosen(&mut judging).len();
    assert_eq!(early, 4, "one of so many in the second");
    judging.count(
        &[costs(1), costs(1), costs(1), costs(1)],
        Duration::from_millis(4),
    );
    judging.offer(64, Duration::from_millis(50), inputs(160));
    assert_eq!(
        chosen(&mut judging).len(),
        55,
        "60 ms at 1 ms each, 5 were spent"
    );
}

#[test]
fn an_oracle_that_was_expensive_elsewhere_waits_for_more_plain_inputs() {
    let options = JudgingOptions {
        oracles: Arc::from([Oracle::Layout, Oracle::Meta]),
        time_share: Some(0.5),
        ..judging(0.0).options
    };
    let costs = (10, 10 * EXPENSIVE + Duration::from_millis(1));
    lock(&options.costs).insert(Oracle::Meta, costs);
    let mut judging = Judging::new(&options);
    let inputs = (0..64).map(|n| input(n, "mean")).collect();
    judging.offer(64, Duration::from_millis(1), inputs);
    let oracles = judging.next(|_, _, _| false).unwrap().oracles;
    assert_eq!(*oracles, [Oracle::Layout]);
    judging.plain = SPREAD_EXPENSIVE;
    judging.push(input(64, "mean"));
    assert_eq!(judging.next(|_, _, _| false).unwrap().oracles.len(), 2);
}

#[test]
fn every_api_has_its_least_for_cheap_oracles_soon_and_a_part_of_it_for_the_others() {
    let options = JudgingOptions {
        oracles: Arc::from([Oracle::Nan, Oracle::Layout]),
        time_share: Some(0.5),
        ..judging(0.0).options
    };
    let mut judging = Judging::new(&options);
    let took = Duration::from_millis(1);
    let mut looked: HashMap<Oracle, u64> = HashMap::new();
    for turn in 0..11 {
        let from = turn * 64;
        let inputs = (from..from + 64).map(|n| input(n, "mean")).collect();
        // Plain calls take next to no time, so judging never earns more than its least.
        judging.offer(64, Duration::from_nanos(1), inputs);
        while let Some(chosen) = judging.next(|_, _, _| false) {
            let costs = chosen.oracles.iter().map(|oracle| OracleCost {
                oracle: oracle.clone(),
                duration: took,
            });
            let mut execution = Execution::new(0, Outcome::Accepted { nan: false }, took);
            execution.oracle_costs = costs.collect();
            for oracle in chosen.oracles.iter() {
                *looked.entry(oracle.clone()).or_default() += chosen.inputs.len() as u64;
            }
            let executions = vec![execution; chosen.inputs.len()];
            judging.count(&executions, took * chosen.inputs.len() as u32);
        }
    }
    assert_eq!(looked[&Oracle::Nan], LEAST, "within 700 plain inputs");
    let usual = looked[&Oracle::Layout];
    assert!((LEAST_USUAL..2 * LEAST_USUAL).contains(&usual), "{usual}");
}

#[test]
fn without_oracles_nothing_is_kept() {
    let mut judging = Judging::new(&JudgingOptions::default());
    judging.offer(1, Duration::ZERO, vec![input(0, "mean")]);
    assert!(judging.is_empty());
}

#[test]
fn an_input_that_asks_for_an_oracle_gets_it_a_few_times_per_kind() {
    let mut judging = judging(0.0);
    let oracles: Arc<[Oracle]> = Arc::from([Oracle::Nan]);
    for number in 0..9 {
        judging.ask(Arc::clone(&oracles), &input(number, "mean"));
    }
    judging.ask(Arc::clone(&oracles), &input(9, "sum"));
    assert_eq!(chosen(&mut judging), [0, 1, 2, 9]);
}
