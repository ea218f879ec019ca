//! Reading rule files.

use crate::check::{check, parameters_of};
use crate::error::{RuleError, nearest};
use crate::file::{Evidence, FileParam, NamedRule, Place, RuleFile};
use crate::lexer::{Token, is_word_part, is_word_start, tokens};
use crate::parser::{Precedence, parse_expression, parse_rule, parse_type};
use crate::syntax::{Declaration, Rule};

const WORDS: [&str; 6] = ["api", "library", "seed", "param", "call", "rule"];
const NOTES: [&str; 4] = ["about", "accepted", "rejected", "reason"];

/// What the file says, and an error for every entry that cannot be used. Every rule returned
/// type-checks.
pub fn read_file(text: &str, precedence: Precedence) -> (RuleFile, Vec<RuleError>) {
    let mut reader = Reader {
        text,
        precedence,
        file: RuleFile::default(),
        errors: Vec::new(),
        pending: Vec::new(),
    };
    for entry in entries(text, &mut reader.errors) {
        if let Err(error) = reader.entry(&entry) {
            reader.errors.push(error);
        }
    }
    // After all parameters are known, wherever they stand.
    for (entry, notes) in std::mem::take(&mut reader.pending) {
        match reader.rule(&entry, notes) {
            Ok(rule) => reader.file.rules.push(rule),
            Err(error) => reader.errors.push(error),
        }
    }
    reader.errors.sort_by_key(|error| error.span.start);
    (reader.file, reader.errors)
}

/// An unindented line and the indented lines below it.
struct Entry<'a> {
    word: &'a str,
    start: usize,
    /// What follows the word, up to the first note; may span lines.
    value: &'a str,
    value_start: usize,
    notes: Vec<(usize, &'a str)>,
}

fn entries<'a>(text: &'a str, errors: &mut Vec<RuleError>) -> Vec<Entry<'a>> {
    let mut found: Vec<Entry> = Vec::new();
    // An entry that was refused swallows its indented lines.
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let line_start = start;
        start += line.len();
        let content = line.trim_end();
        let inner = content.trim_start();
        if inner.is_empty() || inner.starts_with('#') {
            continue;
        }
        let word_end = inner
            .find(|c: char| !is_word_part(c))
            .unwrap_or(inner.len());
        let word = &inner[..word_end];
        let inner_start = line_start + content.len() - inner.len();
        let line_end = line_start + content.len();
        if inner.len() == content.len() {
            let rest = inner[word_end..].trim_start();
            found.push(Entry {
                word,
                start: line_start,
                value: rest,
                value_start: line_end - rest.len(),
                notes: Vec::new(),
            });
            continue;
        }
        let is_note = NOTES.contains(&word);
        match found.last_mut().filter(|entry| entry.word == "rule") {
            Some(entry) if is_note => entry.notes.push((inner_start, inner)),
            Some(entry) if entry.notes.is_empty() => {
                entry.value = &text[entry.value_start..line_end];
            }
            _ => errors.push(
                RuleError::new("this line belongs to nothing", inner_start..line_end).with_help(
                    "indented lines continue a rule or say about, accepted, rejected, reason",
                ),
            ),
        }
    }
    found
}

struct Reader<'a> {
    text: &'a str,
    precedence: Precedence,
    file: RuleFile,
    errors: Vec<RuleError>,
    pending: Vec<(Entry<'a>, Notes)>,
}

#[derive(Default)]
struct Notes {
    about: Option<String>,
    evidence: Evidence,
}

impl<'a> Reader<'a> {
    fn entry(&mut self, entry: &Entry<'a>) -> Result<(), RuleError> {
        let value = entry.value.trim();
        let span = entry.value_start..entry.value_start + value.len();
        match entry.word {
            "api" => self.file.api = Some(value.to_owned()),
            "library" => self.file.library = Some(value.to_owned()),
            "seed" => {
                let seed = value.parse();
                self.file.seed = Some(seed.map_err(|_| RuleError::new("expected a number", span))?);
            }
            "param" => {
                let param = param(entry)?;
                self.file.params.push(param);
            }
            "call" => {
                let param = param(entry)?;
                self.file.call_params.push(param);
            }
            "rule" => {
                let notes = self.notes(&entry.notes);
                let entry = Entry {
                    notes: Vec::new(),
                    ..*entry
                };
                self.pending.push((entry, notes));
            }
            other => {
                let span = entry.start..entry.start + other.len().max(1);
                let error = RuleError::new(format!("unknown word `{other}`"), span);
                let help = match nearest(other, WORDS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("a line begins with one of {}", WORDS.join(", ")),
                };
                return Err(error.with_help(help));
            }
        }
        Ok(())
    }

    fn notes(&mut self, lines: &[(usize, &str)]) -> Notes {
        let mut notes = Notes::default();
        for (start, line) in lines {
            let found = note(line, &mut notes);
            self.errors
                .extend(found.err().map(|error| error.moved(*start)));
        }
        notes
    }

