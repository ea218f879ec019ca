//! Scripts look as promised, parse in old Pythons and end as promised.

#![expect(clippy::print_stderr, reason = "a skipped test says why")]

use crate::common;

use std::path::Path;
use std::time::Duration;

use common::{api, exception, execution, finding, floats, input, keyword, positional};
use fissure_model::{Dtype, Finding, Outcome, OutcomeKind, Value};
use fissure_triage::{MemoryLimit, ScriptEnd, ScriptRun, confirm, script, script_for_input};

/// A library that fails in each way that a script can meet.
const LIBRARY: &str = r#"
import ctypes, os, signal, sys, threading, time

__version__ = "1.0"

def segv(x):
    if x == 7:
        ctypes.string_at(0)

def abort(x):
    if x == 7:
        os.abort()

def handled(x):
    if x == 7:
        print("Segmentation fault: 11", flush=True)
        os._exit(255)

def leave(x):
    if x == 7:
        os._exit(0)

def system_exit(x):
    if x == 7:
        sys.exit(0)

def recurse(x):
    return recurse(x)

class OddError(Exception):
    pass

def internal(x):
    if x == 7:
        raise RuntimeError("x INTERNAL ASSERT FAILED at \"a.cpp\":1, please report a bug")
    raise ValueError("no")

def foreign(x):
    raise OddError("CHECK failed \udcff")

def nan(x):
    return {"loss": [1.0, float("nan") if x == 7 else 0.0]}

def hang(x):
    while x == 7:
        time.sleep(1)

def destructor(x):
    class Trap:
        def __del__(self):
            if x == 7:
                os.kill(os.getpid(), signal.SIGSEGV)
    return Trap()

def later(x):
    def crash():
        time.sleep(0.05)
        ctypes.string_at(0)
    if x == 7:
        threading.Thread(target=crash, daemon=True).start()

class Layer:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        if self.size == 7:
            os.abort()
"#;

fn failing(function: &str, x: i128, outcome: Outcome, log: Option<&str>) -> Finding {
    finding(
        api(&format!("cracked.{function}")),
        input(vec![keyword("x", Value::Int(x))]),
        execution(outcome, log.map(str::to_owned)),
    )
}

fn confirmed(finding: &mut Finding, runs: u32) -> (u32, u32) {
    confirmed_within(common::PATIENCE, finding, runs)
}

fn confirmed_within(limit: Duration, finding: &mut Finding, runs: u32) -> (u32, u32) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cracked.py"), LIBRARY).unwrap();
    let python = common::python3();
    let mut runner =
        |script: &Path, _: MemoryLimit| Ok(common::run(&python, script, folder.path(), limit));
    let reproduction = confirm(finding, &mut runner, runs, &std::env::temp_dir()).unwrap();
    assert_eq!(finding.reproduction, Some(reproduction));
    (reproduction.failures, reproduction.runs)
}

#[test]
fn every_kind_of_failure_is_confirmed_by_its_own_script() {
    let raised = |class: &str, message: &str| Outcome::Rejected(exception(class, message));
    let fatal = |class: &str| Outcome::Fatal(exception(class, ""));
    for (function, outcome, log) in [
        ("segv", Outcome::Crash { signal: 11 }, None),
        ("abort", Outcome::Crash { signal: 6 }, None),
        ("destructor", Outcome::Crash { signal: 11 }, None),
        ("later", Outcome::Crash { signal: 11 }, None),
        (
            "handled",
            Outcome::Exit { code: 255 },
            Some("Segmentation fault: 11\n"),
        ),
        ("leave", Outcome::Exit { code: 0 }, None),
        ("system_exit", fatal("SystemExit"), None),
        ("recurse", fatal("RecursionError"), None),
        (
            "internal",
            raised("RuntimeError", "INTERNAL ASSERT FAILED at x"),
            None,
        ),
        ("foreign", raised("cracked.OddError", "CHECK failed"), None),
        ("nan", Outcome::Accepted { nan: true }, None),
    ] {
        let mut bad = failing(function, 7, outcome, log);
        assert_eq!(
            confirmed(&mut bad, 1),
            (3, 3),
            "{function}\n{}",
            script(&bad)
        );
    }
}

#[test]
fn a_hang_is_confirmed_when_the_script_does_not_end() {
    let mut hang = failing("hang", 7, Outcome::Timeout, None);
    assert_eq!(
        confirmed_within(Duration::from_secs(2), &mut hang, 1),
        (3, 3)
    );
}

