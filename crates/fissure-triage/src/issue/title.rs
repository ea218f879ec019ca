//! One sentence about what the library does, from what the oracle saw.

use fissure_model::{Finding, Oracle, Outcome, OutcomeKind, Report, Value};

use crate::crash_reason::crash_reason;
use crate::failure::report_of;
use crate::shrink::tensor::{tensor_of, tensors};

/// A title that a tracker shows whole.
const LONGEST: usize = 100;

/// The first of the sentences that is short enough, or the beginning of the last.
pub(super) fn title(finding: &Finding) -> String {
    shortest(&sentences(finding))
}

/// What stands in brackets at the end can be left out; else the last word that fits is the last.
fn shortest(sentences: &[String]) -> String {
    let fits = |text: &&str| text.chars().count() <= LONGEST;
    let whole = sentences.iter().map(String::as_str).find(fits);
    let Some(last) = sentences.last() else {
        return String::new();
    };
    let bare = || last.rsplit_once(" (").map(|(before, _)| before);
    if let Some(text) = whole.or_else(|| bare().filter(fits)) {
        return text.to_owned();
    }
    let beginning: String = last.chars().take(LONGEST - 1).collect();
    let words = beginning.rsplit_once(' ').map_or(&*beginning, |it| it.0);
    format!("{words}…")
}

/// From the most telling to the shortest.
fn sentences(finding: &Finding) -> Vec<String> {
    let api = &finding.api.title;
    let detail = &finding.verdict.detail;
    let on = circumstance(finding).map_or_else(String::new, |it| format!(" for {it}"));
    let one = |text: String| vec![text];
    match finding.verdict.kind {
        OutcomeKind::Crash => vec![
            format!(
                "{api} ends the process with {detail}{}",
                crash_reason(finding)
            ),
            format!("{api} ends the process with {detail}{on}"),
            format!("{api} ends the process with {detail}"),
        ],
        OutcomeKind::Exit => one(format!("{api} ends the process ({detail})")),
        OutcomeKind::Timeout => one(format!("{api} does not return for a small input")),
        OutcomeKind::OutOfMemory => one(format!(
            "{api} takes memory without bound for a small input"
        )),
        OutcomeKind::InternalError => {
            let mut found = Vec::new();
            if let Outcome::Rejected(error) = &finding.execution.outcome {
                let first = error.message.lines().next().unwrap_or_default();
                found.push(format!("{api} raises an internal error: {first}"));
            }
            found.push(format!("{api} raises an internal error ({detail})"));
            found
        }
        OutcomeKind::Nan => match narrow_dtype(finding) {
            Some(dtype) if report_of(&finding.verdict, &finding.execution).is_some() => {
                one(format!("{api} returns NaN in {dtype}, float64 does not"))
            }
            _ => one(format!("{api} returns NaN for an ordinary input")),
        },
        OutcomeKind::WrongResult => match report_of(&finding.verdict, &finding.execution) {
            Some(report) => wrong(finding, report),
            None => one(plain(finding)),
        },
        _ => one(format!("{api}: {} ({detail})", finding.verdict.kind)),
    }
}

fn wrong(finding: &Finding, report: &Report) -> Vec<String> {
    let api = &finding.api.title;
    let detail = &finding.verdict.detail;
    let mut found = Vec::new();
    match finding.verdict.oracle {
        Oracle::Sweep => found.extend(swept(api, report)),
        Oracle::Forms => found.extend(form(finding, detail)),
        Oracle::Message => found.extend(about_message(api, detail, &report.observed)),
        Oracle::Reference64 | Oracle::Placement | Oracle::CoveredUp => {
            if let (Some(dtype), Some(observed), Some(expected)) = (
                narrow_dtype(finding),
                first_number(&report.observed),
                first_number(&report.expected),
            ) && observed != expected
            {
                found.push(format!(
                    "{api} returns {observed} in {dtype} where float64 gives {expected}"
                ));
            }
        }
        _ => {}
    }
    found.push(plain(finding));
    found
}

/// What is wrong with an exception, `class: message`.
fn about_message(api: &str, detail: &str, observed: &str) -> Vec<String> {
    let first = observed.lines().next().unwrap_or_default();
    let class = detail.split([' ', ':']).next().unwrap_or_default();
    let is_empty = |(_, message): (&str, &str)| message.trim().is_empty();
    if detail.contains("C++ stack") {
        vec![format!("{api} shows a C++ stack trace in a {class}")]
    } else if detail.contains("bytes that are no text") {
        vec![format!(
            "{api} puts bytes that are no text into the message of a {class}"
        )]
    } else if first.split_once(':').is_none_or(is_empty) {
        vec![format!("{api} raises {class} without a message")]
    } else {
        vec![
            format!("{api} raises “{first}” and names no argument"),
            format!("{api} raises {class} out of its own code"),
        ]
    }
}

