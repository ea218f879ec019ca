//! Text to tokens. Every symbol has an ASCII spelling and the mathematical one.

use crate::error::RuleError;
use crate::syntax::Span;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// Without sign; too large a number is an error of the parser, which knows the sign.
    Integer(u128),
    Float(f64),
    Text(String),
    Word(String),
    /// A name in backticks: never a keyword.
    Quoted(String),
    /// Keywords, operators and brackets, in their ASCII spelling.
    Symbol(&'static str),
    End,
}

/// Words that mean something in the language; a parameter of that name is written in backticks.
pub(crate) const KEYWORDS: [&str; 12] = [
    "and", "or", "not", "in", "if", "then", "else", "forall", "exists", "true", "false", "inf",
];

/// Other spellings of keywords and operators.
const SPELLINGS: [(&str, &str); 45] = [
    ("|=", "|="),
    ("⊨", "|="),
    ("=>", "=>"),
    ("⇒", "=>"),
    ("→", "=>"),
    ("==", "="),
    ("!=", "!="),
    ("≠", "!="),
    ("<=", "<="),
    ("≤", "<="),
    (">=", ">="),
    ("≥", ">="),
    ("//", "//"),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("*", "*"),
    ("×", "*"),
    ("·", "*"),
    ("/", "/"),
    ("%", "%"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    (",", ","),
    (":", ":"),
    ("?", "?"),
    ("|", "|"),
    ("⊎", "|"),
    ("∪", "|"),
    (".", "."),
    ("∧", "and"),
    ("∨", "or"),
    ("¬", "not"),
    ("∀", "forall"),
    ("∃", "exists"),
    ("∈", "in"),
    ("∉", "∉"),
    ("∞", "inf"),
];

/// The tokens of `text` with their places, the last one [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, RuleError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = if first.is_ascii_digit() {
            number(rest, at)?
        } else if is_word_start(first) {
            word(rest)
        } else if first == '"' {
            string(rest, at)?
        } else if first == '`' {
            quoted(rest, at)?
        } else if let Some((spelling, symbol)) = SPELLINGS
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
        {
            (Token::Symbol(symbol), spelling.len())
        } else {
            let span = at..at + first.len_utf8();
            let error = RuleError::new(format!("`{first}` means nothing here"), span);
            return Err(match first {
                '\'' => error.with_help("texts stand in double quotes: \"mean\""),
                '&' => error.with_help("write `and`"),
                '!' => error.with_help("write `not`, or `!=` to compare"),
                _ => error,
            });
        };
        found.push((token, at..at + length));
        at += length;
    }
    found.push((Token::End, text.len()..text.len()));
    Ok(found)
}

pub(crate) fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(crate) fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(rest: &str) -> (Token, usize) {
    let length = rest.find(|c: char| !is_word_part(c)).unwrap_or(rest.len());
    let word = &rest[..length];
    // Python's spelling of the two truths is a common slip with one possible meaning.
    let keyword = match word {
        "True" => "true",
        "False" => "false",
        other => other,
    };
    let token = match KEYWORDS.iter().find(|known| **known == keyword) {
        Some(keyword) => Token::Symbol(keyword),
        None => Token::Word(word.to_owned()),
    };
    (token, length)
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), RuleError> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let mut length = digits(rest);
    let mut whole = true;
    if rest[length..].starts_with('.') {
        let fraction = digits(&rest[length + 1..]);
        if fraction > 0 {
            length += 1 + fraction;
            whole = false;
        }
    }
    if rest[length..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
        let exponent = digits(&rest[length + 1 + sign..]);
        if exponent > 0 {
            length += 1 + sign + exponent;
            whole = false;
        }
    }
    let text = &rest[..length];
    let token = if whole {
        text.parse().ok().map(Token::Integer)
    } else {
        text.parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(Token::Float)
    };
    match token {
        Some(token) => Ok((token, length)),
        None => Err(RuleError::new(
            format!("the number {text} is too large"),
            at..at + length,
        )),
    }
}

fn string(rest: &str, at: usize) -> Result<(Token, usize), RuleError> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((position, c)) = characters.next() {
        match c {
            '"' => return Ok((Token::Text(text), position + 1)),
            '\n' => break,
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, same @ ('"' | '\\'))) => text.push(same),
                Some((next, other)) => {
                    let span = at + position..at + next + other.len_utf8();
                    return Err(RuleError::new(format!("unknown escape `\\{other}`"), span)
                        .with_help("known are \\n, \\t, \\\" and \\\\"));
                }
                None => break,
            },
            other => text.push(other),
        }
    }
    Err(RuleError::new("the text has no end", at..at + 1).with_help("add the closing \""))
}

fn quoted(rest: &str, at: usize) -> Result<(Token, usize), RuleError> {
    match rest[1..].find(['`', '\n']) {
        Some(length) if length > 0 && rest[1 + length..].starts_with('`') => {
            Ok((Token::Quoted(rest[1..=length].to_owned()), length + 2))
        }
        _ => Err(RuleError::new("the name has no end", at..at + 1).with_help("add the closing `")),
    }
}
