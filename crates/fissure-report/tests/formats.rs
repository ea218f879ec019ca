//! What other programs read, and that nothing a run brings can do harm in it.

#[path = "support/made_run.rs"]
mod made_run;

use std::process::Command;

use fissure_report::run::{Run, RunReader};
use fissure_report::{export, html};
use made_run::{HOSTILE, MadeRun, hostile_finding, tell};
use serde_json::Value;

/// A run with ordinary findings and a hostile one.
fn run() -> Run {
    let folder = tempfile::tempdir().unwrap();
    let made = MadeRun {
        apis: 3,
        batches: 30,
        findings: 12,
    };
    made.write(folder.path());
    let finding = hostile_finding();
    fissure_triage::write_finding(&folder.path().join("findings"), &finding).unwrap();
    tell(folder.path(), &finding);
    let run = RunReader::open(folder.path()).unwrap().into_run();
    assert!(run.finding("hostile").is_some());
    run
}

fn complaints(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_json_report_is_as_its_schema_says() {
    let path = fissure_testing::root().join("docs/report-schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let report: Value = serde_json::from_str(&export::json(&run())).unwrap();
    assert_eq!(complaints(&schema, &report), [""; 0]);
    let mut wrong = report;
    wrong["findings"][0]["level"] = "awful".into();
    assert!(
        !complaints(&schema, &wrong).is_empty(),
        "the schema says something"
    );
}

/// The schema comes with the crate that writes the format.
#[test]
fn sarif_is_valid_and_its_fingerprints_are_stable() {
    let sarif: Value = serde_json::from_str(&export::sarif(&run())).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 13);
    let again: Value = serde_json::from_str(&export::sarif(&run())).unwrap();
    let fingerprints = |log: &Value| -> Vec<Value> {
        let results = log["runs"][0]["results"].as_array().unwrap();
        results
            .iter()
            .map(|one| one["partialFingerprints"].clone())
            .collect()
    };
    assert_eq!(fingerprints(&sarif), fingerprints(&again));
    let distinct: std::collections::HashSet<String> =
        fingerprints(&sarif).iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 13);
    let Some(schema) = sarif_schema() else { return };
    assert_eq!(complaints(&schema, &sarif), [""; 0]);
    let mut wrong = sarif;
    wrong["runs"][0]["results"][0]["level"] = "awful".into();
    assert!(!complaints(&schema, &wrong).is_empty());
}

fn sarif_schema() -> Option<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .current_dir(fissure_testing::root())
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(output) = output else {
        fissure_testing::say("cargo metadata does not work here: SARIF's schema is not looked at");
        return None;
    };
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let package = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|package| package["name"] == "serde-sarif")
        .unwrap();
    let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap());
    let path = manifest.with_file_name("src").join("schema.json");
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

#[test]
fn junit_has_a_failed_case_for_each_finding_and_reads_back() {
    let run = run();
    let report = quick_junit::Report::deserialize_from_str(&export::junit(&run)).unwrap();
    assert_eq!(report.failures as u64, run.totals.findings);
    let case = report.test_suites[0]
        .test_cases
        .iter()
        .find(|case| case.name.as_str() == "hostile")
        .unwrap();
    assert!(
        case.system_out
            .as_ref()
            .unwrap()
            .as_str()
            .contains("</script>")
    );
}

#[test]
fn in_the_page_hostile_text_is_only_text() {
    let page = html::page(&run());
    assert!(!page.contains(HOSTILE));
    assert!(!page.contains("<img"));
    assert_eq!(
        page.matches("<script").count(),
        3,
        "the lists, one part of the texts and the program"
    );
    assert_eq!(page.matches("</script").count(), 3);
    for outside in ["http://", "https://", "//cdn", "@import", "src=\""] {
        let page = page.replace("http://www.w3.org/2000/svg", "");
        let markup = page.split("<script type").next().unwrap();
        assert!(!markup.contains(outside), "{outside}");
    }
    let parts = serde_json::to_string(&html::live_parts(&run())).unwrap();
    assert!(!parts.contains("<script") && !parts.contains("<img"));
}

#[test]
fn in_markdown_and_annotations_hostile_text_is_only_text() {
    let run = run();
    let markdown = export::markdown(&run);
    let outside_of_fences: String = markdown
        .split("```")
        .step_by(2)
        .flat_map(|text| text.split('`').step_by(2))
        .collect();
    assert!(
        !outside_of_fences.contains("<script"),
        "{outside_of_fences}"
    );
    assert!(markdown.len() < 65_536);
    let annotations = export::github(&run);
    assert_eq!(annotations.lines().count() as u64, run.totals.findings);
    assert!(annotations.lines().all(|line| line.starts_with("::")));
}
