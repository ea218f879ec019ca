//! From the reports of comparing oracles to verdicts.

use fissure_model::{
    Api, ConcreteInput, Confidence, Execution, Oracle, Outcome, OutcomeKind, Report, Verdict,
};

use crate::input_facts::asks_for_much;
use crate::oracle::oracle;

/// The process ended, or was ended, in a call that an oracle made: the last report says which.
pub(crate) fn is_variant(execution: &Execution) -> bool {
    let ended = match execution.outcome {
        Outcome::Crash { .. } | Outcome::Exit { .. } => true,
        Outcome::Timeout | Outcome::OutOfMemory => true,
        Outcome::Accepted { .. }
        | Outcome::Rejected(_)
        | Outcome::Fatal(_)
        | Outcome::Corruption
        | Outcome::NotBuilt(_) => false,
    };
    ended && !execution.reports.is_empty()
}

/// What the reports of the comparing oracles amount to, one verdict each.
///
/// The last report of a process that ended is about that end: its verdict is a crash (or an exit,
/// a hang) of the variant that the oracle ran. A memory limit says nothing there: oracles keep
/// several results at once.
pub fn reports<'a>(
    _api: &'a Api,
    input: &'a ConcreteInput,
    execution: &'a Execution,
) -> impl Iterator<Item = Verdict> + 'a {
    let last = execution.reports.len().wrapping_sub(1);
    let variant = is_variant(execution).then_some(last);
    execution
        .reports
        .iter()
        .enumerate()
        .filter_map(move |(at, report)| {
            if variant == Some(at) {
                ended(input, execution)
            } else {
                Some(wrong(report))
            }
        })
}

fn wrong(report: &Report) -> Verdict {
    Verdict {
        kind: match report.oracle {
            Oracle::Nan => OutcomeKind::Nan,
            _ => OutcomeKind::WrongResult,
        },
        // An oracle of another version of Fissure: a report of it is read from a file.
        confidence: oracle(report.oracle.as_str()).map_or(Confidence::Numeric, |it| it.confidence),
        oracle: report.oracle.clone(),
        detail: report.detail.clone(),
        note: false,
    }
}

/// The verdict on a process that ended in a call that an oracle made.
pub(crate) fn ended(input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    let report = execution.reports.last()?;
    let kind = crate::kind(execution);
    let (how, confidence, note) = match (kind, &execution.outcome) {
        (OutcomeKind::Crash, Outcome::Crash { signal }) => {
            let name = crate::signal_name(*signal).into_owned();
            (name, Confidence::Crash, false)
        }
        (OutcomeKind::Crash, _) => ("crash".to_owned(), Confidence::Crash, false),
        (OutcomeKind::Exit, Outcome::Exit { code }) => {
            (format!("exit {code}"), Confidence::Contract, false)
        }
        // Somebody else's signal.
        (OutcomeKind::Exit, _) => ("killed".to_owned(), Confidence::Contract, true),
        (OutcomeKind::Timeout, _) => (
            "hang".to_owned(),
            Confidence::Performance,
            asks_for_much(input),
        ),
        _ => return None,
    };
    Some(Verdict {
        kind,
        confidence,
        oracle: report.oracle.clone(),
        detail: format!("{}: {how}", report.detail),
        note,
    })
}

/// The report of an oracle that only looked at whether the call raised, and what.
pub(crate) fn documentation_report(
    verdict: &Verdict,
    input: &ConcreteInput,
    execution: &Execution,
) -> Report {
    let names = match input.layer_arguments {
        None => "arguments, keywords",
        Some(_) => "arguments, keywords, layer_arguments, layer_keywords",
    };
    let attempt = format!("{names} = build()\n    try:\n        result = call({names})\n");
    let (observed, expected, check) = match &execution.outcome {
        Outcome::Rejected(exception) => (
            format!("{}: {}", exception.class, exception.message),
            match verdict.oracle {
                Oracle::Message => "an exception that says what is wrong with the argument",
                _ => "a result: the documentation allows this input",
            },
            "    except Exception as error:\n        name = type(error).__name__\n        \
             return name == CLASS, repr(error), EXPECTED\n    return False, str(result), EXPECTED\n"
                .replace("CLASS", &quoted(last_part(&exception.class))),
        ),
        _ => (
            "a result".to_owned(),
            "an exception: the documentation rules this input out",
            "    except Exception as error:\n        return False, repr(error), EXPECTED\n    \
             return True, str(result), EXPECTED\n"
                .to_owned(),
        ),
    };
    let check = check.replace("EXPECTED", &quoted(expected));
    Report {
        oracle: verdict.oracle.clone(),
        detail: verdict.detail.clone(),
        observed,
        expected: expected.to_owned(),
        check: format!("def check():\n    {attempt}{check}"),
        flat: None,
    }
}

fn last_part(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Python source of a text without quotes and backslashes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace(['\\', '\''], " "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fissure_model::Intent;

    use super::*;

    fn verdicts(outcome: Outcome) -> Vec<(OutcomeKind, Confidence, String)> {
        let report = |oracle: &str, detail: &str| Report {
            oracle: oracle.into(),
            detail: detail.into(),
            observed: String::new(),
            expected: String::new(),
            check: String::new(),
            flat: None,
        };
        let execution = Execution {
            reports: vec![
                report("forms", "out=: values"),
                report("layout", "slice of x"),
            ],
            ..Execution::new(0, outcome, Duration::ZERO)
        };
        let input = ConcreteInput {
            number: 0,
            arguments: Vec::new(),
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        };
        let api = Api::default();
        let verdicts: Vec<Verdict> = reports(&api, &input, &execution).collect();
        let options = crate::JudgeOptions::default();
        if let Some(alone) = crate::judge(&api, &input, &execution, &options) {
            assert_eq!(
                Some(&alone),
                verdicts.last(),
                "told by both in the same words"
            );
        }
        let facts = verdicts.into_iter();
        facts
            .map(|it| (it.kind, it.confidence, it.detail))
            .collect()
    }

    #[test]
    fn every_report_of_a_call_that_returned_is_a_wrong_result() {
        use {Confidence::*, OutcomeKind::WrongResult};
        assert_eq!(
            verdicts(Outcome::Accepted { nan: false }),
            [
                (WrongResult, Contract, "out=: values".to_owned()),
                (WrongResult, Numeric, "slice of x".to_owned())
            ]
        );
    }

    #[test]
    fn the_last_report_of_a_process_that_ended_is_about_that_end() {
        let first = (
            OutcomeKind::WrongResult,
            Confidence::Contract,
            "out=: values".to_owned(),
        );
        let last = |kind, confidence, detail: &str| (kind, confidence, detail.to_owned());
        let crash = last(OutcomeKind::Crash, Confidence::Crash, "slice of x: SIGFPE");
        assert_eq!(
            verdicts(Outcome::Crash { signal: 8 }),
            [first.clone(), crash]
        );
        let exit = last(
            OutcomeKind::Exit,
            Confidence::Contract,
            "slice of x: exit 3",
        );
        assert_eq!(verdicts(Outcome::Exit { code: 3 }), [first.clone(), exit]);
        let hang = last(
            OutcomeKind::Timeout,
            Confidence::Performance,
            "slice of x: hang",
        );
        assert_eq!(verdicts(Outcome::Timeout), [first.clone(), hang]);
        assert_eq!(verdicts(Outcome::OutOfMemory), [first]);
    }
}
