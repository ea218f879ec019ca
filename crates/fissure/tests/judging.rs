//! Wrong results: found while fuzzing, found later in kept inputs, silent on correct code.

mod support;

use std::path::PathBuf;
use std::process::Command;

use support::{Ran, TestContext, names, run};

/// The planted-wrong library and its correct twin.
fn library() -> PathBuf {
    fissure_testing::root().join("testdata/wrong")
}

fn spec(library: &str, function: &str) -> String {
    format!(
        "title: {library}.{function}\npackage: {library}\ntarget: {function}\nversion: '1'\nlink: here\n\
         inputs:\n  required: [input]\n  optional: []\n\
         constraints:\n  input:\n    descp: numbers\n    tensor_t: [torch.tensor]\n    \
         dtype: [torch.float32]\n    range: ['[-2,2]']\n"
    )
}

struct Judging {
    context: TestContext,
    python: PathBuf,
}

impl Judging {
    /// Specs of the function in both libraries; `None` without PyTorch.
    fn of(function: &str) -> Option<Judging> {
        let python = fissure_testing::torch_python()?;
        let context = TestContext::new();
        for library in ["wrong", "right"] {
            let title = format!("{library}.{function}");
            context.write(&format!("specs/{title}.yaml"), &spec(library, function));
        }
        Some(Judging { context, python })
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.context.command();
        command.args(arguments);
        command.arg("--pythonpath").arg(library());
        run(command.arg("--python").arg(&self.python))
    }

    fn fuzz(&self, arguments: &[&str]) -> Ran {
        let usual = ["fuzz", "specs", "--workdir", "out", "--max-iter", "400"];
        self.run(&[&usual, arguments].concat())
    }

    /// Findings in the wrong library by the name of their folder; there are none in its twin.
    fn findings(&self) -> Vec<String> {
        assert_eq!(names(&self.context.path("out/right/findings")), [""; 0]);
        names(&self.context.path("out/wrong/findings"))
    }

    /// How the script of a finding ends in a plain interpreter.
    fn script(&self, finding: &str) -> (Option<i32>, String) {
        let output = Command::new(&self.python)
            .arg(
                self.context
                    .path("out/wrong/findings")
                    .join(finding)
                    .join("reproduce.py"),
            )
            .env("PYTHONPATH", library())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    }
}

#[test]
fn a_wrong_result_is_found_shrunk_and_shown_by_a_plain_script_and_the_twin_is_silent() {
    let Some(judging) = Judging::of("last_element") else {
        return;
    };
    let ran = judging.fuzz(&["--oracles", "kernel-path", "--judge-share", "all"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("kernel-path"), "{ran:?}");
    let findings = judging.findings();
    assert!(!findings.is_empty(), "{ran:?}");
    for finding in &findings {
        assert!(
            finding.starts_with("wrong.last_element-wrong-result"),
            "{findings:?}"
        );
        let (code, text) = judging.script(finding);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("RESULT: reproduced"), "{text}");
        let issue = judging
            .context
            .path(&format!("out/wrong/findings/{finding}/issue.md"));
        assert!(issue.exists());
    }
}

#[test]
fn what_a_library_leaves_open_is_no_finding() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let mut command = context.command();
    // Eigenvalues in any order, one of several writes to one place, positions.
    command
        .args([
            "fuzz",
            "torch.linalg.eigvals",
            "torch.put",
            "torch.index_copy",
        ])
        .args(["--max-iter", "150", "--workdir", "out"]);
    let ran = run(command.arg("--python").arg(&python));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn kept_inputs_are_judged_later() {
    let Some(judging) = Judging::of("over_32") else {
        return;
    };
    let ran = judging.fuzz(&["--oracles", "fatal-signal", "--save"]);
    assert_eq!(ran.code, Some(0), "nothing compares yet: {ran:?}");
    let judge = |library: &str, more: &[&str]| {
        let run = format!("out/{library}");
        judging.run(
            &[
                &["judge", &run, "--oracles", "kernel-path,determinism"],
                more,
            ]
            .concat(),
        )
    };
    let none = judge("wrong", &["--from", "9999"]);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(
        none.stderr.contains("has no inputs in that range"),
        "{none:?}"
    );
    assert_eq!(judge("right", &[]).code, Some(0));
    let ran = judge("wrong", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("determinism"), "{ran:?}");
    let findings = judging.findings();
    assert!(
        !findings.is_empty() && findings.iter().all(|name| name.starts_with("wrong.")),
        "{findings:?}"
    );
}

