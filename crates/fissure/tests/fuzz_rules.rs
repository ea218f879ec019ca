//! `fissure fuzz API`: inputs from rule files, found by the API's name.

mod support;

use serde_json::Value;
use support::{TestContext, names, planted, run};

const SEGV: &str = "\
api planted.segv
library planted 1.0
param x: int
rule small: 0 <= x and x <= 10
rule seven: x != 7
";

fn fuzz(context: &TestContext, targets: &[&str]) -> std::process::Command {
    let mut command = context.command();
    command.arg("fuzz").args(targets).arg("--pythonpath");
    command
        .arg(planted())
        .args(["--workdir", "out", "--json", "--max-iter", "300"]);
    command
}

fn read(context: &TestContext, file: &str) -> Value {
    let text = std::fs::read_to_string(context.path(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn rules_in_the_folder_are_found_by_name_and_a_broken_one_is_named_in_the_finding() {
    let context = TestContext::new();
    context.write("invariants/planted.segv.rules", SEGV);
    let quiet = run(fuzz(&context, &["planted.segv"]).args(["--mode", "conform"]));
    assert_eq!(
        quiet.code,
        Some(0),
        "no input that the rules allow crashes: {quiet:?}"
    );
    assert!(
        quiet.stderr.contains(
            "rules of planted.segv from invariants/planted.segv.rules (learned with planted 1.0)"
        ),
        "{}",
        quiet.stderr
    );
    let summary: Value = serde_json::from_str(&quiet.stdout).unwrap();
    assert_eq!(summary["apis"][0]["tally"]["conforming_accepted"], 300);

    std::fs::remove_dir_all(context.path("out")).unwrap();
    let broken = run(fuzz(&context, &["planted.*"]).args(["--break", "seven", "--no-shrink"]));
    assert_eq!(broken.code, Some(1), "{broken:?}");
    let findings = names(&context.path("out/findings"));
    assert_eq!(findings.len(), 1, "{findings:?}");
    let folder = format!("out/findings/{}", findings[0]);
    let input = read(&context, &format!("{folder}/input.json"));
    assert_eq!(
        input["input"]["intent"]["break_rule"]["rule"], "seven",
        "{input}"
    );
    let finding = read(&context, &format!("{folder}/finding.json"));
    assert!(
        finding["remarks"].to_string().contains("the rule `seven`"),
        "{finding}"
    );
}

#[test]
fn a_rule_file_and_a_constraint_file_hold_together() {
    let context = TestContext::new();
    let rules = context.write(
        "mine.rules",
        "api planted.segv\nparam x: int\nrule even: x % 2 = 0\n",
    );
    let spec = planted().join("specs/planted.segv.yaml");
    let ran = run(fuzz(&context, &[])
        .arg(&spec)
        .arg("--rules")
        .arg(&rules)
        .args(["--mode", "conform", "--save"]));
    assert_eq!(ran.code, Some(0), "7 is odd: {ran:?}");
    let ran = run(
        fuzz(&context, &["planted.segv", "--generator", "constraints"])
            .arg("--specs")
            .arg(planted().join("specs"))
            .args(["--mode", "conform"]),
    );
    assert_eq!(ran.code, Some(1), "without the rules 7 occurs: {ran:?}");
}

#[test]
fn where_file_and_rules_have_nothing_in_common_the_rules_are_used_and_it_is_told() {
    let context = TestContext::new();
    let rules = context.write(
        "mine.rules",
        "api planted.segv\nparam x: int\nrule large: x > 1000000 and x < 2000000\n",
    );
    let spec = planted().join("specs/planted.segv.yaml");
    let ran = run(fuzz(&context, &[])
        .arg(&spec)
        .arg("--rules")
        .arg(&rules)
        .args(["--mode", "conform"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("the rules alone are used"), "{ran:?}");
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["apis"][0]["tally"]["inputs"], 300);
}

#[test]
fn an_api_without_rules_is_fuzzed_from_what_its_library_says_and_random_inputs_do_without() {
    let context = TestContext::new();
    let discovered = run(&mut fuzz(&context, &["planted.segv"]));
    let summary: Value = serde_json::from_str(&discovered.stdout).unwrap();
    let counts = &summary["apis"][0]["tally"]["counts"];
    assert!(
        counts["not-built"].as_u64().unwrap() < 10,
        "no tensors for a library without any, except by mutators: {discovered:?}"
    );
    assert!(counts["accepted"].as_u64().unwrap() > 100, "{discovered:?}");
    let only_rules = run(fuzz(&context, &["planted.segv"]).args(["--generator", "rules"]));
    assert_eq!(only_rules.code, Some(2), "{only_rules:?}");
    assert!(
        only_rules.stderr.contains("fissure learn 'planted.segv'"),
        "{only_rules:?}"
    );
    let wrong = run(&mut fuzz(&context, &["nowhere.rules"]));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let random = run(fuzz(&context, &["planted.fine"]).args(["--generator", "random"]));
    assert_eq!(random.code, Some(0), "{random:?}");
    let summary: Value = serde_json::from_str(&random.stdout).unwrap();
    assert_eq!(summary["apis"][0]["tally"]["inputs"], 300);
    assert_eq!(summary["apis"][0]["tally"]["conforming"], 0);
}

#[test]
fn any_number_of_workers_runs_the_same_inputs_and_a_layer_is_constructed_and_called() {
    let rules = "api planted.Layer\nparam size: int\ncall x: int\n\
                 rule size: 0 <= size and size < 100\nrule x: -50 <= x and x < 6\n";
    let saved = |workers: &str| {
        let context = TestContext::new();
        context.write("invariants/planted.Layer.rules", rules);
        let ran = run(fuzz(&context, &["planted.Layer"]).args(["--save", "--workers", workers]));
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
        let tally = summary["apis"][0]["tally"].clone();
        assert_eq!(tally["conforming"], tally["conforming_accepted"], "{tally}");
        tally
    };
    assert_eq!(saved("1"), saved("3"));
}

#[test]
fn a_wrong_rule_skips_its_api_and_says_where_it_is() {
    let context = TestContext::new();
    context.write(
        "invariants/planted.fine.rules",
        "param x: int\nrule x: x >\n",
    );
    let ran = run(&mut fuzz(&context, &["planted.fine"]));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let told = format!("{summary}{}", ran.stderr);
    assert!(
        told.contains("line 2 of the rules from invariants/planted.fine.rules"),
        "{ran:?}"
    );
}
