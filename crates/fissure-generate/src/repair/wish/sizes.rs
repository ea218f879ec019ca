//! Ranks, sizes, lengths and bounds that a rejection asks for.

use std::sync::LazyLock;

use regex::Regex;

use super::super::words::numbers_in;
use super::{Want, Wish, add};

pattern!(
    RANK,
    r"(?i)\b(\d)\s?-?d(?:imensional)?\b|\brank(?: should be| must be| of)?:? ?(?:exactly |>= ?|at least )?(?:equal to )?(\d)\b|\b(\d) (?:or more )?dim(?:ension)?s?\b|\bndim ?(?:==|>=|must be|=) ?(\d)"
);
pattern!(
    AXIS,
    r"(?i)dimension out of range \(expected to be in range of \[-?\d+, -?\d+\], but got (\d)\)|must have rank (?:at least )?(\d)|at least rank (\d)|rank at least (\d)|at least (\d) dimensions"
);
pattern!(
    LEAST,
    r"(?i)(?:at least|greater than or equal to|no less than|>=|minimum(?: of)?) ?(-?\d+)"
);
pattern!(
    ABOVE,
    r"(?i)(?:greater than|larger than|more than|> ) ?(-?\d+)"
);
pattern!(
    MOST_ALLOWED,
    r"(?i)(?:at most|less than or equal to|no more than|<=|maximum(?: of)?) ?(-?\d+)"
);
pattern!(BELOW, r"(?i)(?:less than|smaller than|< ) ?(-?\d+)");
// "The first dimension of paddings must be the rank of inputs[5,2] [2,3]".
pattern!(PAIRED, r"must be the rank of inputs ?\[(\d),\d+\]");
pattern!(BETWEEN, r"(?i)\bbetween (-?\d+) and (-?\d+)?");
// "expected to be divisible by num_groups, but got … num_groups=4", "must be a multiple of 8".
pattern!(
    MULTIPLE,
    r"(?i)(?:divisible by|multiple of|divide by) (?:the )?(?:value of )?`?(?:(\d+)|([a-z_][\w ]{2,24}?)(?: ?\((\d+)\)|,? but.*\b([a-z_]\w*) ?[=:] ?(\d+)| ?= ?(\d+)))"
);
pattern!(RANGE, r"[\[(] ?(-?\d+) ?(?:,|, |\.\.) ?(-?\d+) ?[\])]");
pattern!(
    LENGTH,
    r"(?i)length[^.]{0,40}?at least (?:minimum )?(\d+)|(?:length|size|elements?|values|entries|number of \w+)[^.\d]{0,24}?(?:must be|should be|to be|of|:|equal to|==|exactly) ?(\d+)|(?:must|should) (?:contain|have|be) (?:exactly )?(\d+) (?:elements|values|entries|items|ints|numbers)|sequence of (\d+)|of length (\d+)|(?:expects?|expected|requires?) (?:exactly )?(\d+) (?:\w+ )?(?:states|tensors|inputs|elements|values|items|entries)|(?:vector|array|tensor|list) (?:of|with) (?:exactly )?(\d+) (?:elements|values|entries|items|numbers)|must (?:specify|provide) (?:exactly )?(\d+)|(?:length|list|tuple) (?:of )?(\d+)"
);

// An index beyond a size, in Python's own subscripts: PyTorch, NumPy, JAX.
pattern!(
    BEYOND,
    r"(?i)index (-?\d+) is out of bounds for (?:dimension|axis) \d+ with size (\d+)"
);
// "too many indices for tensor of dimension 1", "array is 1-dimensional, but 2 were indexed".
pattern!(
    TOO_MANY,
    r"(?i)too many indices for (?:tensor of dimension (\d)|array: array is \d-dimensional, but (\d) were indexed)"
);

pattern!(FOLLOWING, r"^(?:,? or|,) ?(\d{1,2})\b");

pattern!(
    WHERE,
    r"(?i)\b(?:dimension|dim|axis|input|component|position)s? #?-?\d+"
);

/// What a subscript needs: a size beyond its index, a dimension for each of its parts.
pub(super) fn subscripts(message: &str, found: &mut Vec<Wish>) {
    if let Some(beyond) = BEYOND.captures(message)
        && let (Ok(index), Ok(size)) = (beyond[1].parse::<i64>(), beyond[2].parse::<i64>())
    {
        let needed = if index < 0 {
            index.saturating_neg()
        } else {
            index.saturating_add(1)
        };
        add(
            found,
            None,
            Want::Number {
                from: size,
                to: needed,
            },
        );
    }
    if let Some(many) = TOO_MANY.captures(message) {
        let number = |at: usize| {
            many.get(at)
                .and_then(|it| it.as_str().parse::<usize>().ok())
        };
        // PyTorch says how many there are, NumPy how many are needed.
        if let Some(rank) = number(1).map(|rank| rank + 1).or(number(2)) {
            add(found, None, Want::Rank(vec![rank]));
        }
    }
}

/// What is said of each dimension of another tensor: two numbers for each.
pub(super) fn paired(message: &str, found: &mut Vec<Wish>) {
    if let Some(captures) = PAIRED.captures(message)
        && let Ok(rank) = captures[1].parse()
    {
        add(found, None, Want::Rank(vec![rank]));
    }
}

/// An axis that some tensor lacks, or a rank that one has at least.
pub(super) fn axes(message: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let Some(captures) = AXIS.captures(message) else {
        return;
    };
    let number = |at: usize| captures.get(at).and_then(|it| it.as_str().parse().ok());
    let least: Option<usize> = number(1).map(|axis: usize| axis.saturating_add(1));
    let said = least.or_else(|| (2..6).find_map(number));
    if let Some(rank) = said.filter(|rank| *rank <= 8) {
        add(found, about, Want::Rank(vec![rank]));
    }
}