#[test]
fn a_known_issue_is_counted_and_not_told() {
    let Some(judging) = Judging::of("last_element") else {
        return;
    };
    judging.context.write(
        "known-issues.toml",
        "[[issue]]\napi = \"wrong.*\"\noracle = \"kernel-path\"\n\
         link = \"https://example.org/1\"\nexpires = 2999-01-01\n",
    );
    let ran = judging.fuzz(&["--oracles", "kernel-path", "--judge-share", "all"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("silenced by known issues"), "{ran:?}");
    assert!(judging.findings().is_empty());
}

#[test]
fn an_oracle_or_profile_that_does_not_exist_is_a_usage_error() {
    let context = TestContext::new();
    for (typed, meant) in [
        ("nonfinit", "nonfinite"),
        ("layuot", "layout"),
        ("refrence64", "reference64"),
        ("gradient-nonfinit", "gradient_nonfinite"),
    ] {
        let ran = run(context.command().args(["oracles", typed]));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("did you mean {meant}")),
            "{ran:?}"
        );
    }
    let ran = run(context.command().args(["oracles", "hidden-nonfinite"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let context = TestContext::new();
    let ran = run(context
        .fuzz_planted(&["fine"])
        .args(["--oracles", "layuot"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("did you mean layout?"), "{ran:?}");
    let ran = run(context
        .fuzz_planted(&["fine"])
        .args(["--profile", "weekly"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("smoke, ci, nightly, forever"),
        "{ran:?}"
    );
}

#[test]
fn why_an_oracle_cannot_run_is_told_before_and_after_the_run_and_to_who_asks() {
    let context = TestContext::new();
    let ran = run(context.fuzz_planted(&["fine"]).args([
        "--oracles",
        "meta,determinism",
        "--max-iter",
        "20",
    ]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let warning = "warning: meta cannot run here: it is for torch only";
    assert!(ran.stderr.contains(warning), "{ran:?}");
    let line = "not run: meta (it is for torch only)";
    assert!(ran.stdout.contains(line), "{ran:?}");

    // Nobody asked for it by name.
    let ran = run(context.fuzz_planted(&["fine"]).args(["--max-iter", "20"]));
    assert!(!ran.stderr.contains("cannot run here"), "{ran:?}");
    assert!(ran.stdout.contains("not run: "), "{ran:?}");

    let mut command = context.command();
    command.args(["oracles", "--library", "json"]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("With json "), "{ran:?}");
    let line = "jit cannot run here: it is for torch only";
    assert!(ran.stdout.contains(line), "{ran:?}");
}

#[test]
fn what_is_accepted_or_rejected_against_a_trusted_spec_is_made_small() {
    let context = TestContext::new();
    // `fine` takes any number, `reject` refuses 7, which its file allows.
    let ran = run(context.fuzz_planted(&["fine", "reject"]).args([
        "--oracles",
        "acceptance,rejection",
        "--trust-specs",
        "--mutate-p",
        "0",
        "--max-iter",
        "200",
    ]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let findings = names(&context.path("out/findings"));
    let broken = findings
        .iter()
        .find(|name| name.starts_with("planted.fine-wrong-result-number_of_dim"))
        .unwrap_or_else(|| panic!("{findings:?}: {ran:?}"));
    let text = |finding: &str, file: &str| {
        let path = context.path(&format!("out/findings/{finding}/{file}"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    };
    // A list with an element is more than it takes to be no number.
    let script = text(broken, "reproduce.py");
    assert!(script.contains("{\"x\": []}"), "{script}");
    assert_ne!(text(broken, "unshrunk.json"), text(broken, "input.json"));
    let refused = findings
        .iter()
        .find(|name| name.starts_with("planted.reject-wrong-result-ValueError"))
        .unwrap_or_else(|| panic!("{findings:?}: {ran:?}"));
    assert!(text(refused, "issue.md").contains("x must not be 7"));
    for finding in [broken, refused] {
        let json = text(finding, "finding.json");
        assert!(!json.contains("It was not made smaller"), "{json}");
    }
}