#[test]
fn a_failure_that_is_gone_is_tried_three_times_a_hang_once_and_ends_with_code_0() {
    for (function, outcome) in [
        ("segv", Outcome::Crash { signal: 11 }),
        ("leave", Outcome::Exit { code: 1 }),
        ("hang", Outcome::Timeout),
        (
            "internal",
            Outcome::Rejected(exception("RuntimeError", "INTERNAL ASSERT FAILED")),
        ),
        (
            "internal",
            Outcome::Rejected(exception("ValueError", "INTERNAL ASSERT FAILED")),
        ),
        ("nan", Outcome::Accepted { nan: true }),
    ] {
        // A call that ends is no hang, however often it is tried.
        let runs = if outcome == Outcome::Timeout { 1 } else { 3 };
        let mut gone = failing(function, 3, outcome, None);
        assert_eq!(confirmed(&mut gone, 1), (0, runs), "{function}");
        assert!(!gone.reproduction.unwrap().is_stable());
    }
}

#[test]
fn a_failure_that_comes_and_goes_is_labelled_with_its_figures() {
    let mut flaky = failing("segv", 7, Outcome::Crash { signal: 11 }, None);
    let mut ends = [
        ScriptEnd::Exit(0),
        ScriptEnd::Signal(11),
        ScriptEnd::Exit(0),
    ]
    .into_iter();
    let mut runner = |_: &Path, _: MemoryLimit| {
        Ok(ScriptRun {
            end: ends.next().expect("not more than three runs"),
            log: "===== the call =====\nRESULT: not reproduced\n".into(),
        })
    };
    let reproduction = confirm(&mut flaky, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert_eq!((reproduction.failures, reproduction.runs), (1, 3));
}

#[test]
fn a_library_that_cannot_be_imported_is_an_error_and_says_nothing_about_the_failure() {
    for outcome in [
        Outcome::Crash { signal: 11 },
        Outcome::Exit { code: 1 },
        Outcome::Accepted { nan: true },
        Outcome::Fatal(exception("SystemExit", "1")),
    ] {
        let mut missing = finding(
            api("no_such_library.function"),
            input(vec![keyword("x", Value::Int(7))]),
            execution(outcome, None),
        );
        let folder = tempfile::tempdir().unwrap();
        let python = common::python3();
        let mut runner = |script: &Path, _: MemoryLimit| {
            Ok(common::run(
                &python,
                script,
                folder.path(),
                common::PATIENCE,
            ))
        };
        let error = confirm(&mut missing, &mut runner, 1, &std::env::temp_dir()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("No module named 'no_such_library'"),
            "{error}"
        );
        assert_eq!(missing.reproduction, None);
    }
}

#[test]
fn a_layer_is_constructed_and_then_called() {
    let mut call = input(vec![keyword("size", Value::Int(7))]);
    call.layer_arguments = Some(vec![positional(Value::Int(1))]);
    let outcome = Outcome::Crash { signal: 6 };
    let mut layer = finding(api("cracked.Layer"), call, execution(outcome, None));
    assert_eq!(confirmed(&mut layer, 4), (4, 4), "{}", script(&layer));
}

#[test]
fn the_log_of_a_fresh_process_serves_when_the_worker_left_none() {
    let mut crash = failing("segv", 7, Outcome::Crash { signal: 11 }, None);
    confirmed(&mut crash, 1);
    let log = crash.execution.log.expect("taken from the confirming run");
    assert!(
        log.contains("Fatal Python error: Segmentation fault"),
        "{log}"
    );
}

#[test]
fn scripts_parse_in_the_oldest_python_that_is_here() {
    let Some(python) = common::oldest_python() else {
        eprintln!("skipped: Python 3.7 is not installed");
        return;
    };
    let values = vec![
        keyword("input", Value::Tensor(floats(&[1, 3, 4], &[0.5; 12]))),
        keyword(
            "bits",
            Value::Tensor(common::tensor(Dtype::Float32, &[100], vec![0xff; 8])),
        ),
        keyword("array", Value::NdArray(floats(&[100], &[1.0, 2.0]))),
        keyword("from", Value::Text("é".into())),
        keyword(
            "odd",
            Value::Object("torch.nn.quantized.functional.relu".into()),
        ),
        keyword(
            "never",
            Value::Tensor(common::tensor(Dtype::String, &[1], vec![])),
        ),
    ];
    let call = input(values);
    let mut texts = vec![script_for_input(
        &api("torch.nn.functional.avg_pool2d"),
        &call,
    )];
    for outcome in [
        Outcome::Crash { signal: 8 },
        Outcome::Timeout,
        Outcome::Rejected(exception(
            "RuntimeError",
            "INTERNAL ASSERT FAILED \"\"\" \\ \0 é",
        )),
    ] {
        let api = api("torch.nn.functional.avg_pool2d");
        texts.push(script(&finding(
            api,
            call.clone(),
            execution(outcome, None),
        )));
    }
    let folder = tempfile::tempdir().unwrap();
    for text in texts {
        std::fs::write(folder.path().join("subject.py"), &text).unwrap();
        let check = format!(
            "compile(open({:?}).read(), 'subject.py', 'exec')\n",
            folder.path().join("subject.py")
        );
        let run = common::run_text(&python, &check, folder.path());
        assert_eq!(run.end, ScriptEnd::Exit(0), "{}\n{text}", run.log);
    }
}

#[test]
fn a_value_that_no_library_makes_is_a_clear_error_and_no_finding() {
    let call = input(vec![keyword("x", Value::Object("not a path".into()))]);
    let outcome = Outcome::Crash { signal: 11 };
    let mut broken = finding(api("cracked.segv"), call, execution(outcome, None));
    assert_eq!(confirmed(&mut broken, 1), (0, 3));
}

#[test]
fn a_script_reads_like_a_report() {
    let call = input(vec![
        keyword(
            "input",
            Value::Tensor(floats(&[1, 2, 2], &[1.0, -0.5, 0.1, 3e20])),
        ),
        keyword("kernel_size", Value::Int(0)),
        keyword("stride", Value::Tuple(vec![Value::Int(1), Value::Int(2)])),
    ]);
    let crash = finding(
        api("torch.nn.functional.avg_pool2d"),
        call,
        execution(Outcome::Crash { signal: 8 }, None),
    );
    assert_eq!(crash.verdict.kind, OutcomeKind::Crash);
    insta::assert_snapshot!(script(&crash), @r###"
    #!/usr/bin/env python3
    """torch.nn.functional.avg_pool2d: crash (SIGFPE)

    Needs only Python and the library. Where the failure is still there, the process dies
    in the call; otherwise this script ends with code 0.
    """

    import faulthandler
    import platform
    import sys
    import time

    import torch


    def name_of(error):
        kind = type(error)
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return kind.__module__ + "." + kind.__qualname__


    def text_of(error):
        try:
            return str(error).encode("ascii", "backslashreplace").decode("ascii")
        except Exception:
            return "(no text)"


    def call():
        return torch.nn.functional.avg_pool2d(
            input=torch.tensor([1.0, -0.5, 0.1, 3e20], dtype=torch.float32).reshape(1, 2, 2),
            kernel_size=0,
            stride=(1, 2),
        )


    print("Python " + platform.python_version() + ", " + platform.platform())
    print("torch " + str(getattr(torch, "__version__", "(no version)")))
    print("recorded: the process died of SIGFPE (torch 1.0, Python 3.11.7)")
    print("expected: a result or an exception, not a crash")
    print("===== the call =====")
    sys.stdout.flush()
    faulthandler.enable()

    try:
        result = call()
        print("observed: a result of type " + type(result).__name__)
        del result  # a failure in its destructor belongs to the call
        time.sleep(0.5)  # a thread that the call started may still be at work
    except BaseException as error:
        print("observed: raised " + name_of(error) + ": " + text_of(error))
    print("RESULT: not reproduced")
    "###);
}

#[test]
fn the_script_of_an_input_is_the_call_alone() {
    let mut call = input(vec![keyword("in_features", Value::Int(2))]);
    call.layer_arguments = Some(vec![positional(Value::Tensor(floats(&[8, 2], &[1.0])))]);
    insta::assert_snapshot!(script_for_input(&api("torch.nn.Linear"), &call), @r###"
    #!/usr/bin/env python3
    """torch.nn.Linear, input 7 (conforming)."""

    import torch


    def call():
        layer = torch.nn.Linear(in_features=2)
        return layer(torch.ones((8, 2), dtype=torch.float32))


    print(call())
    "###);
}
