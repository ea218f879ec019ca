//! What a script says about the failure, and how it ends.

use fissure_model::{Finding, Outcome, OutcomeKind, Report};

use super::{NOT_REPRODUCED, PEAK_MEMORY, REPRODUCED, literal};
use crate::failure::report_of;

/// Longest piece of a recorded message that is printed again.
const MESSAGE_LIMIT: usize = 1000;

pub(super) fn about(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Crash | OutcomeKind::Exit => {
            "Needs only Python and the library. Where the failure is still there, the process dies\n\
             in the call; otherwise this script ends with code 0.\n"
        }
        OutcomeKind::Timeout | OutcomeKind::OutOfMemory => {
            "Needs only Python and the library. Where the failure is still there, the call does not\n\
             come back or takes all memory: run it with a limit. Otherwise this script ends with\n\
             code 0.\n"
        }
        _ => {
            "Needs only Python and the library. Ends with code 1 where the failure is still there,\n\
             with code 0 otherwise.\n"
        }
    }
}

pub(super) fn expected(finding: &Finding) -> String {
    if let (OutcomeKind::WrongResult, Some(report)) = (finding.verdict.kind, judged(finding)) {
        return format!("expected: {}", one_line(&report.expected));
    }
    match finding.verdict.kind {
        OutcomeKind::Crash => "expected: a result or an exception, not a crash",
        OutcomeKind::Exit => "expected: a result or an exception, not the end of the process",
        OutcomeKind::Timeout => "expected: a result or an exception in reasonable time",
        OutcomeKind::OutOfMemory => "expected: a result or an exception in reasonable memory",
        OutcomeKind::Nan => "expected: a result without NaN, or an exception",
        OutcomeKind::Fatal => "expected: a result or an ordinary exception",
        OutcomeKind::WrongResult => "expected: another result",
        _ => "expected: a result, or an exception that says what is wrong with the arguments",
    }
    .to_owned()
}

fn judged(finding: &Finding) -> Option<&Report> {
    report_of(&finding.verdict, &finding.execution)
}

fn one_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_LIMIT).collect()
}

/// What was recorded, in words.
pub(super) fn observed(finding: &Finding) -> String {
    if let (OutcomeKind::WrongResult, Some(report)) = (finding.verdict.kind, judged(finding)) {
        return one_line(&report.observed);
    }
    match &finding.execution.outcome {
        Outcome::Accepted { nan: true } => "the result held a NaN".into(),
        Outcome::Accepted { nan: false } => "a result".into(),
        Outcome::Rejected(exception) | Outcome::Fatal(exception) | Outcome::NotBuilt(exception) => {
            let message: String = exception.message.chars().take(MESSAGE_LIMIT).collect();
            format!("raised {}: {message}", exception.class)
        }
        Outcome::Crash { .. } => format!("the process died of {}", finding.verdict.detail),
        Outcome::Exit { .. } => format!("the process ended: {}", finding.verdict.detail),
        Outcome::Timeout => format!("no result after {:.1?}", finding.execution.duration),
        Outcome::OutOfMemory => "memory passed the limit".into(),
        Outcome::Corruption => "memory of the process was overwritten".into(),
    }
}

/// Makes the call and says whether the failure was seen.
pub(super) fn ending(finding: &Finding) -> String {
    let reproduced = literal::text(REPRODUCED);
    let not_reproduced = literal::text(NOT_REPRODUCED);
    if judged(finding).is_some() {
        return checking(finding.verdict.kind);
    }
    let (after_result, after_exception) = match &finding.execution.outcome {
        Outcome::Rejected(exception) | Outcome::Fatal(exception) => {
            let mut test = format!("name_of(error) == {}", literal::text(&exception.class));
            match fissure_judge::internal_error_phrase(exception) {
                Some("SystemError") | None => {}
                Some(phrase) => {
                    let phrase = literal::text(phrase);
                    test.push_str(&format!(" and {phrase} in text_of(error).lower()"));
                }
            }
            ("False", test)
        }
        Outcome::Accepted { nan: true } => ("holds_nan(result)", "False".to_owned()),
        // The process would not have come this far.
        outcome => {
            let wait = match outcome {
                Outcome::Crash { .. } => {
                    "    time.sleep(0.5)  # a thread that the call started may still be at work\n"
                }
                _ => "",
            };
            let memory = match outcome {
                Outcome::OutOfMemory => format!(
                    "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n\
                     print({} + str(peak) + \" MiB\")\n",
                    literal::text(PEAK_MEMORY)
                ),
                _ => String::new(),
            };
            return format!(
                r#"try:
    result = call()
    print("observed: a result of type " + type(result).__name__)
    del result  # a failure in its destructor belongs to the call
{wait}except BaseException as error:
    print("observed: raised " + name_of(error) + ": " + text_of(error))
{memory}print({not_reproduced})
"#
            );
        }
    };
    format!(
        r#"try:
    result = call()
    reproduced = {after_result}
    print("observed: a result of type " + type(result).__name__)
except BaseException as error:
    reproduced = {after_exception}
    print("observed: raised " + name_of(error) + ": " + text_of(error))
print({reproduced} if reproduced else {not_reproduced})
sys.exit(1 if reproduced else 0)
"#
    )
}

/// Runs the oracle's own check and says what it says.
fn checking(kind: OutcomeKind) -> String {
    let reproduced = literal::text(REPRODUCED);
    let not_reproduced = literal::text(NOT_REPRODUCED);
    let (verdict, wait, end) = match kind {
        OutcomeKind::WrongResult | OutcomeKind::Nan => (
            "reproduced",
            "",
            format!(
                "print({reproduced} if reproduced else {not_reproduced})\n\
                 sys.exit(1 if reproduced else 0)\n"
            ),
        ),
        // The process would not have come this far.
        OutcomeKind::Crash => (
            "_",
            "    time.sleep(0.5)  # a thread that the call started may still be at work\n",
            format!("print({not_reproduced})\n"),
        ),
        _ => ("_", "", format!("print({not_reproduced})\n")),
    };
    format!(
        r#"{start}try:
    {verdict}, observed, expected = check()
    print("observed: " + str(observed))
    print("expected: " + str(expected))
{wait}except Exception as error:
    print("observed: raised " + name_of(error) + ": " + text_of(error))
{end}"#,
        start = if verdict == "_" {
            ""
        } else {
            "reproduced = False\n"
        },
    )
}
