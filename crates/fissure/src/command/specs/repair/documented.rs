//! Which contradictions concern the documentation: it must say the constraint in so many words, and the
//! library must do otherwise, not only this machine.
//!
//! What is documented as allowed and always refused is a bug. What is documented as forbidden and
//! accepted is told apart: it may be that nothing looks, and that the result is meaningless.

use super::decide::Contradiction;

/// Words that forbid everything else.
const NORMATIVE: [&str; 12] = [
    "must",
    "only",
    "one of",
    "either",
    "should",
    "supported",
    "has to",
    "in the range",
    "between",
    "valid",
    "allowed",
    "non-negative",
];
/// Answers that speak of the device and not of the arguments: another one may take them.
const OF_THE_DEVICE: [&str; 7] = [
    "not implemented for",
    "could not find device",
    "no opkernel",
    "no registered",
    "not supported on cpu",
    "cuda",
    "gpu",
];
/// Other names of element types.
const ALSO: [(&str, &[&str]); 8] = [
    ("float16", &["half"]),
    ("float32", &["single"]),
    ("float64", &["double"]),
    ("int64", &["long"]),
    ("int16", &["short"]),
    ("uint8", &["byte"]),
    ("int8", &["char"]),
    ("bool", &["boolean", "bools"]),
];

/// The types that everybody thinks of, with the words of families that hold them.
const COMMON: [(&str, &[&str]); 4] = [
    ("int32", &["integer", "integral", "numeric"]),
    ("int64", &["integer", "integral", "numeric"]),
    ("float32", &["floating", "floating-point", "numeric"]),
    ("float64", &["floating", "floating-point", "numeric"]),
];

/// Does the documentation say outright that it is allowed, and does the library always refuse it?
pub(super) fn is_documentation_bug(found: &Contradiction) -> bool {
    let answer = found.evidence.to_lowercase();
    let of_device = OF_THE_DEVICE.iter().any(|words| answer.contains(words));
    found.done == "dropped" && found.often && !of_device && is_said(found).is_some()
}

/// Does the documentation forbid outright what the library mostly accepts?
pub(super) fn is_unchecked(found: &Contradiction) -> bool {
    let told = matches!(found.key.as_str(), "range" | "enum" | "dtype");
    let forbids = |sentence: String| NORMATIVE.iter().any(|words| has_words(&sentence, words));
    found.done == "marked" && found.often && told && is_said(found).is_some_and(forbids)
}

/// The sentence in small letters, where it says each of the values.
fn is_said(found: &Contradiction) -> Option<String> {
    let sentence = documentation(found)?.to_lowercase();
    let mut values = found.values.iter();
    values
        .all(|value| says(&found.key, value, &sentence))
        .then_some(sentence)
}

/// The sentence, where the constraint is from documentation and surely read.
fn documentation(found: &Contradiction) -> Option<&str> {
    found.source.as_deref()?.strip_prefix("documentation: ")
}

/// Does a sentence in small letters say the value itself?
fn says(key: &str, value: &str, sentence: &str) -> bool {
    let value = value.to_lowercase();
    match key {
        "enum" => has_words(sentence, &value),
        "dtype" => {
            let name = value.rsplit('.').next().unwrap_or(&value);
            let also = ALSO.iter().chain(&COMMON).filter(|(of, _)| *of == name);
            let mut names = also.flat_map(|(_, names)| names.iter());
            let exact = name.ends_with(|letter: char| letter.is_ascii_digit()) || name == "bool";
            exact && (has_words(sentence, name) || names.any(|name| has_words(sentence, name)))
        }
        "ndim" => [" d", "-d", "d ", " dimension", "-dimension"]
            .iter()
            .any(|unit| sentence.contains(&format!("{value}{unit}"))),
        "range" => range_is_said(&value, sentence),
        _ => false,
    }
}

fn range_is_said(value: &str, sentence: &str) -> bool {
    if value == "[0,inf)" {
        let words = ["non-negative", "nonnegative", ">= 0", ">=0", "at least 0"];
        return words.iter().any(|words| sentence.contains(words));
    }
    if value == "(0,inf)" {
        let words = [
            "positive",
            "> 0",
            ">0",
            "greater than 0",
            "greater than zero",
        ];
        return words.iter().any(|words| sentence.contains(words));
    }
    let bounds = value.trim_matches(['[', ']', '(', ')']).split(',');
    let finite = bounds.filter(|bound| !bound.contains("inf"));
    finite.clone().count() > 0 && finite.clone().all(|bound| has_words(sentence, bound))
}

/// Is the text there as words of its own?
fn has_words(sentence: &str, words: &str) -> bool {
    let inside = |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let mut places = sentence.match_indices(words);
    places.any(|(at, _)| {
        let before = sentence[..at].chars().next_back();
        let after = sentence[at + words.len()..].chars().next();
        !inside(before) && !inside(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        key: &str,
        value: &str,
        done: &'static str,
        said: &str,
        answer: &str,
    ) -> Contradiction {
        Contradiction {
            param: "x".into(),
            key: key.into(),
            values: vec![value.into()],
            done,
            evidence: answer.into(),
            source: Some(said.into()),
            often: true,
        }
    }

    #[test]
    fn what_is_said_outright_and_refused_is_a_bug() {
        let said = "documentation: One of 'constant' or 'circular'.";
        let answer = "0 of 32 accepted: f(…): ValueError: unknown mode";
        assert!(is_documentation_bug(&found(
            "enum", "circular", "dropped", said, answer
        )));
        let said = "documentation: Must be one of the following types: `half`, `int32`.";
        let answer = "0 of 32 accepted: f(…): TypeError: got float16";
        assert!(is_documentation_bug(&found(
            "dtype",
            "tf.float16",
            "dropped",
            said,
            answer
        )));
        let said = "documentation: Numeric `Tensor`.";
        assert!(is_documentation_bug(&found(
            "dtype", "tf.int32", "dropped", said, answer
        )));
        let said = "documentation: Must be in the range [0, 1].";
        assert!(is_unchecked(&found(
            "range", "[0,1]", "marked", said, "f(7)"
        )));
    }

    #[test]
    fn what_only_follows_or_is_of_the_device_is_none() {
        let said = "documentation: Must be one of the following types: `half`.";
        let answer = "0 of 32 accepted: f(…): \"f_cpu\" not implemented for 'Half'";
        assert!(!is_documentation_bug(&found(
            "dtype",
            "tf.float16",
            "dropped",
            said,
            answer
        )));
        // That a size is not negative follows; nobody said it.
        let said = "documentation: The number of rows, must be given.";
        assert!(!is_unchecked(&found(
            "range", "[0,inf)", "marked", said, "f(-1)"
        )));
        // Of a family only the common types are meant for sure.
        let said = "documentation: A floating-point tensor.";
        assert!(!is_documentation_bug(&found(
            "dtype",
            "torch.float16",
            "dropped",
            said,
            "no"
        )));
        // A schema is no documentation.
        let said = "schema: Tensor self, must be int8";
        assert!(!is_documentation_bug(&found(
            "dtype",
            "torch.int8",
            "dropped",
            said,
            "no"
        )));
        // Choices that are told as examples.
        let said = "documentation: A name such as 'a' and 'b'.";
        assert!(!is_unchecked(&found("enum", "a", "marked", said, "f('c')")));
    }
}
