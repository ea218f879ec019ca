//! What a rejection asks for, read from its words.
//!
//! Libraries say what they want: "expected 4-D", "must be positive", "got [2] but expected [3]",
//! "not implemented for 'Int'". Nothing here knows a library's functions; a message that is
//! understood wrongly costs one more rejected input. Which argument it is about is seldom said; where Python code raised
//! it, the failing expression tells.

use std::sync::LazyLock;

use fissure_model::{Argument, ConcreteInput, Dtype, Exception, Passing, Value};
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::way::Way;
use super::words::dtypes_in;
use crate::by_keyword::fewer;

/// Wishes kept of one message.
const MOST: usize = 8;
/// Bytes of a message that are read: what follows is a list of overloads or a stack.
const READ: usize = 900;
/// Arguments that one failing expression is taken to be about.
const INVOLVED: usize = 2;

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
    /// The same element type for all tensors.
    SameDtype,
    /// Tensors of these two shapes agree in what they have to.
    Agree {
        one: Vec<u64>,
        other: Vec<u64>,
    },
    /// This size of the last dimension.
    Last(u64),
    /// This size of one dimension, counted from the end where negative.
    Axis {
        at: i64,
        size: u64,
    },
    /// This shape.
    Shape(Vec<u64>),
    /// Whole numbers that are indices of something: zeros and ones.
    Small,
    /// Elements in ascending order.
    Ordered,
    /// As many rows as columns.
    Square,
    /// The tensor in another form, by its name in the table of functions.
    Through(String),
    /// An object of the table of functions.
    Made(String),
    /// So many arguments by position, of the function or of the call on an object that was made.
    Positional {
        most: usize,
        called: bool,
    },
    /// What was made is the result already, and is not called.
    NotCalled,
    /// A size or a number that this divides.
    Multiple(u64),
    /// The call did not end in its time: a number smaller than this.
    Below(i64),
    /// How far the call came; asks for nothing.
    Reached(Way),
    /// Which reason it is, by its words without their numbers and by the place; asks for nothing.
    Reason(u64),
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
    Array,
    Sparse,
    Dict,
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("a fixed pattern is valid"));
    };
}

mod conditions;
mod elements;
mod mentioned;
mod shapes;
mod sizes;
mod sorts;

use conditions::condition;
use elements::elements;
use mentioned::mentioned;
use shapes::{last, named, shapes, two_shapes, unpacked, whole};
use sizes::{axes, bounds, lengths, multiples, paired, ranks, subscripts, substitutions};
use sorts::{element_types, forms, sorts};

