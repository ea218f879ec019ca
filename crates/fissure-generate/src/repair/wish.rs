//! What a rejection asks for, read from its words.
//!
//! Libraries say what they want: "expected 4-D", "must be positive", "got [2] but expected [3]",
//! "not implemented for 'Int'". Nothing here knows a library's functions; a message that is
//! understood wrongly costs one more rejected input.

use std::sync::LazyLock;

use fissure_model::Dtype;
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::words::{dtypes_in, has_dtype_words, numbers_in};

/// Wishes kept of one message.
const MOST: usize = 6;
/// Bytes of a message that are read: what follows is a list of overloads or a stack.
const READ: usize = 600;

/// What one rejection asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wish {
    /// The parameter, where the message names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub want: Want,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// One of these ranks.
    Rank(Vec<usize>),
    /// One of these element types, in place of `from` where that is known.
    Dtype {
        from: Option<Dtype>,
        to: Vec<Dtype>,
    },
    /// This number (a size, a length, a value) in place of that one.
    Number {
        from: i64,
        to: i64,
    },
    AtLeast(i64),
    AtMost(i64),
    Length(usize),
    /// A value of this plain sort.
    Sort(Sort),
    /// This word.
    Word(String),
    /// The parameter left away.
    Nothing,
    /// At least one element.
    Filled,
    /// The same shape for all tensors.
    SameShape,
    /// As many rows as columns.
    Square,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Int,
    Float,
    Bool,
    Text,
    Tensor,
    List,
    Tuple,
    Dtype,
    Callable,
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("a fixed pattern is valid"));
    };
}

pattern!(
    GOT,
    r"(?i)\b(?:but )?(?:got|received|found|instead|but is|but was|was given|were given|is not|not)\b|\binstead of\b"
);
pattern!(
    RANK,
    r"(?i)\b(\d)\s?-?d(?:imensional)?\b|\brank(?: should be| must be| of)?:? ?(?:exactly )?(?:equal to )?(\d)\b|\b(\d) (?:or more )?dim(?:ension)?s?\b|\bndim ?(?:==|>=|must be|=) ?(\d)"
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
pattern!(RANGE, r"[\[(] ?(-?\d+) ?(?:,|, |\.\.) ?(-?\d+) ?[\])]");
pattern!(
    LENGTH,
    r"(?i)length[^.]{0,40}?at least (?:minimum )?(\d+)|(?:length|size|elements?|values|entries|number of \w+)[^.\d]{0,24}?(?:must be|should be|to be|of|:|equal to|==|exactly) ?(\d+)|(?:must|should) (?:contain|have|be) (?:exactly )?(\d+) (?:elements|values|entries|items|ints|numbers)|sequence of (\d+)|of length (\d+)|(?:length|list|tuple) (?:of )?(\d+)"
);
pattern!(QUOTED, r#"['"`]([A-Za-z_][\w.\-+ ]{0,30})['"`]"#);
pattern!(
    UNEXPECTED,
    r"(?i)unexpected keyword argument '?(\w+)|unrecognized keyword '?(\w+)|(\w+) (?:is|are) not supported|does not (?:support|take) (\w+)|invalid keyword argument '?(\w+)"
);
pattern!(
    NOT_FOR,
    r"not (?:implemented|supported|defined|available) (?:yet )?(?:for|on) (?:type |dtype |the following types? |tensors? of type |input type |the type )?'?(\w+)"
);
pattern!(
    POSITION,
    r"(?i)(?:\(position |argument #|arg #|argument )(\d+)"
);

/// What a message asks for, about a call with these parameters (in order).
pub fn wishes(message: &str, params: &[&str]) -> Vec<Wish> {
    let end = (0..=READ.min(message.len()))
        .rev()
        .find(|at| message.is_char_boundary(*at));
    let message = &message[..end.unwrap_or(0)];
    let about = mentioned(message, params);
    let mut found = Vec::new();
    let lower = message.to_lowercase();
    // What is wanted stands before what was got; a message without the second half is all wanted.
    let (wanted, got) = match GOT.find(message) {
        Some(at) => message.split_at(at.start()),
        None => (message, ""),
    };
    leave_out(message, params, &mut found);
    sorts(message, &lower, about, &mut found);
    element_types(message, wanted, got, about, &mut found);
    ranks(wanted, &lower, about, &mut found);
    bounds(wanted, &lower, about, &mut found);
    lengths(wanted, about, &mut found);
    shapes(&lower, about, &mut found);
    choices(message, params, about, &mut found);
    substitutions(wanted, got, about, &mut found);
    found.dedup();
    found.truncate(MOST);
    found
}

fn add(found: &mut Vec<Wish>, about: Option<&str>, want: Want) {
    let about = about.map(str::to_owned);
    found.push(Wish { about, want });
}

/// The parameter that a message speaks of: in quotes before bare, by position last.
fn mentioned<'a>(message: &str, params: &[&'a str]) -> Option<&'a str> {
    let quoted = QUOTED.captures_iter(message).find_map(|found| {
        let name = found.get(1)?.as_str();
        params.iter().find(|param| **param == name)
    });
    let bare = || {
        let words = message.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words
            .filter(|word| word.len() >= 3)
            .find_map(|word| params.iter().find(|param| **param == word))
    };
    let placed = || {
        let position: usize = POSITION.captures(message)?.get(1)?.as_str().parse().ok()?;
        params.get(position.checked_sub(1)?)
    };
    quoted.or_else(bare).or_else(placed).copied()
}

