//! SARIF 2.1.0, as code-scanning services read it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Level, ReportedFinding, Run, RunState};

/// The name of our fingerprint; its number changes when the signatures of findings do.
const FINGERPRINT: &str = "fissureSignature/v1";
const SCHEMA_URL: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The base of paths that are given from the root of the repository.
const ROOT: &str = "%SRCROOT%";

pub fn sarif(run: &Run) -> String {
    let log = json!({
        "$schema": SCHEMA_URL,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Fissure",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(run),
            }},
            "invocations": [{
                "commandLine": run.info.command,
                "executionSuccessful": run.info.state != RunState::Unfinished,
            }],
            "results": run.findings.iter().map(|finding| result(run, finding)).collect::<Vec<_>>(),
            "properties": {
                "library": run.info.library,
                "libraryVersion": run.info.library_version,
                "pythonVersion": run.info.python_version,
            },
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("plain data always serialises");
    text.push('\n');
    text
}

/// One rule per oracle and kind of failure.
fn rule_id(finding: &ReportedFinding) -> String {
    format!("{}/{}", finding.kind, finding.oracle)
}

fn rules(run: &Run) -> Vec<Value> {
    let used: BTreeSet<(String, &str, &str)> = run
        .findings
        .iter()
        .map(|finding| (rule_id(finding), &*finding.kind, &*finding.oracle))
        .collect();
    used.into_iter()
        .map(|(id, kind, oracle)| {
            let text = format!("{} shown by the oracle {oracle}", kind.replace('-', " "));
            json!({ "id": id, "name": oracle, "shortDescription": { "text": text } })
        })
        .collect()
}

fn result(run: &Run, finding: &ReportedFinding) -> Value {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let mut properties = json!({
        "id": finding.id,
        "note": finding.note,
        "flaky": finding.flaky,
    });
    let mut fixes = Vec::new();
    if let Some(fix) = &finding.fix {
        properties["fix"] = json!(fix.diff);
        if let Some(place) = &finding.location {
            let replacements = if is_of(&fix.diff, &place.file) {
                replacements(&fix.diff)
            } else {
                Vec::new()
            };
            if !replacements.is_empty() {
                fixes.push(json!({
                    "description": { "text": fix.title },
                    "artifactChanges": [{
                        "artifactLocation": artifact(&place.file),
                        "replacements": replacements,
                    }],
                }));
            }
        }
    }
    let mut result = json!({
        "ruleId": rule_id(finding),
        "level": level,
        "message": { "text": format!(
            "{}\n\n{}\n\nobserved: {}\nexpected: {}",
            finding.title, finding.lead(), finding.observed, finding.expected
        )},
        "locations": [location(run, finding)],
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        "properties": properties,
    });
    if !fixes.is_empty() {
        result["fixes"] = json!(fixes);
    }
    result
}

/// Where a reader looks: the line of the user's program, or the script that shows the failure.
fn location(run: &Run, finding: &ReportedFinding) -> Value {
    let (artifact, line) = match &finding.location {
        Some(place) => (artifact(&place.file), place.line.max(1)),
        None => {
            let script = format!("{}/reproduce.py", finding.folder);
            let artifact = match in_repository(&run.info.folder.join(&script)) {
                Some(path) => json!({ "uri": uri(&path), "uriBaseId": ROOT }),
                None => json!({ "uri": uri(&script) }),
            };
            (artifact, 1)
        }
    };
    json!({
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": { "startLine": line },
        },
        "logicalLocations": [{ "fullyQualifiedName": finding.api, "kind": "function" }],
    })
}

/// A file as code-scanning services want it: from the root of its repository.
fn artifact(file: &str) -> Value {
    match in_repository(Path::new(file)) {
        Some(path) => json!({ "uri": uri(&path), "uriBaseId": ROOT }),
        None => json!({ "uri": uri(file) }),
    }
}

/// The path from the root of the repository that a file lies in, if it lies in one.
fn in_repository(file: &Path) -> Option<String> {
    let file = plain(&std::path::absolute(file).ok()?);
    let root = file
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists())?;
    file.exists()
        .then(|| file.strip_prefix(root).ok()?.to_str().map(str::to_owned))?
}

/// Without `.` and `..`, by the text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// A file from the root of its repository, else as it was given.
pub(super) fn in_checkout(file: &str) -> String {
    in_repository(Path::new(file)).unwrap_or_else(|| file.to_owned())
}

/// Whether a diff is of this file and no other.
fn is_of(diff: &str, file: &str) -> bool {
    let mut named = diff.lines().filter_map(|line| line.strip_prefix("--- a/"));
    matches!((named.next(), named.next()), (Some(name), None) if Path::new(file).ends_with(name))
}

/// The hunks of a unified diff as replacements of whole lines.
fn replacements(diff: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(start) = hunk(line) else {
            continue;
        };
        let mut at = start.max(1);
        // Context stays as it is: only runs of changed lines are replaced.
        while let Some(body) = lines.next_if(|body| !body.starts_with("@@")) {
            if !body.starts_with(['-', '+']) {
                at += usize::from(body.starts_with(' '));
                continue;
            }
            let (mut removed, mut inserted) = (0, String::new());
            let mut take = |body: &str| match body.strip_prefix('+') {
                Some(text) => inserted.push_str(&format!("{text}\n")),
                None => removed += 1,
            };
            take(body);
            while let Some(body) = lines.next_if(|body| body.starts_with(['-', '+'])) {
                take(body);
            }
            // The start of a line up to the start of the first that stays.
            found.push(json!({
                "deletedRegion": {
                    "startLine": at, "startColumn": 1,
                    "endLine": at + removed, "endColumn": 1,
                },
                "insertedContent": { "text": inserted },
            }));
            at += removed;
        }
    }
    found
}

/// The first line of the old text: 10 of `@@ -10,7 +10,8 @@`.
fn hunk(line: &str) -> Option<usize> {
    let old = line.strip_prefix("@@ -")?;
    old.split([',', ' ']).next()?.parse().ok()
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

    #[test]
    fn files_of_a_repository_are_named_from_its_root() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("src/model.py");
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        std::fs::write(&inside, "").unwrap();
        assert_eq!(in_repository(&inside), None);
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(in_repository(&inside).as_deref(), Some("src/model.py"));
        let around = folder.path().join("src/../src/./model.py");
        assert_eq!(in_repository(&around).as_deref(), Some("src/model.py"));
    }

    #[test]
    fn a_diff_of_another_file_changes_nothing_in_this_one() {
        let diff = "--- a/src/x.py\n+++ b/src/x.py\n@@ -4,1 +4,1 @@\n-two\n+TWO\n";
        assert!(is_of(diff, "/home/me/project/src/x.py"));
        assert!(!is_of(diff, "/home/me/project/src/y.py"));
        assert!(!is_of(
            &format!("{diff}{diff}"),
            "/home/me/project/src/x.py"
        ));
    }

    #[test]
    fn a_diff_becomes_replacements_of_its_changed_lines_alone() {
        let diff = "--- a/x.py\n+++ b/x.py\n@@ -4,5 +4,6 @@\n one\n-two\n+TWO\n three\n four\n+and\n five\n";
        assert_eq!(
            json!(replacements(diff)),
            json!([
                { "deletedRegion": { "startLine": 5, "startColumn": 1, "endLine": 6, "endColumn": 1 },
                  "insertedContent": { "text": "TWO\n" } },
                { "deletedRegion": { "startLine": 8, "startColumn": 1, "endLine": 8, "endColumn": 1 },
                  "insertedContent": { "text": "and\n" } },
            ])
        );
    }
}