/// What is certain without looking at values.
fn plain(finding: &Finding) -> String {
    let api = &finding.api.title;
    let detail = &finding.verdict.detail;
    match finding.verdict.oracle {
        Oracle::Gradient => format!("{api} has a wrong gradient ({detail})"),
        Oracle::Meta => match detail.split_once(": raises ") {
            Some((form, class)) => {
                format!("{api} computes what its {form} form refuses ({class})")
            }
            None => format!("{api} returns another result than its meta kernel says ({detail})"),
        },
        Oracle::Contract => match detail.as_str() {
            "not rising" => format!("{api} does not keep the order of its inputs"),
            "out of its range" => format!("{api} returns values outside of its range"),
            "does not sum to one" => format!("{api} returns a row that does not sum to one"),
            _ => format!("{api} breaks a law of its function ({detail})"),
        },
        Oracle::Determinism => format!("{api} gives different results for equal calls ({detail})"),
        Oracle::Layout => format!("{api} depends on the memory layout of its input ({detail})"),
        Oracle::KernelPath => format!("{api} depends on the size of its input ({detail})"),
        Oracle::Forms => format!("The forms of {api} disagree ({detail})"),
        Oracle::Uninitialised => format!("{api} returns uninitialised memory ({detail})"),
        Oracle::CoveredUp => format!("{api} hides an overflow and returns a wrong finite value"),
        Oracle::Reference64 | Oracle::Placement => {
            format!("{api} gives another result in float64 ({detail})")
        }
        Oracle::Sweep => format!("{api} is wrong in an interval of numbers ({detail})"),
        Oracle::Reference => format!("{api} disagrees with the same function elsewhere ({detail})"),
        Oracle::Acceptance => format!("{api} accepts what its documentation forbids ({detail})"),
        Oracle::Rejection => format!("{api} rejects what its documentation allows ({detail})"),
        _ => format!("{api} breaks what it promises ({detail})"),
    }
}

/// `-inf for x = -1.09e+38 in bfloat16; wrong from …`, as the sweep says it.
fn swept(api: &str, report: &Report) -> Option<String> {
    let (observed, rest) = report.observed.split_once(" for x = ")?;
    let (at, rest) = rest.split_once(" in ")?;
    let dtype = rest.split(';').next()?;
    let observed = first_number(observed)?;
    let at = first_number(at)?;
    let expected = first_number(&report.expected)?;
    if observed == expected {
        return None;
    }
    Some(if report.detail.starts_with("vector and strided") {
        format!("{api} gives {observed} or, strided, {expected} for {dtype} numbers such as {at}")
    } else {
        format!("{api} returns {observed}, not {expected}, for {dtype} numbers such as {at}")
    })
}

fn form(finding: &Finding, detail: &str) -> Option<String> {
    let api = &finding.api.title;
    if let Some(argument) = detail.strip_prefix("changes ") {
        let given = needed(finding, argument)
            .map_or_else(String::new, |it| format!(" when `{it}` is given"));
        return Some(format!("{api} changes its argument `{argument}`{given}"));
    }
    match detail {
        "out with gaps: values" => Some(format!(
            "{api}(out=…) leaves wrong values in an out that is not contiguous"
        )),
        "out: values" => Some(format!("{api}(out=…) leaves wrong values in out")),
        "in-place: values" => Some(format!("{api} in place gives other values")),
        "method: values" => Some(format!("{api} as a method gives other values")),
        _ => None,
    }
}

/// An argument without which the failure is gone, other than this one.
fn needed<'a>(finding: &'a Finding, other: &str) -> Option<&'a str> {
    let mut found = finding.roles.iter().filter(|role| {
        let gone = role.tried.split("no longer").nth(1).unwrap_or_default();
        role.matters && role.parameter != other && gone.contains("left out")
    });
    match (found.next(), found.next()) {
        (Some(role), None) => Some(&role.parameter),
        _ => None,
    }
}

