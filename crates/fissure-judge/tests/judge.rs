//! Each outcome meets its oracle, and nothing else does.

use std::time::Duration;

use fissure_judge::{JudgeOptions, asks_for, documentation, judge, kind};
use fissure_model::{
    Api, Argument, Category, ConcreteInput, Confidence, Dtype, Exception, Execution, Intent,
    Oracle, Outcome, OutcomeKind, Passing, TensorData, TensorValue, Value, Verdict,
};

fn api(path: &str) -> Api {
    Api {
        title: path.into(),
        package: path.split('.').next().unwrap().into(),
        path: path.into(),
        ..Api::default()
    }
}

fn input(values: Vec<Value>) -> ConcreteInput {
    ConcreteInput {
        number: 0,
        arguments: values
            .into_iter()
            .map(|value| Argument {
                name: "x".into(),
                passing: Passing::Keyword,
                value,
            })
            .collect(),
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
}

fn floats(values: &[f32]) -> Value {
    Value::Tensor(TensorValue {
        dtype: Dtype::Float32,
        shape: vec![values.len() as u64],
        data: TensorData {
            pattern: values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect::<Vec<_>>()
                .into(),
        },
    })
}

fn ended(outcome: Outcome, log: Option<&str>) -> Execution {
    Execution {
        log: log.map(str::to_owned),
        ..Execution::new(0, outcome, Duration::from_micros(3))
    }
}

fn exception(class: &str, message: &str) -> Exception {
    Exception {
        class: class.into(),
        message: message.into(),
        ..Exception::default()
    }
}

fn verdict(outcome: Outcome, log: Option<&str>, values: Vec<Value>) -> Option<Verdict> {
    let options = JudgeOptions { check_nan: true };
    judge(
        &api("torch.nn.functional.layer"),
        &input(values),
        &ended(outcome, log),
        &options,
    )
}

#[test]
fn accepted_and_rejected_inputs_give_no_verdict() {
    assert_eq!(
        verdict(Outcome::Accepted { nan: false }, None, vec![]),
        None
    );
    let rejected = Outcome::Rejected(exception("RuntimeError", "stride should not be zero"));
    assert_eq!(verdict(rejected, None, vec![]), None);
    let not_built = Outcome::NotBuilt(exception("SystemError", "INTERNAL ASSERT FAILED"));
    assert_eq!(
        verdict(not_built, None, vec![]),
        None,
        "says nothing about the API"
    );
}

#[test]
fn every_fault_signal_is_a_crash_named_by_its_signal() {
    for (signal, name) in [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
    ] {
        let verdict = verdict(Outcome::Crash { signal }, None, vec![]).unwrap();
        assert_eq!(
            (verdict.kind, verdict.detail.as_str()),
            (OutcomeKind::Crash, name)
        );
        assert_eq!(verdict.confidence, Confidence::Crash);
    }
}

#[test]
fn a_kill_from_outside_is_noted_and_not_called_a_crash() {
    let verdict = verdict(
        Outcome::Crash {
            signal: libc::SIGKILL,
        },
        None,
        vec![],
    )
    .unwrap();
    assert_eq!((verdict.kind, verdict.note), (OutcomeKind::Exit, true));
}

#[test]
fn an_exit_after_the_library_printed_a_fault_is_a_crash() {
    let log = "\nSegmentation fault: 11\n\nStack trace:\n  [bt] (0) libmxnet.so(+0x1)\n";
    let verdict = verdict(Outcome::Exit { code: 255 }, Some(log), vec![]).unwrap();
    assert_eq!(
        (verdict.kind, verdict.detail.as_str()),
        (OutcomeKind::Crash, "SIGSEGV, exit 255")
    );
}

#[test]
fn a_fault_that_an_earlier_input_printed_long_ago_is_not_taken_for_this_one() {
    let log = format!(
        "Segmentation fault\n{}",
        "an ordinary line é\n".repeat(1000)
    );
    let verdict = verdict(Outcome::Exit { code: 3 }, Some(&log), vec![]).unwrap();
    assert_eq!(
        (verdict.kind, verdict.detail.as_str()),
        (OutcomeKind::Exit, "exit 3")
    );
}

#[test]
fn fatal_exceptions_and_internal_errors_carry_their_class() {
    let fatal = verdict(Outcome::Fatal(exception("SystemExit", "2")), None, vec![]).unwrap();
    assert_eq!(
        (fatal.kind, fatal.detail.as_str()),
        (OutcomeKind::Fatal, "SystemExit")
    );
    let internal = Outcome::Rejected(exception("RuntimeError", "x INTERNAL ASSERT FAILED at y"));
    assert_eq!(
        kind(&ended(internal.clone(), None)),
        OutcomeKind::InternalError
    );
    assert_eq!(
        verdict(internal, None, vec![]).unwrap().confidence,
        Confidence::InternalError
    );
}

#[test]
fn a_nan_is_reported_only_when_asked_and_not_explained() {
    let nan = || Outcome::Accepted { nan: true };
    assert!(verdict(nan(), None, vec![floats(&[1.0, -2.0])]).is_some());
    assert_eq!(
        verdict(nan(), None, vec![floats(&[1.0, f32::INFINITY])]),
        None
    );
    assert_eq!(
        verdict(nan(), None, vec![floats(&[3e38])]),
        None,
        "an overflow explains it"
    );
    assert_eq!(
        verdict(nan(), None, vec![floats(&[])]),
        None,
        "a mean of nothing"
    );
    let exponent = vec![floats(&[1.0]), Value::Int(32767)];
    assert_eq!(
        verdict(nan(), None, exponent),
        None,
        "as an exponent it overflows"
    );
    assert!(verdict(nan(), None, vec![floats(&[1.0]), Value::Int(3)]).is_some());
    let unasked = JudgeOptions::default();
    let call = input(vec![floats(&[-1.0])]);
    let execution = ended(nan(), None);
    assert_eq!(judge(&api("torch.relu"), &call, &execution, &unasked), None);
}

#[test]
fn a_nan_asks_for_its_oracle_unless_the_input_explains_it() {
    let ordinary = input(vec![floats(&[-1.0])]);
    let asked = |path: &str, call: &ConcreteInput, kind| asks_for(&api(path), call, kind);
    assert_eq!(
        asked("torch.log", &ordinary, OutcomeKind::Nan),
        Some(Oracle::Nan)
    );
    assert_eq!(asked("torch.log", &ordinary, OutcomeKind::Accepted), None);
    assert_eq!(asked("torch.empty", &ordinary, OutcomeKind::Nan), None);
    let infinite = input(vec![floats(&[f32::INFINITY])]);
    assert_eq!(asked("torch.log", &infinite, OutcomeKind::Nan), None);
}

#[test]
fn hangs_and_memory_are_notes_when_the_input_asks_for_much() {
    let huge_tensor = Value::Tensor(TensorValue {
        dtype: Dtype::Float32,
        shape: vec![5 << 20],
        data: TensorData {
            pattern: vec![0; 4].into(),
        },
    });
    let far_index = Value::Tensor(TensorValue {
        dtype: Dtype::Int64,
        shape: vec![1],
        data: TensorData {
            pattern: (1i64 << 40).to_le_bytes().to_vec().into(),
        },
    });
    for outcome in [Outcome::Timeout, Outcome::OutOfMemory] {
        let note = |value: Value| verdict(outcome.clone(), None, vec![value]).unwrap().note;
        assert!(!note(Value::Int(1000)));
        assert!(!note(floats(&[1e30])), "a large element is not a size");
        assert!(note(Value::Int(-(1 << 21))));
        assert!(note(Value::Int(i128::MIN)));
        assert!(note(Value::Float(1e12)));
        assert!(note(Value::List(vec![
            Value::Int(100_000),
            Value::Int(100_000)
        ])));
        let pooled = [12, 65_535, 510].map(Value::Int).to_vec();
        assert!(note(Value::List(pooled)), "half a billion results");
        assert!(note(huge_tensor.clone()));
        assert!(note(far_index.clone()));
    }
}

#[test]
fn a_function_that_is_there_to_wait_leaves_a_note() {
    let hang = ended(Outcome::Timeout, None);
    let note = |path: &str| {
        let call = input(vec![Value::Int(1)]);
        judge(&api(path), &call, &hang, &JudgeOptions { check_nan: true }).is_some_and(|it| it.note)
    };
    assert!(note("tensorflow.raw_ops.QueueDequeueV2"));
    assert!(!note("tensorflow.raw_ops.QueueSizeV2"));
}

#[test]
fn a_broken_constraint_that_is_accepted_counts_only_with_a_trusted_specification() {
    let accepted = ended(Outcome::Accepted { nan: false }, None);
    let mut call = input(vec![Value::Int(1)]);
    assert_eq!(documentation(&call, &accepted, true), None, "it conforms");
    call.intent = Intent::Violate {
        param: "p".into(),
        category: Category::Range,
    };
    assert_eq!(documentation(&call, &accepted, false), None);
    let (verdict, report) = documentation(&call, &accepted, true).unwrap();
    assert_eq!(verdict.oracle, Oracle::Acceptance);
    assert_eq!(verdict.confidence, Confidence::Documentation);
    assert_eq!(verdict.detail, "range of p broken, and accepted");
    assert_eq!(
        report.check,
        "def check():
    arguments, keywords = build()
    try:
        result = call(arguments, keywords)
    except Exception as error:
        return False, repr(error), 'an exception: the documentation rules this input out'
    return True, str(result), 'an exception: the documentation rules this input out'
"
    );
}

#[test]
fn a_rejection_of_what_a_trusted_specification_allows_is_told_with_its_class() {
    let refused = |message: &str| {
        ended(
            Outcome::Rejected(exception("torch.SomeError", message)),
            None,
        )
    };
    let mut call = input(vec![Value::Int(1)]);
    call.layer_arguments = Some(Vec::new());
    assert_eq!(documentation(&call, &refused("no"), false), None);
    let (verdict, report) = documentation(&call, &refused("no"), true).unwrap();
    assert_eq!(verdict.oracle, Oracle::Rejection);
    assert_eq!(verdict.detail, "torch.SomeError");
    assert!(report.check.contains("return name == 'SomeError'"));
    assert!(
        report
            .check
            .contains("call(arguments, keywords, layer_arguments, layer_keywords)")
    );
    let limit = refused("\"abs\" not implemented for 'Half'");
    assert_eq!(documentation(&call, &limit, true), None, "an honest limit");
}

#[test]
fn a_bad_message_is_a_note_unless_it_is_certain() {
    let call = input(vec![Value::Int(1)]);
    let refused = |class: &str, text: &str| ended(Outcome::Rejected(exception(class, text)), None);
    let (verdict, _) = documentation(&call, &refused("RuntimeError", ""), false).unwrap();
    assert!(verdict.note && verdict.oracle == Oracle::Message);
    let (verdict, _) = documentation(&call, &refused("NameError", "x"), false).unwrap();
    assert!(!verdict.note);
    let plain = refused("RuntimeError", "stride should not be zero");
    assert_eq!(documentation(&call, &plain, false), None);
}