pattern!(
    GOT,
    r"(?i)\b(?:but )?(?:got|received|found|instead|but is|but are|but was|was given|were given|is not|not)\b|\binstead of\b"
);
pattern!(QUOTED, r#"['"`]([A-Za-z_][\w.\-+ ]{0,30})['"`]"#);
pattern!(
    UNEXPECTED,
    r"(?i)unexpected keyword argument '?(\w+)|unrecognized keyword '?(\w+)|(\w+) (?:is|are) not supported|does not (?:support|take) (\w+)|invalid keyword argument '?(\w+)"
);
// What cannot be understood at all is not mended either.
pattern!(
    UNREADABLE,
    r"(?i)could not (?:interpret|parse|convert|understand)|unrecogni[sz]ed|unknown|invalid \w+ (?:identifier|name)|not callable"
);
pattern!(
    RESULT_CALLED,
    r"'[\w.]*(?:Tensor|ndarray|ArrayImpl)' object is not callable"
);
// A name in backticks is a name; a value in them is left as it is.
pattern!(BACKTICKS, r"`([A-Za-z_][\w]*\.[\w.]+)`");
pattern!(SPELLED, r"(?i)\b(two|three|four|five|six)\b");

/// What a rejection of this input asks for.
pub fn wishes(exception: &Exception, input: &ConcreteInput) -> Vec<Wish> {
    let found = said(&exception.message, input);
    let mut parts = exception.involved.split('|');
    let mut next = || parts.next().unwrap_or_default();
    let (place, words, clauses) = (next(), next(), next());
    let way = Way::read(place);
    let involved: Vec<&str> = words
        .split(',')
        .filter_map(|word| argument_of(word, input))
        .take(INVOLVED)
        .collect();
    // What the failing check itself says goes before what its message does.
    let mut told: Vec<Wish> = clauses
        .split(';')
        .filter_map(|clause| {
            let (word, clause) = clause.split_once(':')?;
            let about = argument_of(word, input)?.to_owned();
            let about = Some(about);
            let want = condition(clause)?;
            Some(Wish { about, want })
        })
        .collect();
    for wish in found {
        let want = match wish.want {
            Want::Reason(words) => {
                let place = way.iter().flat_map(Way::bytes);
                Want::Reason(hash(words, place))
            }
            other => other,
        };
        let of_all = matches!(want, Want::SameShape | Want::SameDtype | Want::Agree { .. });
        if wish.about.is_some() || of_all || involved.is_empty() {
            told.push(Wish { want, ..wish });
            continue;
        }
        let once = matches!(want, Want::Reason(_));
        for name in involved.iter().take(if once { 1 } else { INVOLVED }) {
            let about = Some((*name).to_owned());
            let want = want.clone();
            told.push(Wish { about, want });
        }
    }
    if let Some(wish) = how_called(&exception.message, input) {
        told.insert(0, wish);
    }
    if let Some(way) = way {
        add(&mut told, None, Want::Reached(way));
    }
    told
}

/// What is to be changed about the call and not about its arguments.
fn how_called(message: &str, input: &ConcreteInput) -> Option<Wish> {
    let not_called = || {
        let is_result = input.layer_arguments.is_some() && RESULT_CALLED.is_match(message);
        is_result.then_some(Want::NotCalled)
    };
    let want = fewer(message, input).or_else(not_called)?;
    Some(Wish { about: None, want })
}

/// The argument that a word of `involved.py` means.
fn argument_of<'a>(word: &str, input: &'a ConcreteInput) -> Option<&'a str> {
    let positional = |arguments: &'a [Argument], at: &str| {
        let mut placed = arguments
            .iter()
            .filter(|argument| argument.passing == Passing::Positional);
        placed.nth(at.parse().ok()?)
    };
    let layer = input.layer_arguments.as_deref().unwrap_or(&[]);
    let argument = if let Some(at) = word.strip_prefix('#') {
        positional(&input.arguments, at)
    } else if let Some(at) = word.strip_prefix('~') {
        positional(layer, at)
    } else {
        let mut all = input.arguments.iter().chain(layer);
        all.find(|argument| argument.name == word)
    };
    argument.map(|argument| argument.name.as_str())
}

/// What its words ask for.
fn said(message: &str, input: &ConcreteInput) -> Vec<Wish> {
    let layer = input.layer_arguments.iter().flatten();
    let all: Vec<&Argument> = input.arguments.iter().chain(layer).collect();
    let params: Vec<&str> = all.iter().map(|argument| argument.name.as_str()).collect();
    let message = without_place(message);
    let shown = mentioned(message, &params)
        .is_none()
        .then(|| shown(message, &all));
    let shown = shown.flatten();
    let mut found = asked(message, &params, shown);
    let about = shown.or_else(|| mentioned(message, &params));
    let optional = |argument: &&Argument| argument.passing == Passing::Keyword;
    let blamed = all
        .iter()
        .find(|argument| Some(argument.name.as_str()) == about);
    if let (Some(name), Some(_)) = (about, blamed.copied().filter(|it| optional(it))) {
        // The call may do without it.
        let place = usize::from(found.len() > 1 && !UNREADABLE.is_match(message));
        let nothing = Wish {
            about: Some(name.to_owned()),
            want: Want::Nothing,
        };
        if !found.contains(&nothing) {
            found.insert(place.min(found.len()), nothing);
        }
    }
    if about.is_none() && UNREADABLE.is_match(message) {
        for name in of_the_kind(message, &all) {
            add_first(&mut found, name);
        }
    }
    found
}

/// The call without an argument, before anything else is tried.
fn add_first(found: &mut Vec<Wish>, name: &str) {
    let nothing = Wish {
        about: Some(name.to_owned()),
        want: Want::Nothing,
    };
    found.insert(0, nothing);
}

/// Arguments that may be left out and have a word of the message in their name: "regularizer identifier" for
/// `kernel_regularizer` and `bias_regularizer`.
fn of_the_kind<'a>(message: &str, arguments: &[&'a Argument]) -> Vec<&'a str> {
    let words: Vec<&str> = message
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.len() > 4)
        .take(12)
        .collect();
    arguments
        .iter()
        .filter(|argument| argument.passing == Passing::Keyword && argument.value != Value::None)
        .map(|argument| argument.name.as_str())
        .filter(|name| name.split('_').any(|part| words.contains(&part)))
        .take(3)
        .collect()
}