pub(super) fn ranks(wanted: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let mut ranks: Vec<usize> = RANK
        .captures_iter(wanted)
        .filter_map(|captures| captures.iter().skip(1).flatten().next())
        .flat_map(|digits| listed(wanted, digits))
        .filter(|rank| *rank <= 8)
        .collect();
    for (word, rank) in [("scalar", 0), ("vector", 1), ("matrix", 2), ("matrices", 2)] {
        let says = [
            "must be a ",
            "should be a ",
            "expected a ",
            "not a ",
            "batches of ",
        ];
        if says
            .iter()
            .any(|said| lower.contains(&format!("{said}{word}")))
        {
            ranks.push(rank);
        }
    }
    ranks.dedup();
    if !ranks.is_empty() {
        add(found, about, Want::Rank(ranks));
    }
}

pub(super) fn bounds(wanted: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let number = |pattern: &Regex| -> Option<i64> {
        let captures = pattern.captures(wanted)?;
        captures.get(1)?.as_str().parse().ok()
    };
    if let Some(range) = RANGE.captures(wanted).filter(|_| lower.contains("range"))
        && let (Ok(least), Ok(most)) = (range[1].parse(), range[2].parse())
    {
        add(found, about, Want::AtLeast(least));
        add(found, about, Want::AtMost(most));
    }
    if let Some(between) = BETWEEN.captures(wanted) {
        if let Ok(least) = between[1].parse() {
            add(found, about, Want::AtLeast(least));
        }
        match between.get(2).map(|most| most.as_str().parse()) {
            Some(Ok(most)) => add(found, about, Want::AtMost(most)),
            // A size that is named and not told.
            _ => add(found, about, Want::AtMost(1)),
        }
    }
    if let Some(least) = number(&LEAST) {
        add(found, about, Want::AtLeast(least));
    } else if let Some(above) = number(&ABOVE) {
        add(found, about, Want::AtLeast(above.saturating_add(1)));
    } else if ["non-negative", "nonnegative", "non negative"]
        .iter()
        .any(|said| lower.contains(said))
        || lower.contains("negative") && !lower.contains("must be negative")
    {
        add(found, about, Want::AtLeast(0));
    } else if ["positive", "non-zero", "nonzero", "zero"]
        .iter()
        .any(|said| lower.contains(said))
    {
        add(found, about, Want::AtLeast(1));
    }
    if let Some(most) = number(&MOST_ALLOWED) {
        add(found, about, Want::AtMost(most));
    } else if let Some(below) = number(&BELOW) {
        add(found, about, Want::AtMost(below.saturating_sub(1)));
    }
    if ["empty", "at least one element", "no elements", "zero-size"]
        .iter()
        .any(|said| lower.contains(said))
    {
        add(found, about, Want::Filled);
    }
}

/// What a size or a number has to be a multiple of.
pub(super) fn multiples(
    message: &str,
    params: &[&str],
    about: Option<&str>,
    found: &mut Vec<Wish>,
) {
    let Some(captures) = MULTIPLE.captures(message) else {
        return;
    };
    let named = captures.get(2).map(|name| name.as_str());
    let shown = captures.get(4).map(|name| name.as_str());
    let digits = [1, 3, 5, 6].into_iter().find_map(|at| captures.get(at));
    if shown.is_some() && shown != named {
        return;
    }
    let divisor = digits.and_then(|digits| digits.as_str().parse().ok());
    if let Some(divisor) = divisor.filter(|divisor| (2..=256).contains(divisor)) {
        // What divides is not what is to be divided.
        let about = about.filter(|about| Some(*about) != named);
        add(found, about, Want::Multiple(divisor));
        if let Some(divides) = params.iter().find(|param| Some(**param) == named) {
            // Whatever is to be divided, this divides it.
            let (from, to) = (divisor as i64, 1);
            add(found, Some(*divides), Want::Number { from, to });
        }
    }
}

pub(super) fn lengths(wanted: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    for captures in LENGTH.captures_iter(wanted).take(2) {
        let digits = captures.iter().skip(1).flatten().next();
        for length in digits
            .map(|digits| listed(wanted, digits))
            .unwrap_or_default()
        {
            if length <= 16 {
                add(found, about, Want::Length(length));
            }
        }
    }
}

/// A number and those that follow it as a list: "of length 1, 3 or 5".
fn listed(text: &str, first: regex::Match<'_>) -> Vec<usize> {
    let mut all: Vec<usize> = first.as_str().parse().into_iter().collect();
    let mut rest = &text[first.end()..];
    while let Some(next) = FOLLOWING.captures(rest) {
        all.extend(next[1].parse::<usize>());
        rest = &rest[next[0].len()..];
    }
    all
}

/// A number that was got is replaced by one that is wanted, wherever the call has it.
pub(super) fn substitutions(wanted: &str, got: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    // Which dimension it is about is no size.
    let left = numbers_in(&WHERE.replace_all(wanted, ""));
    let right = numbers_in(&WHERE.replace_all(got, ""));
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    for from in right.iter().take(3) {
        pairs.extend(left.iter().take(3).map(|to| (*from, *to)));
    }
    if right.is_empty() || left.is_empty() {
        // "The size of tensor a (3) must match the size of tensor b (4)".
        let all: Vec<i64> = left.into_iter().chain(right).take(4).collect();
        for (index, one) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                pairs.push((*other, *one));
                pairs.push((*one, *other));
            }
        }
    }
    for (from, to) in pairs.into_iter().filter(|(from, to)| from != to).take(4) {
        add(found, about, Want::Number { from, to });
    }
}