fn leave_out(message: &str, params: &[&str], found: &mut Vec<Wish>) {
    for captures in UNEXPECTED.captures_iter(message) {
        let name = captures.iter().skip(1).flatten().next();
        if let Some(name) = name.map(|name| name.as_str())
            && params.contains(&name)
        {
            add(found, Some(name), Want::Nothing);
        }
    }
}

fn sorts(message: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    const SAID: [(&str, Sort); 26] = [
        ("must be int", Sort::Int),
        ("expected int", Sort::Int),
        ("must be an int", Sort::Int),
        ("an integer", Sort::Int),
        ("cannot be interpreted as an integer", Sort::Int),
        ("must be float", Sort::Float),
        ("expected float", Sort::Float),
        ("must be number", Sort::Float),
        ("must be real number", Sort::Float),
        ("must be bool", Sort::Bool),
        ("expected bool", Sort::Bool),
        ("must be str", Sort::Text),
        ("expected string", Sort::Text),
        ("must be a string", Sort::Text),
        ("must be tensor", Sort::Tensor),
        ("expected a tensor", Sort::Tensor),
        ("expected tensor", Sort::Tensor),
        ("of type 'tensor'", Sort::Tensor),
        ("object has no attribute 'shape'", Sort::Tensor),
        ("must be tuple of", Sort::Tuple),
        ("must be a tuple", Sort::Tuple),
        ("must be list", Sort::List),
        ("expected list", Sort::List),
        ("object is not iterable", Sort::List),
        ("expected datatype", Sort::Dtype),
        ("object is not callable", Sort::Callable),
    ];
    if let Some((_, sort)) = SAID.iter().find(|(said, _)| lower.contains(said)) {
        add(found, about, Want::Sort(*sort));
    } else if message.contains("must be Tensor") || lower.contains("'descriptor'") {
        add(found, about, Want::Sort(Sort::Tensor));
    }
}

fn element_types(
    message: &str,
    wanted: &str,
    got: &str,
    about: Option<&str>,
    found: &mut Vec<Wish>,
) {
    const FLOATING: [Dtype; 2] = [Dtype::Float32, Dtype::Float64];
    if let Some(refused) = NOT_FOR.captures(message) {
        let from = dtypes_in(&refused[1]).first().copied();
        if from.is_some() {
            let to = match from {
                Some(dtype) if dtype.is_float() => vec![Dtype::Float32, Dtype::Int64],
                _ => FLOATING.to_vec(),
            };
            return add(found, about, Want::Dtype { from, to });
        }
    }
    if !has_dtype_words(message) {
        return;
    }
    let mut to = dtypes_in(wanted);
    let mut from = dtypes_in(got);
    if to.is_empty() && !from.is_empty() {
        // "got Int, expected Float": the halves are the other way round.
        std::mem::swap(&mut to, &mut from);
        from.clear();
    }
    to.retain(|dtype| !from.contains(dtype));
    if !to.is_empty() {
        let from = from.first().copied();
        add(found, about, Want::Dtype { from, to });
    }
}

