//! What is typed by somebody who does not know better: refused in time, with the words that help.

mod support;

use support::{Ran, TestContext, run};

const SMALL: &str = "def shift(n: int):\n    return n + 1\n";

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let said = ran.stdout.clone() + &ran.stderr;
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_module_is_told_with_what_can_be_fuzzed_in_it() {
    let context = TestContext::new();
    context.write("small.py", SMALL);
    let fuzz = |name: &str| {
        let words = ["fuzz", name, "--max-iter", "5", "--python", "python3"];
        run(context.command().args(words))
    };
    refused(
        &fuzz("small"),
        &["what is in it is: small.shift", "fissure apis small"],
    );
    assert_eq!(fuzz("small.shift").code, Some(0));
    // The name is said once, and no kind of exception with it.
    let missing = fuzz("small.shfit");
    refused(&missing, &["did you mean small.shift"]);
    assert_eq!(
        missing.stderr.matches("there is no small.shfit").count(),
        1,
        "{missing:?}"
    );
    assert!(!missing.stderr.contains("AttributeError"), "{missing:?}");
}

#[test]
fn an_import_that_fails_is_told_from_the_users_file_on() {
    let context = TestContext::new();
    context.write("broken.py", "def f(:\n    pass\n");
    let ran = run(context
        .command()
        .args(["fuzz", "broken.f", "--python", "python3"]));
    refused(&ran, &["broken.py", "line 1", "SyntaxError"]);
    assert!(!ran.stderr.contains("importlib"), "{ran:?}");
}

#[test]
fn files_that_are_no_programs_are_refused_before_anything_is_made() {
    let context = TestContext::new();
    context.write("notes.txt", "just some words\n");
    context.write("bytes.py", "x = 1\0\n");
    let try_it = |command: &str, file: &str| run(context.command().args([command, file]));
    refused(&try_it("scan", "bytes.py"), &["it is not text"]);
    refused(&try_it("scan", "notes.txt"), &["is no Python program"]);
    refused(
        &try_it("fuzz", "notes.txt"),
        &["this is no constraint file"],
    );
}

#[test]
fn mistyped_words_of_the_command_line_name_what_was_meant() {
    let context = TestContext::new();
    let try_it = |words: &[&str]| run(context.command().args(words));
    refused(&try_it(&["help", "fuz"]), &["did you mean fuzz"]);
    refused(
        &try_it(&["train", "torch.lgo"]),
        &["did you mean torch.log"],
    );
    // Before a library is looked for.
    let profile = try_it(&["campaign", "nowhere", "--profile", "smok"]);
    refused(&profile, &["smoke"]);
    assert!(!profile.stderr.contains("interpreter"), "{profile:?}");
}

#[test]
fn two_runs_of_the_same_second_have_a_folder_each_and_refused_ones_leave_none() {
    let context = TestContext::new();
    context.write("small.py", SMALL);
    let begin = |name: &str| {
        let words = [
            "fuzz",
            name,
            "--max-iter",
            "40",
            "--quiet",
            "--python",
            "python3",
        ];
        context.command().args(words).spawn().unwrap()
    };
    let mut both = [begin("small.shift"), begin("small.shift")];
    for one in &mut both {
        assert!(one.wait().unwrap().success());
    }
    let runs = || {
        let folders = support::names(&context.path("fissure-out"));
        folders
            .into_iter()
            .filter(|name| name.starts_with("fuzz"))
            .count()
    };
    assert_eq!(runs(), 2);
    let mistyped = begin("smll.shift").wait().unwrap();
    assert_eq!((mistyped.code(), runs()), (Some(2), 2));
}

#[test]
fn a_run_whose_inputs_were_judged_is_still_the_run_that_it_was() {
    let context = TestContext::new();
    context.write("small.py", SMALL);
    let try_it = |words: &[&str]| {
        let ran = run(context.command().args(words).args(["--quiet"]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    let python = ["--python", "python3"];
    let fuzz = [
        "fuzz",
        "small.shift",
        "--max-iter",
        "60",
        "--save",
        "--output",
        "out",
    ];
    try_it(&[&fuzz[..], &python].concat());
    try_it(&[&["judge", "out", "--from", "3", "--to", "20"][..], &python].concat());
    let header = std::fs::read_to_string(context.path("out/run.json")).unwrap();
    assert!(
        header.contains("max-iter") && !header.contains("judge"),
        "{header}"
    );
    try_it(&["fuzz", "--resume", "out"]);
    let summary = std::fs::read_to_string(context.path("out/summary.json")).unwrap();
    assert!(
        summary.contains("\"inputs\":60") || summary.contains("\"inputs\": 60"),
        "{summary}"
    );
}

#[test]
fn a_function_of_a_module_is_scanned_by_the_name_that_fuzz_takes() {
    let Some(python) = fissure_testing::library_python("numpy", "numpy==2.4.6") else {
        return;
    };
    let context = TestContext::new();
    context.write(
        "losses.py",
        "import numpy as np\n\n\ndef log_loss(p: np.ndarray):\n    return np.log(p).mean()\n",
    );
    let scan = |name: &str| {
        let words = [
            "scan",
            name,
            "--total-time",
            "10s",
            "--output",
            "out",
            "--python",
        ];
        run(context.command().args(words).arg(&python))
    };
    let ran = scan("losses.log_loss");
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    assert!(ran.stdout.contains("losses.py:5 log"), "{ran:?}");
    refused(&scan("losses.log_los"), &["log_los"]);
}
