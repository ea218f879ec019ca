//! What other programs read, and that nothing a run brings can do harm in it.

#[path = "support/made_run.rs"]
mod made_run;

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

/// The schema is the one that OASIS publishes.
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
    let schema = sarif_schema();
    assert_eq!(complaints(&schema, &sarif), [""; 0]);
    let mut wrong = sarif;
    wrong["runs"][0]["results"][0]["level"] = "awful".into();
    assert!(!complaints(&schema, &wrong).is_empty());
}

fn sarif_schema() -> Value {
    let path = fissure_testing::root().join("testdata/schemas/sarif-2.1.0.json");
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // As published it has a bracket too many, which is no regular expression for this validator.
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    schema
}

#[test]
fn junit_has_a_failed_case_for_each_finding_and_reads_back() {
    let run = run();
    let text = export::junit(&run);
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut failures, mut declared, mut hostile, mut inside) = (0, 0, String::new(), false);
    loop {
        use quick_xml::events::Event;
        let attribute = |start: &quick_xml::events::BytesStart, name: &str| {
            let value = start.try_get_attribute(name).unwrap().unwrap();
            value
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .unwrap()
                .into_owned()
        };
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(start) => match start.name().as_ref() {
                b"failure" => failures += 1,
                b"testsuite" => declared = attribute(&start, "failures").parse().unwrap(),
                b"testcase" => inside = attribute(&start, "name") == "hostile",
                _ => {}
            },
            Event::Text(text) if inside => hostile += &text.decode().unwrap(),
            Event::GeneralRef(name) if inside => {
                hostile += match &*name.decode().unwrap() {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    _ => "",
                }
            }
            _ => {}
        }
    }
    assert_eq!(failures, run.totals.findings);
    assert_eq!(declared, run.totals.findings);
    assert!(hostile.contains("</script>"), "{hostile}");
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