fn ranks(wanted: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let mut ranks: Vec<usize> = RANK
        .captures_iter(wanted)
        .filter_map(|captures| {
            let digits = captures.iter().skip(1).flatten().next()?;
            digits.as_str().parse().ok()
        })
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

fn bounds(wanted: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
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

fn lengths(wanted: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    for captures in LENGTH.captures_iter(wanted).take(2) {
        let digits = captures.iter().skip(1).flatten().next();
        if let Some(length) = digits.and_then(|digits| digits.as_str().parse().ok())
            && length <= 16
        {
            add(found, about, Want::Length(length));
        }
    }
}

fn shapes(lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    if lower.contains("square") {
        add(found, about, Want::Square);
    } else if lower.contains("same shape")
        || lower.contains("same size")
        || lower.contains("shapes must match")
        || lower.contains("not broadcastable")
        || lower.contains("incompatible shapes")
    {
        add(found, None, Want::SameShape);
    }
}

/// Words in quotes that are no parameter are often the values that are allowed.
fn choices(message: &str, params: &[&str], about: Option<&str>, found: &mut Vec<Wish>) {
    let lower = message.to_lowercase();
    let lists = [
        "one of",
        "supported",
        "valid",
        "allowed",
        "expected",
        "should be",
        "must be",
    ];
    if !lists.iter().any(|said| lower.contains(said)) {
        return;
    }
    for captures in QUOTED.captures_iter(message).take(4) {
        let word = &captures[1];
        if !params.contains(&word) && dtypes_in(word).is_empty() {
            add(found, about, Want::Word(word.to_owned()));
        }
    }
}

/// A number that was got is replaced by one that is wanted, wherever the call has it.
fn substitutions(wanted: &str, got: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let left = numbers_in(wanted);
    let right = numbers_in(got);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(message: &str, params: &[&str]) -> Vec<Want> {
        wishes(message, params)
            .into_iter()
            .map(|wish| wish.want)
            .collect()
    }

    #[test]
    fn a_wanted_rank_is_read_and_the_one_that_was_got_is_not() {
        let wanted = wants(
            "Expected 3D or 4D (batch mode) tensor, but got: 2D",
            &["input"],
        );
        assert!(wanted.contains(&Want::Rank(vec![3, 4])), "{wanted:?}");
        let wanted = wants("Input rank should be: 4 instead of: 2", &["input"]);
        assert!(wanted.contains(&Want::Rank(vec![4])), "{wanted:?}");
    }

    #[test]
    fn the_parameter_that_a_message_names_is_what_it_is_about() {
        let found = wishes(
            "Expected int for argument 'num_shards' not [1, 2].",
            &["config", "num_shards"],
        );
        assert_eq!(found[0].about.as_deref(), Some("num_shards"));
        assert_eq!(found[0].want, Want::Sort(Sort::Int));
        let found = wishes(
            "argument (position 2) must be Tensor, not int",
            &["input", "other"],
        );
        assert_eq!(found[0].about.as_deref(), Some("other"));
    }

    #[test]
    fn a_refused_element_type_becomes_another() {
        let wanted = wants("\"softmax\" not implemented for 'Int'", &["input"]);
        let to = vec![Dtype::Float32, Dtype::Float64];
        let from = Some(Dtype::Int32);
        assert_eq!(wanted[0], Want::Dtype { from, to });
        let wanted = wants("expected scalar type Float but found Double", &["a"]);
        let to = vec![Dtype::Float32];
        let from = Some(Dtype::Float64);
        assert!(wanted.contains(&Want::Dtype { from, to }), "{wanted:?}");
    }

    #[test]
    fn sizes_that_must_agree_are_tried_both_ways() {
        let wanted = wants(
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
            &["a", "b"],
        );
        assert!(
            wanted.contains(&Want::Number { from: 4, to: 3 }),
            "{wanted:?}"
        );
        assert!(
            wanted.contains(&Want::Number { from: 3, to: 4 }),
            "{wanted:?}"
        );
    }

    #[test]
    fn bounds_and_choices_are_read() {
        let wanted = wants("stride must be positive", &["stride"]);
        assert!(wanted.contains(&Want::AtLeast(1)), "{wanted:?}");
        let wanted = wants(
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
            &["input", "dim"],
        );
        assert!(wanted.contains(&Want::AtMost(1)), "{wanted:?}");
        let wanted = wants(
            "`data_format` values other than 'NHWC' are not supported. Received: data_format=mean",
            &["data_format"],
        );
        assert!(wanted.contains(&Want::Word("NHWC".into())), "{wanted:?}");
        let wanted = wants("got an unexpected keyword argument 'name'", &["x", "name"]);
        assert_eq!(wanted[0], Want::Nothing);
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in [
            "",
            "é".repeat(400).as_str(),
            "9".repeat(40).as_str(),
            "[1,2) > < >= -",
        ] {
            wishes(text, &["x"]);
        }
    }
}
