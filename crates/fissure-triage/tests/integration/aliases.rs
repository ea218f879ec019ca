//! One bug through several names is one finding; two bugs in one API are two.

use crate::common;

use common::{api, execution, input, keyword};
use fissure_model::{Execution, Outcome, Value};
use fissure_triage::{Collector, Observed, Signature};

fn crash(frames: &[&str]) -> Execution {
    let mut crash = execution(Outcome::Crash { signal: 11 }, None);
    crash.native_frames = frames.iter().map(|frame| (*frame).to_owned()).collect();
    crash
}

fn observe(collector: &mut Collector, path: &str, x: i128, execution: Execution) -> Observed {
    let seen = common::finding(
        api(path),
        input(vec![keyword("x", Value::Int(x))]),
        execution,
    );
    collector.observe(&seen.api, &seen.verdict, &seen.input, &seen.execution, 0)
}

fn new(observed: Observed) -> Signature {
    match observed {
        Observed::New(signature) => signature,
        other => panic!("{other:?} instead of a new failure"),
    }
}

const POOL: &[&str] = &[
    "libc.so.6!raise",
    "libtorch_cpu.so!at::native::pool_kernel",
    "libtorch_cpu.so!at::native::pool",
    "libtorch_cpu.so!at::_ops::pool::call",
];

#[test]
fn the_same_bug_through_ten_inputs_is_one_finding() {
    let mut collector = Collector::new();
    new(observe(&mut collector, "torch.pool", 0, crash(POOL)));
    for x in 1..10 {
        // Where the dispatcher stood above it does not count.
        let mut frames = POOL.to_vec();
        frames.push(if x % 2 == 0 {
            "libtorch_python.so!torch::autograd::THPVariable_pool"
        } else {
            "libtorch_cpu.so!c10::Dispatcher::call"
        });
        assert_eq!(
            observe(&mut collector, "torch.pool", x, crash(&frames)),
            Observed::Duplicate(x as u64 + 1)
        );
    }
    assert_eq!(collector.distinct(), 1);
}

#[test]
fn two_bugs_in_one_api_are_two_findings() {
    let mut collector = Collector::new();
    let unpool = &["libtorch_cpu.so!at::native::unpool", "x.so!b"];
    let one = new(observe(&mut collector, "torch.pool", 1, crash(POOL)));
    let two = new(observe(&mut collector, "torch.pool", 2, crash(unpool)));
    assert_ne!(one, two);
}

#[test]
fn another_name_for_the_same_native_code_is_an_alias() {
    let mut collector = Collector::new();
    let signature = new(observe(&mut collector, "torch.pool", 1, crash(POOL)));
    for path in ["torch.nn.functional.pool", "torch.nn.Pool", "torch.nn.Pool"] {
        assert_eq!(
            observe(&mut collector, path, 1, crash(POOL)),
            Observed::Alias(signature.clone())
        );
    }
    assert_eq!(
        collector.aliases(&signature),
        ["torch.nn.Pool", "torch.nn.functional.pool"]
    );
    assert_eq!((collector.distinct(), collector.count(&signature)), (1, 4));
}

#[test]
fn different_apis_are_not_merged_on_one_frame_or_on_none() {
    let mut collector = Collector::new();
    for frames in [&[][..], &["libtorch_cpu.so!at::native::resize"][..]] {
        new(observe(&mut collector, "torch.pool", 1, crash(frames)));
        new(observe(&mut collector, "torch.sort", 1, crash(frames)));
    }
}

#[test]
fn a_process_that_could_not_be_looked_into_died_of_the_known_failure() {
    let mut collector = Collector::new();
    new(observe(&mut collector, "torch.pool", 1, crash(POOL)));
    assert_eq!(
        observe(&mut collector, "torch.pool", 2, crash(&[])),
        Observed::Duplicate(2)
    );
}

#[test]
fn an_assertion_that_names_its_source_line_is_the_same_through_every_name() {
    let raised = |line: u32| {
        let message = format!(
            "dim > 0 INTERNAL ASSERT FAILED at \"/b/aten/src/ATen/native/Pool.cpp\":{line}, got 7"
        );
        execution(
            Outcome::Rejected(common::exception("RuntimeError", &message)),
            None,
        )
    };
    let mut collector = Collector::new();
    let signature = new(observe(&mut collector, "torch.pool", 1, raised(10)));
    assert_eq!(
        observe(&mut collector, "torch.nn.functional.pool", 1, raised(10)),
        Observed::Alias(signature)
    );
    new(observe(
        &mut collector,
        "torch.nn.functional.pool",
        1,
        raised(20),
    ));
    let vague = || {
        let error = common::exception("SystemError", "Unknown error");
        execution(Outcome::Rejected(error), None)
    };
    new(observe(&mut collector, "torch.pool", 1, vague()));
    new(observe(&mut collector, "torch.sort", 1, vague()));
}
