//! Bounds and options in prose: "non-negative", "between 0 and 1", "`'none'` | `'mean'`".

use std::sync::LazyLock;

use fissure_model::{Bound, DtypeFamily, DtypeTerm, Expression, Param, Range, Value};
use regex::Regex;

use super::phrase::at_least;
use super::{Kind, ParamHints};
use crate::literal::Expected;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed and tested")
}

static BETWEEN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"between (-?[0-9]+(?:\.[0-9]+)?) and (-?[0-9]+(?:\.[0-9]+)?)"));
static INTERVAL: LazyLock<Regex> = LazyLock::new(|| regex(r"in \[(-?[0-9]+), (?:infty|inf)\]"));
/// "each value is 0 <= targets[i] <= C-1".
static BELOW_COUNT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b0 <= \w+(?:\[i\])? <= ([a-z])-1\b"));
static INDICES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bindices (?:into|to index|of elements|of the)\b|^class values"));
static POSITIVE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:must|should|has to|have to) be (?:a )?positive\b|\bpositive (?:integer|int|number|float|value)",
    )
});
static MINIMUM: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:must|should|has to) be (greater than(?: or equal to)?|>=?|at least) ([0-9]+)(?:[^-\w]|$)",
    )
});
static PROBABILITY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\bprobability (?:of|that|for|to)\b|^(?:the )?(?:dropout )?probability")
});
/// What stands before a list of options when no type says that the value is text.
static LEAD: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|either|one of|be|are|:)\s*$"));
static ONLY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"can only be ((?:-?[0-9]+(?:, or |, | or )?)+)"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| regex(r"'([A-Za-z_][\w-]*)'"));
static QUOTED_LIST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"'[\w-]+'(?:\s*(?:\||,|or|and|, or|, and)\s*'[\w-]+')+"));
static ONE_OF: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"one of ([A-Za-z_]+(?:, [A-Za-z_]+)*(?:,? (?:or|and) [A-Za-z_]+)?)[.)]")
});
static EITHER: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(\w+) or (\w+) \(default=(\w+)\)"));

/// Names whose values are counts that start at one in every library: a window of size zero or a
/// stride of zero is an error wherever it occurs.
const FROM_ONE: [&str; 27] = [
    "kernel_size",
    "stride",
    "dilation",
    "groups",
    "num_groups",
    "output_size",
    "upscale_factor",
    "num_layers",
    "num_heads",
    "nhead",
    "hidden_size",
    "input_size",
    "in_channels",
    "out_channels",
    "in_features",
    "out_features",
    "num_features",
    "num_embeddings",
    "embedding_dim",
    "n_fft",
    "hop_length",
    "win_length",
    "chunks",
    "d_model",
    "dim_feedforward",
    "split_size",
    "signal_ndim",
];
const FROM_ZERO: [&str; 7] = [
    "padding",
    "output_padding",
    "steps",
    "window_length",
    "minlength",
    "bins",
    "eps",
];

pub(super) fn read(text: &str, hints: &mut ParamHints) {
    let lower = text.to_lowercase();
    if hints.range.is_none() {
        hints.range = range(&lower, hints);
    }
    if hints.choices.is_empty() {
        read_choices(text, &lower, hints);
    }
}

/// A name that is an integer wherever it occurs.
pub(super) fn is_count(name: &str) -> bool {
    FROM_ONE.contains(&name) || (FROM_ZERO.contains(&name) && name != "eps")
}

/// What a name alone says, where no text says more and the value is a number.
pub(super) fn range_of_name(param: &Param, hints: &mut ParamHints) {
    let other_kind = |kind: &Kind| kind.is_tensor() || *kind == Kind::Text;
    let takes_text =
        Expected::of(&param.constraint.dtypes).text || !param.constraint.enums.is_empty();
    if hints.range.is_some() || takes_text || hints.kinds.iter().any(other_kind) {
        return;
    }
    let name = param.name.as_str();
    // TensorFlow's `padding` is a word.
    let silent = hints.kinds.is_empty() && param.constraint.dtypes.is_empty();
    if FROM_ONE.contains(&name) {
        hints.range = Some(at_least(1.0));
    } else if FROM_ZERO.contains(&name) && !silent {
        hints.range = Some(at_least(0.0));
    }
}