/// The argument whose value stands in the message, where it is the only one.
fn shown<'a>(message: &str, arguments: &[&'a Argument]) -> Option<&'a str> {
    let stands = |text: &str| {
        message.match_indices(text).any(|(at, _)| {
            let joined = |it: char| it.is_alphanumeric() || it == '_';
            let before = message[..at].chars().next_back().is_some_and(joined);
            let after = message[at + text.len()..]
                .chars()
                .next()
                .is_some_and(joined);
            !before && !after
        })
    };
    let mut standing = arguments.iter().filter(|argument| match &argument.value {
        Value::Text(text) => text.len() > 1 && stands(text),
        // Small numbers stand in messages for many reasons.
        Value::Int(number) => number.abs() > 8 && stands(&number.to_string()),
        Value::Float(number) => number.fract() != 0.0 && stands(&number.to_string()),
        _ => false,
    });
    let first = standing.next()?;
    standing.next().is_none().then_some(first.name.as_str())
}

/// What a message asks for, about a call with these parameters (in order); `shown`: the parameter
/// whose value it shows.
fn asked(message: &str, params: &[&str], shown: Option<&str>) -> Vec<Wish> {
    let message = &plain(without_place(message));
    let end = (0..=READ.min(message.len()))
        .rev()
        .find(|at| message.is_char_boundary(*at));
    let message = &message[..end.unwrap_or(0)];
    let about = mentioned(message, params).or(shown);
    let mut found = Vec::new();
    let lower = message.to_lowercase();
    // What is wanted stands before what was got; a message without the second half is all wanted.
    let (wanted, got) = match GOT.find(message) {
        Some(at) => message.split_at(at.start()),
        None => (message, ""),
    };
    leave_out(message, params, &mut found);
    forms(&lower, about, &mut found);
    sorts(message, &lower, about, &mut found);
    element_types(message, wanted, got, about, &mut found);
    subscripts(message, &mut found);
    elements(message, about, &mut found);
    whole(message, about, &mut found);
    named(message, about, &mut found);
    paired(message, &mut found);
    two_shapes(message, &mut found);
    ranks(wanted, &lower, about, &mut found);
    last(wanted, about, &mut found);
    unpacked(message, &mut found);
    axes(message, about, &mut found);
    bounds(wanted, &lower, about, &mut found);
    multiples(message, params, about, &mut found);
    lengths(wanted, about, &mut found);
    shapes(&lower, about, &mut found);
    choices(message, params, about, &mut found);
    substitutions(wanted, got, about, &mut found);
    found.dedup();
    found.truncate(MOST);
    add(&mut found, None, Want::Reason(reason_of(message)));
    found
}

/// TensorFlow begins with where it happened, `{{function_node … device:CPU:0}} `, and ends with all that the operation
/// declares.
fn without_place(message: &str) -> &str {
    let mut message = message;
    while let Some((_, rest)) = message
        .strip_prefix("{{")
        .and_then(|rest| rest.split_once("}}"))
    {
        message = rest.trim_start();
    }
    match message.find("; NodeDef:") {
        Some(at) if at > 0 => message[..at].trim_end(),
        _ => message,
    }
}

/// "expects two hidden states" as "expects 2 hidden states", "`x.rank` must be" as "x.rank must be".
fn plain(message: &str) -> String {
    let digits = SPELLED.replace_all(message, |found: &regex::Captures<'_>| {
        match found[1].to_lowercase().as_str() {
            "two" => "2",
            "three" => "3",
            "four" => "4",
            "five" => "5",
            _ => "6",
        }
    });
    BACKTICKS.replace_all(&digits, "$1").into_owned()
}

/// The same number for the same words, whatever numbers and lists are among them.
fn reason_of(message: &str) -> u64 {
    let words = message
        .split(|letter: char| !letter.is_alphabetic() && letter != '_')
        .filter(|word| !word.is_empty())
        .take(40);
    let bytes = words.flat_map(|word| word.bytes().chain([b' ']));
    hash(0xcbf2_9ce4_8422_2325, bytes)
}

/// FNV-1a.
fn hash(start: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn add(found: &mut Vec<Wish>, about: Option<&str>, want: Want) {
    let about = about.map(str::to_owned);
    found.push(Wish { about, want });
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

#[cfg(test)]
mod tests;
