//! Failures with one cause are one finding.

use std::collections::{BTreeMap, HashMap};

use fissure_model::Finding;

use crate::cause::{FAULTS, heap, is_corrupted, is_memory_fault, keys_of, speaks_for_others};
use crate::collector::owns_before;

/// Pairs of positions: a finding, and the one that it turned out to be.
///
/// A run tells a failure as that of the API that met it first, and shards know nothing of each
/// other. In the end it belongs to the API with the shortest name and to the surest oracle, whatever
/// came first. Most notes are left alone: what did not fail again proves nothing about another API.
pub fn fold(findings: &[Finding]) -> Vec<(usize, usize)> {
    let mut groups = Groups::new(findings.len());
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, finding) in findings.iter().enumerate() {
        if !speaks_for_others(finding) {
            continue;
        }
        for key in keys_of(finding)
            .into_iter()
            .chain(corrupted(finding, findings))
        {
            let known = *first.entry(key).or_insert(at);
            groups.join(known, at);
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..findings.len() {
        members.entry(groups.root(at)).or_default().push(at);
    }
    let mut folded = Vec::new();
    for met in members.into_values() {
        let owner = met.iter().copied().reduce(|a, b| {
            let (first, second) = (&findings[a], &findings[b]);
            let order = |one: &Finding| (one.verdict.confidence, one.id.clone());
            let earlier = owns_before(&second.api.path, &first.api.path)
                || (second.api.path == first.api.path && order(second) < order(first));
            // A finding is never hidden behind a note.
            let (known, new) = (first.is_note(), second.is_note());
            if known == new && earlier || known && !new {
                b
            } else {
                a
            }
        });
        let Some(owner) = owner else { continue };
        let others = met.into_iter().filter(|at| *at != owner);
        folded.extend(others.map(|at| (at, owner)));
    }
    folded.sort_unstable();
    folded
}

/// The key of an API's memory faults, if one of them shows that the heap is corrupted or there are
/// so many that nothing else explains them.
fn corrupted(finding: &Finding, all: &[Finding]) -> Option<String> {
    let fault = |one: &&Finding| is_memory_fault(&one.verdict, &one.execution);
    fault(&finding).then_some(())?;
    let same = all
        .iter()
        .filter(|one| one.api.path == finding.api.path && !one.is_note())
        .filter(fault);
    let shown = same
        .clone()
        .any(|one| is_corrupted(&one.verdict, &one.execution));
    (shown || same.count() >= FAULTS).then(|| heap(&finding.api))
}

/// Which positions belong together.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Groups {
        Groups((0..count).collect())
    }

    fn root(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
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
            signature,
            ..Finding::new(
                Api {
                    path: path.into(),
                    title: path.into(),
                    ..Api::default()
                },
                Verdict {
                    kind: OutcomeKind::Crash,
                    oracle: "fatal-signal".into(),
                    confidence: Confidence::Crash,
                    detail: "SIGSEGV".into(),
                    note,
                },
                ConcreteInput {
                    number: 0,
                    arguments: vec![],
                    layer_arguments: None,
                    intent: Intent::Conform,
                    mutations: vec![],
                },
                Execution::new(0, Outcome::Crash { signal: 11 }, Default::default()),
            )
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

    fn wrong(path: &str, oracle: &str, detail: &str, also_by: &[(&str, &str)]) -> Finding {
        let mut finding = finding(path, &[], false);
        finding.id = format!("{path}-{oracle}-{detail}");
        finding.verdict.kind = OutcomeKind::WrongResult;
        finding.verdict.oracle = oracle.into();
        finding.verdict.detail = detail.into();
        finding.signature =
            format!("api {path}\nkind wrong-result\ndetail {detail}\noracle {oracle}");
        let pair = |(oracle, detail): &(&str, &str)| ((*oracle).into(), (*detail).into());
        finding.also_by = also_by.iter().map(pair).collect();
        finding
    }

    #[test]
    fn one_defect_through_three_oracles_and_four_forms_is_one_finding_and_two_defects_are_two() {
        let others = [("layout", "transposed: values"), ("forms", "out: values")];
        let mut findings = Vec::new();
        for path in [
            "torch.nn.Foo2d",
            "torch.nn.functional.foo2d",
            "torch.Tensor.foo2d",
            "torch.foo2d_",
        ] {
            findings.push(wrong(path, "reference64", "values", &others));
            findings.push(wrong(path, "layout", "transposed: values", &[]));
            findings.push(wrong(path, "forms", "out: values", &[]));
        }
        let all = findings.len();
        let folded = fold(&findings);
        assert_eq!(folded.len(), all - 1, "{folded:?}");
        assert!(
            folded
                .iter()
                .all(|(_, into)| findings[*into].api.path == "torch.foo2d_")
        );
        findings.push(wrong("torch.foo2d_", "determinism", "values", &[]));
        assert_eq!(
            fold(&findings).len(),
            all - 1,
            "another defect is another finding"
        );
    }

    #[test]
    fn what_memory_that_is_not_its_own_does_to_a_result_is_one_finding() {
        let path = "torch.f";
        let findings = [
            wrong(path, "determinism", "second run: values", &[]),
            wrong(path, "determinism", "second run: nan placement", &[]),
            wrong(path, "uninitialised", "fresh memory: values", &[]),
            wrong(path, "guard", "a forbidden page behind the elements", &[]),
            wrong(path, "determinism", "two threads: values", &[]),
            wrong(path, "layout", "transposed: inf placement", &[]),
            wrong(path, "layout", "channels_last of x: values", &[]),
            wrong(path, "layout", "channels_last of x: shape", &[]),
        ];
        let folded = fold(&findings);
        assert_eq!(folded.len(), 4, "{folded:?}");
        let alone = [4, 7];
        assert!(
            !folded
                .iter()
                .any(|(at, into)| alone.contains(at) || alone.contains(into))
        );
    }

    #[test]
    fn a_processor_taken_for_another_one_is_one_finding_of_the_library() {
        let crash = |path: &str| {
            let mut one = finding(path, &[], false);
            one.signature = format!("api {path}\nkind crash\ndetail SIGILL");
            one
        };
        assert_eq!(
            fold(&[crash("torch.cov"), crash("torch.matrix_exp")]).len(),
            1
        );
    }

    #[test]
    fn crashes_of_a_corrupted_heap_are_one_finding_and_two_plain_crashes_are_two() {
        let crash = |number: usize, frames: &[&str]| {
            let mut one = finding("torch.f", frames, false);
            one.id = format!("torch.f-{number}");
            one.execution.native_frames = frames.iter().map(|frame| (*frame).to_owned()).collect();
            one
        };
        let plain = [
            crash(0, &["libtorch.so!at::native::a", "libtorch.so!at::b"]),
            crash(1, &["libtorch.so!at::native::c", "libtorch.so!at::d"]),
        ];
        assert_eq!(fold(&plain), []);
        let mut heap = plain.to_vec();
        heap.push(crash(2, &["libc.so.6!_int_malloc", "libtorch.so!at::e"]));
        assert_eq!(fold(&heap), [(1, 0), (2, 0)]);
    }
}