fn range(lower: &str, hints: &ParamHints) -> Option<Range> {
    let first_sentence = lower.split(". ").next().unwrap_or(lower);
    if let Some(found) = BETWEEN.captures(lower) {
        let (from, to): (f64, f64) = (found[1].parse().ok()?, found[2].parse().ok()?);
        let only_floats = lower.contains("if float, should be between");
        let only_for = only_floats.then_some(DtypeTerm::Family(DtypeFamily::Float));
        return (from < to).then(|| Range {
            only_for,
            ..closed(from, to)
        });
    }
    if let Some(found) = BELOW_COUNT.captures(lower) {
        let mut range = at_least(0.0);
        range.upper.at = Expression::Symbol(found[1].to_owned());
        return Some(range);
    }
    if let Some(found) = INTERVAL.captures(lower) {
        return Some(at_least(found[1].parse().ok()?));
    }
    if lower.contains("non-negative")
        || lower.contains("nonnegative")
        || lower.contains("no less than zero")
    {
        return Some(at_least(0.0));
    }
    if POSITIVE.is_match(lower) {
        let whole = hints.kinds.contains(&Kind::Int);
        return Some(if whole { at_least(1.0) } else { above(0.0) });
    }
    if let Some(found) = MINIMUM
        .captures(lower)
        .filter(|_| !lower.contains("rank must"))
    {
        let bound = found[2].parse().ok()?;
        let open = matches!(&found[1], "greater than" | ">");
        return Some(if open { above(bound) } else { at_least(bound) });
    }
    if hints.kinds.iter().any(Kind::is_tensor) {
        return INDICES.is_match(lower).then(|| at_least(0.0));
    }
    let is_float = hints
        .kinds
        .iter()
        .any(|kind| matches!(kind, Kind::Float | Kind::Number));
    (is_float && PROBABILITY.is_match(first_sentence)).then(|| closed(0.0, 1.0))
}

fn closed(from: f64, to: f64) -> Range {
    Range {
        only_for: None,
        lower: Bound {
            at: Expression::Number(from),
            closed: true,
        },
        upper: Bound {
            at: Expression::Number(to),
            closed: true,
        },
    }
}

fn above(bound: f64) -> Range {
    let mut range = at_least(bound);
    range.lower.closed = false;
    range
}

fn read_choices(text: &str, lower: &str, hints: &mut ParamHints) {
    if let Some(found) = ONLY.captures(lower) {
        let numbers = found[1]
            .split([',', ' '])
            .filter_map(|word| word.parse().ok());
        hints.choices = numbers.map(Value::Int).collect();
        return;
    }
    let takes_text = hints.kinds.is_empty() || hints.kinds.contains(&Kind::Text);
    if !takes_text {
        return;
    }
    let certain = hints.kinds.contains(&Kind::Text);
    let listed = QUOTED_LIST
        .find(text)
        .filter(|found| certain || LEAD.is_match(&text[..found.start()].to_lowercase()))
        .map(|found| found.as_str());
    let mut words: Vec<&str> = match listed {
        Some(list) => QUOTED
            .captures_iter(list)
            .filter_map(|found| found.get(1))
            .map(|word| word.as_str())
            .collect(),
        // `'a' - does this. 'b' - does that.`
        None if text.starts_with('\'') => QUOTED
            .captures_iter(text)
            .filter_map(|found| found.get(1))
            .map(|word| word.as_str())
            .collect(),
        None => Vec::new(),
    };
    if words.is_empty() && hints.kinds.contains(&Kind::Text) {
        if let Some(found) = ONE_OF.captures(text).and_then(|found| found.get(1)) {
            words = found
                .as_str()
                .split([',', ' '])
                .filter(|word| !matches!(*word, "" | "or" | "and"))
                .collect();
        } else if let Some(found) = EITHER.captures(text)
            && (found[1] == found[3] || found[2] == found[3])
        {
            words = [1, 2]
                .into_iter()
                .filter_map(|at| found.get(at))
                .map(|word| word.as_str())
                .collect();
        }
    }
    let mut seen = Vec::new();
    words.retain(|word| {
        !seen.contains(word) && {
            seen.push(*word);
            true
        }
    });
    if words.len() > 1 {
        hints.choices = words
            .into_iter()
            .map(|word| Value::Text(word.to_owned()))
            .collect();
    }
}
