//! What a person gets to see.

use serde::{Deserialize, Serialize};

use crate::{Api, ConcreteInput, Execution, Interest, Oracle, OutcomeKind, Report};

/// An oracle's judgement of one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub kind: OutcomeKind,
    /// The oracle that gave it.
    #[serde(default)]
    pub oracle: Oracle,
    pub confidence: Confidence,
    /// What a reader needs to tell two verdicts of one kind apart: `SIGFPE`, `RuntimeError`, `exit 3`.
    pub detail: String,
    /// Worth noting but explained by the input itself (a timeout or memory limit with a huge
    /// argument): listed, not counted as a finding.
    pub note: bool,
}

/// How sure a verdict is, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    Crash,
    InternalError,
    Contract,
    Numeric,
    Performance,
    Documentation,
}

/// How a failure behaves when its own script is run in a fresh process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reproduction {
    pub failures: u32,
    pub runs: u32,
}

impl Reproduction {
    pub fn is_stable(self) -> bool {
        self.runs > 0 && self.failures == self.runs
    }
}

/// One distinct failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable id: same API, kind and signature → same id. Also the folder's name.
    pub id: String,
    pub api: Api,
    pub verdict: Verdict,
    /// What merges duplicates, one part per line.
    pub signature: String,
    /// The smallest input known to show it.
    pub input: ConcreteInput,
    /// The input that showed it first, when a smaller one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unshrunk: Option<Box<ConcreteInput>>,
    /// What oracles said of that input, for which their checks were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unshrunk_reports: Vec<Report>,
    /// What each argument has to do with the failure; empty when that was not tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<ArgumentRole>,
    /// Titles of other APIs through which the same failure was met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_through: Vec<String>,
    /// Other oracles, and what they report (oracle, detail), of the same small input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_by: Vec<(Oracle, String)>,
    /// Ids of findings that turned out to have the same cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<String>,
    /// What triage found out, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Where it was confirmed, as a bug report asks for it: (`CPU`, `x86_64, 2 cores`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
    pub execution: Execution,
    /// `None` until it has been tried in a fresh process.
    pub reproduction: Option<Reproduction>,
    pub library_version: String,
    pub python_version: String,
    pub seed: u64,
}

/// One argument's part in a failure, found out by changing it alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentRole {
    /// Name of the parameter; arguments of the call on a layer are `call.NAME`.
    pub parameter: String,
    /// With this argument changed or left out, the failure is gone.
    pub matters: bool,
    /// What was tried, in words: `any other value`, `values but not shape`.
    pub tried: String,
}

impl Finding {
    /// A failure as it was met, of which nothing more is known: its id, its signature and what library
    /// it was met in are for the caller to fill in.
    pub fn new(api: Api, verdict: Verdict, input: ConcreteInput, execution: Execution) -> Self {
        Finding {
            id: String::new(),
            api,
            verdict,
            signature: String::new(),
            input,
            unshrunk: None,
            unshrunk_reports: Vec::new(),
            roles: Vec::new(),
            also_through: Vec::new(),
            also_by: Vec::new(),
            folded: Vec::new(),
            remarks: Vec::new(),
            environment: Vec::new(),
            execution,
            reproduction: None,
            library_version: String::new(),
            python_version: String::new(),
            seed: 0,
        }
    }

    /// Listed, but not counted: explained by the input itself, never seen to fail again, or of the
    /// class that nobody waits for.
    pub fn is_note(&self) -> bool {
        self.verdict.note
            || self.reproduction.is_some_and(|tried| tried.failures == 0)
            || self.is_strictness()
    }

    /// What forms and promises say of empty tensors and rare dtypes, and how arguments that nobody
    /// would write are refused: maintainers collect such things rather than mend them one by one.
    fn is_strictness(&self) -> bool {
        match self.verdict.oracle {
            Oracle::Meta | Oracle::Contract | Oracle::Forms | Oracle::CoveredUp => {
                self.interest() == Interest::Strictness
            }
            Oracle::Message => self.has_odd_input(),
            _ if self.is_about_a_refusal() => self.interest() == Interest::Strictness,
            _ => false,
        }
    }
}
