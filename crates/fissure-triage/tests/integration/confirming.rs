//! What a fresh process adds to a finding: memory limits, the first input again, wrong results.

use crate::common;

use std::io;
use std::path::Path;

use common::{api, execution, finding, input, keyword};
use fissure_model::{Confidence, Finding, Outcome, OutcomeKind, Report, Value, Verdict};
use fissure_triage::{
    MemoryLimit, Replay, ScriptEnd, ScriptRun, confirm, issue, read_finding, script, signature,
    write_finding,
};

const CALL: &str = "===== the call =====\n";
const GONE: &str = "===== the call =====\npeak memory: 5120 MiB\nRESULT: not reproduced\n";

fn ended(end: ScriptEnd, log: &str) -> io::Result<ScriptRun> {
    Ok(ScriptRun {
        end,
        log: log.into(),
    })
}

fn hog() -> Finding {
    let call = input(vec![keyword("x", Value::Int(7))]);
    finding(
        api("planted.hog"),
        call,
        execution(Outcome::OutOfMemory, None),
    )
}

#[test]
fn a_call_that_only_needs_much_memory_is_a_note() {
    let mut hog = hog();
    let mut runner = |_: &Path, limit: MemoryLimit| match limit {
        MemoryLimit::Usual => ended(ScriptEnd::OutOfMemory, CALL),
        MemoryLimit::Larger => ended(ScriptEnd::Exit(0), GONE),
    };
    confirm(&mut hog, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert!(hog.is_note());
    assert_eq!(hog.remarks, ["It needs about 5120 MiB."]);
}

#[test]
fn a_call_that_takes_any_amount_of_memory_is_a_finding() {
    let mut endless = hog();
    let mut runner = |_: &Path, _: MemoryLimit| ended(ScriptEnd::OutOfMemory, CALL);
    let tried = confirm(&mut endless, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert_eq!((tried.failures, tried.runs), (3, 3));
    assert!(!endless.is_note());
    assert_eq!(endless.remarks, ["It takes more than a larger limit, too."]);

    let mut unknown = hog();
    let mut runner = |_: &Path, limit: MemoryLimit| match limit {
        MemoryLimit::Usual => ended(ScriptEnd::OutOfMemory, CALL),
        MemoryLimit::Larger => Err(io::Error::new(io::ErrorKind::Unsupported, "2 GiB are free")),
    };
    confirm(&mut unknown, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert!(!unknown.is_note());
    assert_eq!(
        unknown.remarks,
        ["It was not tried with more memory: 2 GiB are free."]
    );
}

#[test]
fn an_input_that_was_shrunk_too_far_gets_its_first_form_back() {
    let first = input(vec![keyword("x", Value::Int(700))]);
    let small = input(vec![keyword("x", Value::Int(7))]);
    let outcome = Outcome::Crash { signal: 11 };
    let mut crash = finding(api("planted.segv"), small, execution(outcome, None));
    crash.unshrunk = Some(Box::new(first.clone()));
    let mut runner = |path: &Path, _: MemoryLimit| {
        let text = std::fs::read_to_string(path)?;
        if text.contains("x=700") {
            ended(ScriptEnd::Signal(11), CALL)
        } else {
            ended(
                ScriptEnd::Exit(0),
                &format!("{CALL}RESULT: not reproduced\n"),
            )
        }
    };
    let tried = confirm(&mut crash, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert!(tried.is_stable());
    assert_eq!((&crash.input, crash.unshrunk), (&first, None));
    assert_eq!(crash.remarks.len(), 1);
}

#[test]
fn a_wrong_result_that_was_shrunk_too_far_gets_its_first_form_and_check_back() {
    let mut small = wrong(2, false);
    let first = wrong(700, false);
    small.unshrunk = Some(Box::new(first.input.clone()));
    small.unshrunk_reports = first.execution.reports.clone();
    small.unshrunk_reports[0].check += "# of the first input\n";
    let mut runner = |path: &Path, _: MemoryLimit| {
        let text = std::fs::read_to_string(path)?;
        if text.contains("700") {
            assert!(text.contains("# of the first input"), "{text}");
            ended(ScriptEnd::Exit(1), &format!("{CALL}RESULT: reproduced\n"))
        } else {
            ended(
                ScriptEnd::Exit(0),
                &format!("{CALL}RESULT: not reproduced\n"),
            )
        }
    };
    let tried = confirm(&mut small, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert!(tried.is_stable(), "{tried:?}");
    assert_eq!((&small.input, &small.unshrunk), (&first.input, &None));
    assert_eq!(small.remarks.len(), 1);

    // Without a check of its own nothing can be shown of the first input.
    let mut small = wrong(2, false);
    small.unshrunk = Some(Box::new(first.input));
    let tried = confirm(&mut small, &mut runner, 1, &std::env::temp_dir()).unwrap();
    assert_eq!(tried.failures, 0);
    assert!(small.unshrunk.is_some());
}

#[test]
fn a_script_that_was_only_slow_is_replayed_again_and_one_that_never_ends_has_changed() {
    let call = input(vec![keyword("x", Value::Int(7))]);
    let outcome = Outcome::Crash { signal: 11 };
    let crash = finding(api("planted.segv"), call, execution(outcome, None));
    let mut runs = 0;
    let mut slow_once = |_: &Path| {
        runs += 1;
        match runs {
            1 => ended(ScriptEnd::Timeout, CALL),
            _ => ended(ScriptEnd::Signal(11), CALL),
        }
    };
    let script = Path::new("reproduce.py");
    let answer = fissure_triage::replay(&crash, script, &mut slow_once).unwrap();
    assert_eq!((answer, runs), (Replay::StillFails, 2));

    let mut runs = 0;
    let mut endless = |_: &Path| {
        runs += 1;
        ended(ScriptEnd::Timeout, CALL)
    };
    let answer = fissure_triage::replay(&crash, script, &mut endless).unwrap();
    assert_eq!((answer.name(), runs), ("changed", 3));
}

/// A library whose function is wrong for one memory order of its argument.
const LIBRARY: &str = r#"
import os
__version__ = "1.0"
def total(values, scale=1):
    if values and values[0] == 3:
        if scale == 9:
            os.abort()
        return -1
    return sum(values) * scale
class Total:
    def __init__(self, scale):
        self.scale = scale
    def __call__(self, values):
        return total(values, self.scale)
"#;

fn wrong(scale: i128, layer: bool) -> Finding {
    let values = Value::List(vec![Value::Int(1), Value::Int(2), Value::Int(3)]);
    let (mut call, path, place) = if layer {
        let mut call = input(vec![keyword("scale", Value::Int(scale))]);
        call.layer_arguments = Some(vec![common::positional(values)]);
        (call, "wrong.Total", "layer_arguments[0]")
    } else {
        let call = input(vec![
            common::positional(values),
            keyword("scale", Value::Int(scale)),
        ]);
        (call, "wrong.total", "arguments[0]")
    };
    call.number = 1;
    let names = if layer {
        "arguments, keywords, layer_arguments, layer_keywords"
    } else {
        "arguments, keywords"
    };
    let check = format!(
        "def check():\n    {names} = build()\n    expected = call({names})\n    \
         {names} = build()\n    {place}.reverse()\n    observed = call({names})\n    \
         return observed != expected, str(observed), str(expected)\n"
    );
    let report = Report {
        oracle: "layout".into(),
        detail: "reversed of values: values".into(),
        observed: "-1".into(),
        expected: "6".into(),
        check,
        flat: None,
    };
    let kind = if scale == 9 {
        OutcomeKind::Crash
    } else {
        OutcomeKind::WrongResult
    };
    let outcome = match kind {
        OutcomeKind::Crash => Outcome::Crash { signal: 6 },
        _ => Outcome::Accepted { nan: false },
    };
    let mut execution = execution(outcome, None);
    execution.reports.push(report);
    let verdict = Verdict {
        kind,
        oracle: if scale == 9 { "fatal-signal" } else { "layout" }.into(),
        confidence: Confidence::Numeric,
        detail: "reversed of values: values".into(),
        note: false,
    };
    let api = api(path);
    let signature = signature(&api, &verdict, &execution);
    Finding {
        id: fissure_triage::finding_id(&api, &verdict, &signature),
        signature: signature.text().to_owned(),
        verdict,
        api: api.clone(),
        input: call,
        execution,
        ..finding(
            api,
            input(vec![]),
            common::execution(Outcome::Crash { signal: 6 }, None),
        )
    }
}

#[test]
fn a_wrong_result_is_shown_by_its_own_check() {
    let python = common::python3();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong.py"), LIBRARY).unwrap();
    let mut runner = |path: &Path, _: MemoryLimit| {
        Ok(common::run(&python, path, folder.path(), common::PATIENCE))
    };
    for (scale, layer) in [(1, false), (2, true), (9, false)] {
        let mut finding = wrong(scale, layer);
        let tried = confirm(&mut finding, &mut runner, 1, &std::env::temp_dir()).unwrap();
        assert!(tried.is_stable(), "{tried:?}\n{}", script(&finding));
    }
    // Where the library is right, the script says so and ends with code 0.
    let mended = LIBRARY.replace("values[0] == 3", "False");
    std::fs::write(folder.path().join("wrong.py"), mended).unwrap();
    for (scale, layer) in [(1, false), (2, true), (9, false)] {
        let mut finding = wrong(scale, layer);
        let tried = confirm(&mut finding, &mut runner, 1, &std::env::temp_dir()).unwrap();
        assert_eq!((tried.failures, tried.runs), (0, 3));
    }
}

/// The lines that stand in the report, and what a plain interpreter prints for them.
fn plain_lines(finding: &mut Finding, library: &str) -> Option<(String, String)> {
    let python = common::python3();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong.py"), library).unwrap();
    let mut runner = |path: &Path, _: MemoryLimit| {
        Ok(common::run(&python, path, folder.path(), common::PATIENCE))
    };
    confirm(finding, &mut runner, 1, &std::env::temp_dir()).unwrap();
    let lines = finding.execution.reports[0].flat.clone()?;
    let path = folder.path().join("lines.py");
    std::fs::write(&path, &lines).unwrap();
    let run = common::run(&python, &path, folder.path(), common::PATIENCE);
    Some((lines, run.log))
}

#[test]
fn a_check_becomes_plain_lines_that_print_what_stands_beside_them() {
    let (lines, printed) = plain_lines(&mut wrong(1, false), LIBRARY).unwrap();
    assert_eq!(
        lines,
        "import wrong\n\nx = [1, 2, 3]\n\
         print(wrong.total(x, scale=1))  # expected: 6\n\
         x.reverse()\n\
         print(wrong.total(x, scale=1))  # observed: -1\n"
    );
    assert_eq!(printed.trim(), "6\n-1");
    let mut layer = wrong(2, true);
    let (lines, printed) = plain_lines(&mut layer, LIBRARY).unwrap();
    assert!(
        lines.contains("print(wrong.Total(scale=2)(x))  # observed: -1\n"),
        "{lines}"
    );
    assert_eq!(printed.trim(), "12\n-1");
    assert!(issue(&layer).contains(&lines));
    assert!(!issue(&layer).contains("def check"));
}

#[test]
fn lines_that_do_not_show_the_failure_are_not_used() {
    // What the first call leaves behind changes the second: the arguments have to be made anew.
    let spoils = LIBRARY.replace(
        "    return sum(values) * scale",
        "    result = sum(values) * scale\n    values[:] = [3, 2, 1]\n    return result",
    );
    let (lines, printed) = plain_lines(&mut wrong(1, false), &spoils).unwrap();
    assert_eq!(lines.matches("x = [1, 2, 3]\n").count(), 2, "{lines}");
    assert_eq!(printed.trim(), "6\n-1");
    let mended = LIBRARY.replace("values[0] == 3", "False");
    assert_eq!(plain_lines(&mut wrong(1, false), &mended), None);
    // A check with a line that is not understood stays as it is.
    let mut odd = wrong(1, false);
    let check = &mut odd.execution.reports[0].check;
    *check = check.replace("arguments[0].reverse()", "arguments = [arguments[0][::-1]]");
    assert_eq!(plain_lines(&mut odd, LIBRARY), None);
}

#[test]
fn the_script_of_a_wrong_result_reads_like_a_report() {
    insta::assert_snapshot!(script(&wrong(1, false)), @r###"
    #!/usr/bin/env python3
    """wrong.total: wrong-result (reversed of values: values)

    Needs only Python and the library. Ends with code 1 where the failure is still there,
    with code 0 otherwise.
    """

    import faulthandler
    import platform
    import sys

    import wrong


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


    def build():
        """The arguments, made anew."""
        arguments = [[1, 2, 3]]
        keywords = {"scale": 1}
        return arguments, keywords


    def call(arguments, keywords):
        return wrong.total(*arguments, **keywords)


    def check():
        arguments, keywords = build()
        expected = call(arguments, keywords)
        arguments, keywords = build()
        arguments[0].reverse()
        observed = call(arguments, keywords)
        return observed != expected, str(observed), str(expected)


    print("Python " + platform.python_version() + ", " + platform.platform())
    print("wrong " + str(getattr(wrong, "__version__", "(no version)")))
    print("recorded: -1 (wrong 1.0, Python 3.11.7)")
    print("expected: 6")
    print("===== the call =====")
    sys.stdout.flush()
    faulthandler.enable()

    reproduced = False
    try:
        reproduced, observed, expected = check()
        print("observed: " + str(observed))
        print("expected: " + str(expected))
    except Exception as error:
        print("observed: raised " + name_of(error) + ": " + text_of(error))
    print("RESULT: reproduced" if reproduced else "RESULT: not reproduced")
    sys.exit(1 if reproduced else 0)
    "###);
}

#[test]
fn everything_triage_found_out_comes_back_from_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut full = wrong(1, true);
    full.unshrunk = Some(Box::new(input(vec![keyword("x", Value::Int(1))])));
    full.also_through = vec!["wrong.sum".into()];
    full.remarks = vec!["needs about 3 GiB".into()];
    full.environment = vec![("CPU".into(), "one".into())];
    full.execution.native_frames = vec!["libwrong.so!total".into()];
    full.roles = vec![fissure_model::ArgumentRole {
        parameter: "scale".into(),
        matters: false,
        tried: "still fails when 2".into(),
    }];
    let path = write_finding(folder.path(), &full).unwrap();
    assert_eq!(
        Finding {
            execution: full.execution.clone(),
            ..read_finding(&path).unwrap()
        },
        full
    );
    let text = std::fs::read_to_string(path.join("issue.md")).unwrap();
    for part in [
        "### 🐛 Describe the bug",
        "def check():",
        "**Observed**",
        "`scale`: still fails when 2",
        "`wrong.sum`",
        "### Versions",
        "CPU: one",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn tensorflow_gets_the_fields_of_its_own_form() {
    let mut crash = wrong(9, false);
    crash.api.package = "tensorflow".into();
    let text = issue(&crash);
    for heading in [
        "### Issue type\n\nBug",
        "### Source\n\nbinary",
        "### TensorFlow version\n\n1.0",
        "### Custom code",
        "### OS platform and distribution",
        "### Standalone code to reproduce the issue",
        "### Relevant log output",
    ] {
        assert!(text.contains(heading), "{heading}\n{text}");
    }
}

#[test]
fn what_maintainers_collect_under_an_umbrella_is_labelled_and_nothing_else() {
    let mut crash = wrong(9, false);
    crash.api.package = "torch".into();
    crash.verdict.kind = OutcomeKind::Crash;
    crash.input.arguments[0].value = Value::Int(1 << 40);
    assert!(issue(&crash).contains("pytorch/issues/195547"));
    crash.input.arguments[0].value = Value::Int(3);
    assert!(!issue(&crash).contains("umbrella"), "an ordinary input");
    crash.input.arguments[0].value = Value::Int(1 << 40);
    crash.api.package = "jax".into();
    assert!(!issue(&crash).contains("umbrella"), "another library");
}
