//! `fissure fuzz` sees every planted failure, says what it is, and loses nothing else.

mod support;

use serde_json::Value;
use support::{TestContext, names, run};

/// Every planted function that misbehaves, and how it must be counted.
const PLANTED: &[(&str, &str)] = &[
    ("segv", "crash"),
    ("abort", "crash"),
    ("fpe", "crash"),
    ("bus", "crash"),
    ("ill", "crash"),
    ("handler_exit", "crash"),
    ("crash_in_destructor", "crash"),
    ("Layer", "crash"),
    ("plain_exit", "exit"),
    ("hang", "timeout"),
    ("endless_flood", "timeout"),
    ("memory_hog", "out-of-memory"),
    ("hog_in_child", "out-of-memory"),
    ("system_exit", "fatal"),
    ("endless_recursion", "fatal"),
    ("internal_assert", "internal-error"),
    ("not_a_number", "nan"),
];

/// Functions that do something unpleasant which is no failure of theirs.
const HARMLESS: &[&str] = &[
    "fine",
    "reject",
    "output_flood",
    "close_descriptors",
    "leave_children",
    "fork_and_return",
    "undecodable_text",
    "huge_text",
    "unprintable_exception",
    "sticky_result",
    "write_inside",
];

const INPUTS: u64 = 120;

fn summary(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn every_planted_failure_is_found_classified_and_confirmed_and_no_input_is_lost() {
    let context = TestContext::new();
    let planted: Vec<&str> = PLANTED.iter().map(|(name, _)| *name).collect();
    let ran = run(context.fuzz_planted(&planted).args([
        "--mode",
        "conform",
        "--mutate-p",
        "0",
        "--max-iter",
        &INPUTS.to_string(),
        "--max-hangs",
        "1000",
        "--timeout",
        "1",
        "--memory-limit",
        "200",
        "--json",
    ]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let summary = summary(&ran.stdout);
    for (name, kind) in PLANTED {
        let title = format!("planted.{name}");
        let api = summary["apis"]
            .as_array()
            .unwrap()
            .iter()
            .find(|api| api["api"]["title"] == title.as_str())
            .unwrap_or_else(|| panic!("{title} is missing: {ran:?}"));
        assert_eq!(api["tally"]["inputs"], INPUTS, "{title}: {api}");
        let ids: Vec<String> = serde_json::from_value(api["findings"].clone()).unwrap();
        let wanted = format!("{title}-{kind}-");
        assert_eq!(
            ids.len(),
            1,
            "{title} is one failure: {ids:?}\n{}",
            ran.stderr
        );
        assert!(ids[0].starts_with(&wanted), "{ids:?} is no {wanted}");
        let folder = context.path("out/findings").join(&ids[0]);
        let files = names(&folder);
        for file in support::FINDING_FILES {
            assert!(files.iter().any(|name| name == file), "{title}: {files:?}");
        }
        let finding: Value =
            serde_json::from_slice(&std::fs::read(folder.join("finding.json")).unwrap()).unwrap();
        assert!(
            finding["reproduction"]["failures"].as_u64().unwrap() >= 1,
            "{title} was confirmed: {finding}"
        );
        let input = std::fs::read_to_string(folder.join("input.json")).unwrap();
        assert!(
            input.contains('7'),
            "{title} is attributed to the input that triggers it: {input}"
        );
    }
}

#[test]
fn unpleasant_but_correct_functions_give_no_finding() {
    let context = TestContext::new();
    let ran = run(context.fuzz_planted(HARMLESS).args([
        // Text that is none is a failure of its own kind: see the next test.
        "--oracles",
        "-message",
        "--mode",
        "conform",
        "--mutate-p",
        "0",
        "--max-iter",
        &INPUTS.to_string(),
        "--json",
    ]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let summary = summary(&ran.stdout);
    for api in summary["apis"].as_array().unwrap() {
        assert_eq!(api["tally"]["inputs"], INPUTS, "{api}");
    }
    assert_eq!(summary["apis"].as_array().unwrap().len(), HARMLESS.len());
    assert_eq!(summary["findings"], 0);
}

#[test]
fn a_message_that_is_no_text_is_one_finding() {
    let context = TestContext::new();
    let ran = run(context.fuzz_planted(&["undecodable_text", "reject"]).args([
        "--max-iter",
        "400",
        "--oracles",
        "message",
        "--json",
    ]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let findings = names(&context.path("out/findings"));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0].starts_with("planted.undecodable_text-wrong-result"),
        "{findings:?}"
    );
}

#[test]
fn a_function_that_hangs_every_time_is_left_after_some_hangs() {
    let context = TestContext::new();
    let spec = std::fs::read_to_string(support::planted().join("specs/planted.hang.yaml")).unwrap();
    let spec = context.write(
        "always.yaml",
        &spec
            .lines()
            .map(|line| {
                if line.trim_start().starts_with("- '[") {
                    "      - '[7,7]'\n".to_owned()
                } else {
                    format!("{line}\n")
                }
            })
            .collect::<String>(),
    );
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(&spec)
        .args(["--workdir", "out", "--mode", "conform", "--mutate-p", "0"])
        .args([
            "--timeout",
            "0.2",
            "--max-hangs",
            "3",
            "--max-iter",
            "500",
            "--json",
        ])
        .arg("--pythonpath")
        .arg(support::planted()));
    let summary = summary(&ran.stdout);
    assert_eq!(summary["apis"][0]["end"], "too-many-hangs", "{ran:?}");
}
