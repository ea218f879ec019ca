//! SARIF 2.1.0, as code-scanning services read it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString,
    PhysicalLocation, PropertyBag, Region, ReportingDescriptor, Result as SarifResult, ResultLevel,
    Run as SarifRun, SCHEMA_URL, Sarif, Tool, ToolComponent,
};

use crate::run::{Level, ReportedFinding, Run, RunState};

/// The name of our fingerprint; its number changes when the signatures of findings do.
const FINGERPRINT: &str = "fissureSignature/v1";

pub fn sarif(run: &Run) -> String {
    let driver = ToolComponent::builder()
        .name("Fissure")
        .version(env!("CARGO_PKG_VERSION").to_owned())
        .rules(rules(run))
        .build();
    let mut properties = BTreeMap::new();
    properties.insert("library".to_owned(), json!(run.info.library));
    properties.insert("libraryVersion".to_owned(), json!(run.info.library_version));
    properties.insert("pythonVersion".to_owned(), json!(run.info.python_version));
    let run_entry = SarifRun::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations(vec![
            Invocation::builder()
                .command_line(run.info.command.clone())
                .execution_successful(run.info.state != RunState::Unfinished)
                .build(),
        ])
        .results(run.findings.iter().map(result).collect::<Vec<_>>())
        .properties(
            PropertyBag::builder()
                .additional_properties(properties)
                .build(),
        )
        .build();
    let log = Sarif::builder()
        .schema(SCHEMA_URL.to_owned())
        .version(json!("2.1.0"))
        .runs(vec![run_entry])
        .build();
    let mut text = serde_json::to_string_pretty(&log).expect("plain data always serialises");
    text.push('\n');
    text
}

/// One rule per oracle and kind of failure.
fn rule_id(finding: &ReportedFinding) -> String {
    format!("{}/{}", finding.kind, finding.oracle)
}

fn rules(run: &Run) -> Vec<ReportingDescriptor> {
    let used: BTreeSet<(String, &str, &str)> = run
        .findings
        .iter()
        .map(|finding| (rule_id(finding), &*finding.kind, &*finding.oracle))
        .collect();
    used.into_iter()
        .map(|(id, kind, oracle)| {
            let text = format!("{} shown by the oracle {oracle}", kind.replace('-', " "));
            ReportingDescriptor::builder()
                .id(id)
                .name(oracle.to_owned())
                .short_description(MultiformatMessageString::builder().text(text).build())
                .build()
        })
        .collect()
}

fn result(finding: &ReportedFinding) -> SarifResult {
    let level = match finding.level {
        Level::Error => ResultLevel::Error,
        Level::Warning => ResultLevel::Warning,
        Level::Note => ResultLevel::Note,
    };
    let mut fingerprints = BTreeMap::new();
    fingerprints.insert(FINGERPRINT.to_owned(), finding.fingerprint.clone());
    let mut properties = BTreeMap::new();
    properties.insert("id".to_owned(), json!(finding.id));
    properties.insert("note".to_owned(), json!(finding.note));
    properties.insert("flaky".to_owned(), json!(finding.flaky));
    if let Some(fix) = &finding.fix {
        properties.insert("fix".to_owned(), json!(fix.diff));
    }
    SarifResult::builder()
        .rule_id(rule_id(finding))
        .level(level)
        .message(
            Message::builder()
                .text(format!(
                    "{}\n\n{}\n\nobserved: {}\nexpected: {}",
                    finding.title, finding.call, finding.observed, finding.expected
                ))
                .build(),
        )
        .locations(vec![location(finding)])
        .partial_fingerprints(fingerprints)
        .properties(
            PropertyBag::builder()
                .additional_properties(properties)
                .build(),
        )
        .build()
}

/// Where a reader looks: the line of the user's program, or the script that shows the failure.
fn location(finding: &ReportedFinding) -> Location {
    let (file, line) = match &finding.location {
        Some(place) => (place.file.clone(), place.line.max(1)),
        None => (format!("{}/reproduce.py", finding.folder), 1),
    };
    let region = Region::builder()
        .start_line(i64::try_from(line).unwrap_or(1))
        .build();
    Location::builder()
        .physical_location(
            PhysicalLocation::builder()
                .artifact_location(ArtifactLocation::builder().uri(uri(&file)).build())
                .region(region)
                .build(),
        )
        .logical_locations(vec![
            LogicalLocation::builder()
                .fully_qualified_name(finding.api.clone())
                .kind("function".to_owned())
                .build(),
        ])
        .build()
}

/// A path as a reference of a URI.
fn uri(path: &str) -> String {
    let mut text = String::new();
    if path.starts_with('/') {
        text.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(
            uri("findings/a b/reproduce.py"),
            "findings/a%20b/reproduce.py"
        );
        assert_eq!(uri("/x/ü.py"), "file:///x/%C3%BC.py");
    }
}
