//! Rule files: blocks of `Rule N (words)` and one rule, separated by `>>`.

use crate::centaur::translate::translated;
use crate::error::RuleError;
use crate::parser::{Precedence, parse_rule};
use crate::syntax::{Rule, Span};

/// One rule of such a file, in our language.
#[derive(Clone, Debug)]
pub struct CentaurRule {
    /// Invariants refer to it as `rule_N`.
    pub number: u64,
    /// The words in brackets.
    pub about: String,
    pub rule: Rule,
    /// Where the file has the rule.
    pub span: Span,
}

/// Is this one of their rule files rather than one of ours?
pub fn looks_like_rules(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .is_some_and(|line| line == ">>" || header(line).is_some())
}

/// The rules of the file, and an error for each that is not understood.
pub fn read_rules(text: &str, precedence: Precedence) -> (Vec<CentaurRule>, Vec<RuleError>) {
    let mut rules = Vec::new();
    let mut errors = Vec::new();
    let mut open: Option<(u64, &str)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let line = line.trim();
        if line.is_empty() || line == ">>" {
            continue;
        }
        if let Some(found) = header(line) {
            open = Some(found);
            continue;
        }
        let Some((number, about)) = open.take() else {
            let error = RuleError::new(
                "expected `Rule N (words)` above the rule",
                at..at + line.len(),
            );
            errors.push(error);
            continue;
        };
        match parse_rule(line, precedence) {
            Ok(rule) => rules.push(CentaurRule {
                number,
                about: about.to_owned(),
                rule: translated(rule),
                span: at..at + line.len(),
            }),
            Err(error) => errors.push(error.moved(at)),
        }
    }
    (rules, errors)
}

/// `Rule 12 (free text)`
fn header(line: &str) -> Option<(u64, &str)> {
    let rest = line.strip_prefix("Rule ")?;
    let (number, about) = rest.split_once(' ').unwrap_or((rest, ""));
    let about = about.trim();
    let about = about
        .strip_prefix('(')
        .and_then(|about| about.strip_suffix(')'))
        .unwrap_or(about);
    Some((number.parse().ok()?, about))
}
