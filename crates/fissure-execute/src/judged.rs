//! What oracles said of one input, as the worker writes it.

use std::time::Duration;

use fissure_model::{Execution, Oracle, OracleCost, Outcome, Report};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct Judged {
    reports: Vec<Report>,
    /// Oracle and nanoseconds, in the order in which they ran.
    costs: Vec<(Oracle, u64)>,
    /// Oracles that failed themselves, with their traceback.
    failures: Vec<(Oracle, String)>,
    /// What to report if the process ends now.
    announced: Option<Report>,
}

impl Judged {
    /// Adds everything to the execution of the input. If its process ended, the last of its reports
    /// is the announced one.
    pub(crate) fn add_to(self, execution: &mut Execution) {
        execution.reports = self.reports;
        let costs = self
            .costs
            .into_iter()
            .map(|(oracle, nanoseconds)| OracleCost {
                oracle,
                duration: Duration::from_nanos(nanoseconds),
            });
        execution.oracle_costs = costs.collect();
        if let Some(ended) = ended(&execution.outcome)
            && let Some(announced) = self.announced
        {
            execution.reports.push(Report {
                observed: ended,
                ..announced
            });
        }
        for (oracle, traceback) in self.failures {
            let log = execution.log.get_or_insert_default();
            log.push_str(&format!("the oracle {oracle} failed:\n{traceback}\n"));
        }
    }
}

/// How the process ended, for outcomes that end it.
fn ended(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Accepted { .. }
        | Outcome::Rejected(_)
        | Outcome::Fatal(_)
        | Outcome::NotBuilt(_) => None,
        Outcome::Crash { signal } => Some(format!("the process died of signal {signal}")),
        Outcome::Exit { code } => Some(format!("the process ended with code {code}")),
        Outcome::Timeout => Some("no answer within the time limit".into()),
        Outcome::OutOfMemory => Some("more memory than the limit".into()),
        Outcome::Corruption => Some("the memory of the process was overwritten".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"reports": [{"oracle": "layout", "detail": "a", "observed": "1",
        "expected": "2", "check": "c"}], "costs": [["layout", 1500]], "failures": [],
        "announced": {"oracle": "forms", "detail": "b", "observed": "", "expected": "a result",
        "check": "d"}}"#;

    fn details(outcome: Outcome) -> Vec<(String, String)> {
        let mut execution = Execution::new(0, outcome, Duration::ZERO);
        let judged: Judged = serde_json::from_str(TEXT).unwrap();
        judged.add_to(&mut execution);
        assert_eq!(execution.oracle_costs[0].duration.as_nanos(), 1500);
        let reports = execution.reports.into_iter();
        reports.map(|it| (it.detail, it.observed)).collect()
    }

    #[test]
    fn what_was_announced_is_reported_only_if_the_process_ended() {
        let made = ("a".to_owned(), "1".to_owned());
        assert_eq!(
            details(Outcome::Accepted { nan: false }),
            std::slice::from_ref(&made)
        );
        let announced = ("b".to_owned(), "the process died of signal 8".to_owned());
        assert_eq!(details(Outcome::Crash { signal: 8 }), [made, announced]);
    }

    #[test]
    fn the_failure_of_an_oracle_is_in_the_log() {
        let text = r#"{"reports": [], "costs": [], "failures": [["nan", "Traceback"]],
            "announced": null}"#;
        let judged: Judged = serde_json::from_str(text).unwrap();
        let outcome = Outcome::Accepted { nan: false };
        let mut execution = Execution::new(0, outcome, Duration::ZERO);
        judged.add_to(&mut execution);
        let log = execution.log.unwrap();
        assert_eq!(log, "the oracle nan failed:\nTraceback\n");
    }
}