    fn rule(&mut self, entry: &Entry, notes: Notes) -> Result<NamedRule, RuleError> {
        let (name, body, body_start) = named(entry)?;
        let span = entry.start..entry.value_start + entry.value.len();
        if self.file.rules.iter().any(|rule| rule.name == name) {
            let message = format!("the rule `{name}` is there twice");
            return Err(RuleError::new(message, entry.value_start..body_start));
        }
        debug_assert!(self.text.is_char_boundary(body_start));
        let read = || {
            let rule = if body.trim_start().starts_with('{') {
                parse_rule(body, self.precedence)?
            } else {
                let body = parse_expression(body, self.precedence)?;
                let params = parameters_of(&body, &self.file.declarations());
                Rule { params, body }
            };
            check(&rule)?;
            Ok(rule)
        };
        let rule = read().map_err(|error: RuleError| error.moved(body_start))?;
        Ok(NamedRule {
            name: name.to_owned(),
            rule,
            about: notes.about,
            evidence: notes.evidence,
            span,
        })
    }
}

/// `name: rest`, and where the rest starts.
fn named<'a>(entry: &Entry<'a>) -> Result<(&'a str, &'a str, usize), RuleError> {
    let value = entry.value;
    let is_name = |name: &str| name.starts_with(is_word_start) && name.chars().all(is_word_part);
    match value.split_once(':') {
        Some((name, rest)) if is_name(name.trim()) => {
            let start = entry.value_start + value.len() - rest.len();
            Ok((name.trim(), rest, start))
        }
        _ => {
            let end = entry.value_start + value.lines().next().map_or(0, str::len);
            let message = format!("expected a name and a colon after `{}`", entry.word);
            Err(RuleError::new(message, entry.start..end))
        }
    }
}

fn param(entry: &Entry) -> Result<FileParam, RuleError> {
    let (place, entry) = placed(entry)?;
    let (name, rest, start) = named(&entry)?;
    let (of, default) = match rest.split_once('=') {
        Some((of, default)) => (of, Some(default.trim().to_owned())),
        None => (rest, None),
    };
    let of = parse_type(of).map_err(|error| error.moved(start))?;
    Ok(FileParam {
        declaration: Declaration {
            name: name.to_owned(),
            of,
        },
        place,
        default,
    })
}

/// The word before the name, and the entry without it.
fn placed<'a>(entry: &Entry<'a>) -> Result<(Place, Entry<'a>), RuleError> {
    let mut bare = Entry {
        notes: Vec::new(),
        ..*entry
    };
    let before = entry.value.split(':').next().map_or("", str::trim_end);
    let Some((word, _)) = before.split_once(char::is_whitespace) else {
        return Ok((Place::Either, bare));
    };
    let Some((_, place)) = Place::WORDS.iter().find(|(known, _)| *known == word) else {
        let span = entry.value_start..entry.value_start + word.len();
        let error = RuleError::new(format!("unknown word `{word}`"), span);
        return Err(error.with_help(
            "before the name of a parameter stands positional, keyword or rest, or nothing",
        ));
    };
    bare.value = entry.value[word.len()..].trim_start();
    bare.value_start += entry.value.len() - bare.value.len();
    Ok((*place, bare))
}

fn note(line: &str, notes: &mut Notes) -> Result<(), RuleError> {
    let found = tokens(line)?;
    let number = |at: usize| match found.get(at) {
        Some((Token::Integer(value), span)) => u64::try_from(*value)
            .map_err(|_| RuleError::new("the number is too large", span.clone())),
        Some((_, span)) => Err(RuleError::new("expected a number", span.clone())),
        None => Err(RuleError::new("expected a number", line.len()..line.len())),
    };
    let text = || match found.get(1) {
        Some((Token::Text(text), _)) => Ok(text.clone()),
        _ => Err(RuleError::new(
            "expected a text in double quotes",
            0..line.len(),
        )),
    };
    let length = match &found[0].0 {
        Token::Word(word) if word == "about" => {
            notes.about = Some(text()?);
            2
        }
        Token::Word(word) if word == "reason" => {
            notes.evidence.reason = Some(text()?);
            2
        }
        Token::Word(word) if word == "accepted" => {
            notes.evidence.accepted = Some(number(1)?);
            2
        }
        _ => {
            notes.evidence.rejected = Some((number(1)?, number(3)?));
            if found[2].0 != Token::Word("of".to_owned()) {
                let help = "it is written: rejected 40 of 41";
                return Err(RuleError::new("expected `of`", found[2].1.clone()).with_help(help));
            }
            4
        }
    };
    match &found[length] {
        (Token::End, _) => Ok(()),
        (_, span) => Err(RuleError::new("expected the end of the line", span.clone())),
    }
}
