//! Which failures are the same one.

use std::fmt;

use fissure_model::{Api, Execution, Finding, Oracle, Outcome, OutcomeKind, Verdict};
use sha2::{Digest, Sha256};

use crate::frames::{
    crashed_frames, end_of_log, native_frames, raised_frames, recursion_cycle, runtime_messages,
};
use crate::mask::{mask, plain_characters};
use crate::native::meaningful_frames;

/// Longest id: leaves room for a file inside the folder on any file system.
const ID_LIMIT: usize = 120;
/// Longest detail inside an id.
const DETAIL_LIMIT: usize = 32;

/// What merges duplicates: one part per line, readable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(String);

impl Signature {
    /// The signature of a finding that was written before.
    pub fn of_finding(finding: &Finding) -> Self {
        Signature(finding.signature.clone())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// What two failures of *different* APIs must share to be one failure met through two names, or
    /// `None` when too little is known to say so.
    ///
    /// `torch.relu` and `torch.nn.functional.relu`, a layer and the function it calls, end in the
    /// same native code: two native frames that agree are enough, whatever Python lies above them.
    /// Without native frames it takes an exception whose message names a line of source code.
    pub fn place(&self) -> Option<String> {
        let (mut head, mut said, mut native) = (Vec::new(), Vec::new(), Vec::new());
        for line in self.0.lines() {
            match line.split_once(' ').map_or(line, |(label, _)| label) {
                "note" => return None,
                "kind" if line == format!("kind {}", OutcomeKind::WrongResult) => return None,
                "kind" | "detail" => head.push(line),
                "message" | "runtime" => said.push(line),
                "native" => native.push(line),
                _ => {}
            }
        }
        let names_source = said.iter().any(|line| crate::mask::names_source(line));
        if native.len() < 2 && !names_source {
            return None;
        }
        Some([head, said, native].concat().join("\n"))
    }

    /// Eight hexadecimal digits, the same on every machine.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        digest
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// API, kind, signal or exception class, masked message, innermost Python and native frames.
///
/// The same bug through ten inputs has one signature; two bugs in one API have two as long as a
/// message, a signal or a frame tells them apart. Hangs and memory have no message and no frame:
/// one of each per API. A wrong result is told by its oracle and the variant that showed it.
pub fn signature(api: &Api, verdict: &Verdict, execution: &Execution) -> Signature {
    let mut text = head(api, verdict);
    for part in place(verdict, execution, true) {
        text.push('\n');
        text.push_str(&part);
    }
    Signature(text)
}

/// The same for a crash into which nobody could look: without its native frames.
pub(crate) fn signature_without_native(
    api: &Api,
    verdict: &Verdict,
    execution: &Execution,
) -> Signature {
    let mut text = head(api, verdict);
    for part in place(verdict, execution, false) {
        text.push('\n');
        text.push_str(&part);
    }
    Signature(text)
}

fn head(api: &Api, verdict: &Verdict) -> String {
    let mut text = format!(
        "api {}\nkind {}\ndetail {}",
        api.path, verdict.kind, verdict.detail
    );
    if verdict.kind == OutcomeKind::WrongResult {
        text.push_str(&format!("\noracle {}", verdict.oracle));
    }
    if verdict.note {
        // A hang that its input explains must not hide one that nothing explains.
        text.push_str("\nnote");
    }
    text
}

/// Where it happened and what was said, one part each: what is left when the API is not named.
fn place(verdict: &Verdict, execution: &Execution, native: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |label: &str, parts: Vec<String>| {
        found.extend(parts.into_iter().map(|part| format!("{label} {part}")));
    };
    match &execution.outcome {
        // The text itself is what is wrong: it differs from input to input.
        Outcome::Rejected(_) if verdict.oracle == Oracle::Message => {}
        Outcome::Rejected(exception) | Outcome::Fatal(exception) => {
            if exception.class == "RecursionError" {
                // Its message depends on where in the cycle the limit was hit.
                add("cycle", recursion_cycle(&exception.frames));
            } else {
                add("message", vec![mask(&exception.message)]);
                add("at", raised_frames(&exception.frames));
                add("native", native_frames(&exception.message));
            }
        }
        Outcome::Crash { .. } | Outcome::Exit { .. } => {
            if let Some(log) = execution.log.as_deref().map(end_of_log) {
                add("at", crashed_frames(log));
                if verdict.kind == OutcomeKind::Crash {
                    add("runtime", runtime_messages(log));
                    if execution.native_frames.is_empty() {
                        add("native", native_frames(log));
                    }
                }
            }
            if native && verdict.kind == OutcomeKind::Crash {
                add("native", meaningful_frames(&execution.native_frames));
            }
        }
        Outcome::Accepted { .. }
        | Outcome::Timeout
        | Outcome::OutOfMemory
        | Outcome::Corruption
        | Outcome::NotBuilt(_) => {}
    }
    found
}

/// Readable and unique: `torch.nn.functional.avg_pool2d-crash-SIGFPE-1a2b3c4d`. Safe as a folder
/// name on any file system: letters, digits, `.`, `_`, `-`, limited length.
pub fn finding_id(api: &Api, verdict: &Verdict, signature: &Signature) -> String {
    let mut detail = plain_characters(&verdict.detail).into_owned();
    detail.truncate(DETAIL_LIMIT);
    let tail = format!("-{}-{detail}-{}", verdict.kind, signature.hash());
    let title = plain_characters(&api.title);
    // The end of a name says more than its beginning.
    let start = title.len().saturating_sub(ID_LIMIT - tail.len());
    let head = title[start..].trim_start_matches(['.', '-', '_']);
    let head = if head.is_empty() { "api" } else { head };
    format!("{head}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::Confidence;

    fn verdict(kind: OutcomeKind, detail: &str) -> Verdict {
        Verdict {
            kind,
            oracle: Oracle::default(),
            confidence: Confidence::Crash,
            detail: detail.into(),
            note: false,
        }
    }

    fn id(title: &str, detail: &str) -> String {
        let api = Api {
            title: title.into(),
            path: title.into(),
            ..Api::default()
        };
        let execution = Execution::new(0, Outcome::Timeout, std::time::Duration::ZERO);
        let verdict = verdict(OutcomeKind::Crash, detail);
        finding_id(&api, &verdict, &signature(&api, &verdict, &execution))
    }

    #[test]
    fn an_id_reads_like_the_finding_and_never_changes() {
        assert_eq!(
            id("torch.nn.functional.avg_pool2d", "SIGFPE"),
            "torch.nn.functional.avg_pool2d-crash-SIGFPE-c2291e37"
        );
    }

    #[test]
    fn an_id_is_a_safe_file_name_whatever_the_title() {
        for title in [
            "a/b\\c:d*?\"<>|",
            "../../etc",
            "",
            "é",
            &"long.".repeat(100),
        ] {
            let id = id(
                title,
                "SIGSEGV, exit 255 with a very long explanation of everything",
            );
            assert!(id.len() <= ID_LIMIT, "{id}");
            assert!(!id.starts_with('.'), "{id}");
            assert!(
                id.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)),
                "{id}"
            );
        }
    }
}