/// What is special about the input, when something is.
fn circumstance(finding: &Finding) -> Option<String> {
    const LARGE: i128 = 1 << 31;
    for place in crate::shrink::place::places(&finding.input) {
        let value = place.get(&finding.input);
        if let Value::Int(number) = value
            && number.abs() >= LARGE
        {
            return Some(format!("the number {number}"));
        }
        let Some(tensor) = tensor_of(value) else {
            continue;
        };
        if tensor.elements() == Some(0) {
            return Some("an empty tensor".to_owned());
        }
        let Some((low, _)) = tensor.dtype.integer_limits().filter(|(low, _)| *low < 0) else {
            continue;
        };
        let lowest = |scalar| matches!(scalar, fissure_model::Scalar::Int(it) if it == low);
        if tensor.pattern_scalars().any(lowest) {
            return Some(format!("the smallest {}", tensor.dtype));
        }
    }
    None
}

/// The type of the first tensor of floating-point numbers that float64 is wider than.
fn narrow_dtype(finding: &Finding) -> Option<String> {
    let narrow = ["float32", "float16", "bfloat16"];
    tensors(&finding.input)
        .into_iter()
        .map(|(_, tensor)| tensor.dtype.name().to_owned())
        .find(|name| narrow.contains(&name.as_str()))
}

/// The first number of a text, with as many digits as a reader wants.
fn first_number(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['[', '(', ' ']);
    let word: String = text
        .chars()
        .take_while(|it| it.is_ascii_alphanumeric() || "+-.".contains(*it))
        .collect();
    let number: f64 = word.parse().ok()?;
    let size = number.abs();
    Some(if !number.is_finite() {
        word
    } else if size != 0.0 && !(1e-3..1e5).contains(&size) {
        format!("{number:.3e}")
    } else {
        let short = format!("{number:.4}");
        let short = short.trim_end_matches('0').trim_end_matches('.');
        if short == "-0" && number.is_sign_negative() {
            "-0.0".to_owned()
        } else {
            short.to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(detail: &str, observed: &str, expected: &str) -> Report {
        Report {
            oracle: Oracle::Sweep,
            detail: detail.into(),
            observed: observed.into(),
            expected: expected.into(),
            check: String::new(),
            flat: None,
        }
    }

    #[test]
    fn numbers_are_shown_with_the_digits_that_a_reader_wants() {
        for (text, short) in [
            ("[0.9902848389714864, 1.0]", "0.9903"),
            ("-inf", "-inf"),
            ("nan", "nan"),
            ("[1.0]", "1"),
            ("-0.0", "-0.0"),
            ("3.237844875881053e+37", "3.238e37"),
        ] {
            assert_eq!(first_number(text).as_deref(), Some(short), "{text}");
        }
        assert_eq!(first_number("torch.Size([2])"), None);
    }

    #[test]
    fn a_long_title_loses_its_brackets_and_never_half_a_word() {
        let long = "torch.linalg.slogdet depends on the memory layout of its input (transposed storage of input: inf placement)";
        assert_eq!(
            shortest(&[long.to_owned()]),
            "torch.linalg.slogdet depends on the memory layout of its input"
        );
        let words = shortest(&["word ".repeat(40)]);
        assert!(words.ends_with("word…") && words.chars().count() <= LONGEST);
        assert_eq!(shortest(&["a (b)".to_owned()]), "a (b)");
    }

    #[test]
    fn what_is_wrong_with_a_message_is_in_the_title() {
        for (detail, observed, title) in [
            (
                "ValueError: bytes that are no text",
                "ValueError: \u{1}",
                "f puts bytes that are no text into the message of a ValueError",
            ),
            (
                "AssertionError out of check",
                "AssertionError: ",
                "f raises AssertionError without a message",
            ),
            (
                "RuntimeError with a C++ stack",
                "RuntimeError: no",
                "f shows a C++ stack trace in a RuntimeError",
            ),
            (
                "IndexError out of fans",
                "IndexError: list index out of range",
                "f raises “IndexError: list index out of range” and names no argument",
            ),
        ] {
            assert_eq!(about_message("f", detail, observed)[0], title);
        }
    }

    #[test]
    fn a_sweep_tells_the_type_a_number_and_both_results() {
        let observed = "-inf for x = -1.0966130965225556e+38 in bfloat16; wrong from -3 to -1";
        let told = report(
            "another class than in a wider type, bfloat16",
            observed,
            "-1.09e+38",
        );
        assert_eq!(
            swept("torch.round", &told).as_deref(),
            Some("torch.round returns -inf, not -1.090e38, for bfloat16 numbers such as -1.097e38")
        );
        let unclear = report("another class", "tensor(1.)", "2");
        assert_eq!(swept("torch.round", &unclear), None);
    }
}
