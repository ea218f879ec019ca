//! One failure that several APIs lead to is one finding.

use std::collections::BTreeMap;

use fissure_model::Finding;

use crate::collector::owns_before;
use crate::signature::Signature;

/// Pairs of positions: a finding, and the one that it turned out to be.
///
/// A run tells a failure as that of the API that met it first, and shards know nothing of each
/// other. In the end it belongs to the API with the shortest name, whatever came first. Notes are
/// left alone: what did not fail again proves nothing about another API.
pub fn fold(findings: &[Finding]) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        if finding.is_note() {
            continue;
        }
        if let Some(place) = Signature::of_finding(finding).place() {
            places.entry(place).or_default().push(at);
        }
    }
    let mut folded = Vec::new();
    for met in places.into_values() {
        let owner = met.iter().copied().reduce(|a, b| {
            let (first, second) = (&findings[a], &findings[b]);
            let earlier = owns_before(&second.api.path, &first.api.path)
                || (second.api.path == first.api.path && second.id < first.id);
            if earlier { b } else { a }
        });
        let Some(owner) = owner else { continue };
        let others = met
            .into_iter()
            .filter(|at| findings[*at].api.path != findings[owner].api.path);
        folded.extend(others.map(|at| (at, owner)));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::{
        Api, ConcreteInput, Confidence, Execution, Intent, Outcome, OutcomeKind, Verdict,
    };

    fn finding(path: &str, native: &[&str], note: bool) -> Finding {
        let mut signature = format!("api {path}\nkind crash\ndetail SIGSEGV");
        for frame in native {
            signature += &format!("\nnative {frame}");
        }
        Finding {
            id: format!("{path}-crash"),
            api: Api {
                path: path.into(),
                title: path.into(),
                ..Api::default()
            },
            verdict: Verdict {
                kind: OutcomeKind::Crash,
                oracle: "fatal-signal".into(),
                confidence: Confidence::Crash,
                detail: "SIGSEGV".into(),
                note,
            },
            signature,
            input: ConcreteInput {
                number: 0,
                arguments: vec![],
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: vec![],
            },
            unshrunk: None,
            unshrunk_reports: Vec::new(),
            roles: vec![],
            also_through: vec![],
            remarks: vec![],
            environment: vec![],
            execution: Execution::new(0, Outcome::Crash { signal: 11 }, Default::default()),
            reproduction: None,
            library_version: String::new(),
            python_version: String::new(),
            seed: 0,
        }
    }

    #[test]
    fn the_shortest_name_keeps_a_failure_that_several_lead_to() {
        let frames = ["at::native::relu", "at::relu"];
        let findings = [
            finding("torch.nn.functional.relu", &frames, false),
            finding("torch.relu", &frames, false),
            finding("torch.add", &["at::native::add", "at::add"], false),
        ];
        assert_eq!(fold(&findings), [(0, 1)]);
        let reversed: Vec<Finding> = findings.into_iter().rev().collect();
        assert_eq!(fold(&reversed), [(2, 1)]);
    }

    #[test]
    fn notes_and_failures_at_no_known_place_are_left_alone() {
        let frames = ["at::native::relu", "at::relu"];
        let findings = [
            finding("torch.nn.functional.relu", &frames, false),
            finding("torch.relu", &frames, true),
            finding("torch.add", &["one frame"], false),
            finding("torch.sub", &["one frame"], false),
        ];
        assert_eq!(fold(&findings), []);
    }
}
