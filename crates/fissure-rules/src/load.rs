//! Any file with rules in it, whoever wrote it.

use crate::centaur::{looks_like_rules, read_rules};
use crate::check::check;
use crate::error::RuleError;
use crate::file::{Evidence, NamedRule, RuleFile, read_file};
use crate::parser::Precedence;

/// Who wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Fissure,
    Centaur,
}

/// A file with rules, in our terms. Every rule type-checks; what does not is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub format: Format,
    pub file: RuleFile,
    pub errors: Vec<RuleError>,
}

/// Reads a rule file of ours or of Centaur's. `precedence` is how `and` and `or` bind in it.
pub fn load_text(text: &str, precedence: Precedence) -> Loaded {
    if !looks_like_rules(text) {
        let (file, errors) = read_file(text, precedence);
        return Loaded {
            format: Format::Fissure,
            file,
            errors,
        };
    }
    let (rules, mut errors) = read_rules(text, precedence);
    let mut file = RuleFile::default();
    for rule in rules {
        match check(&rule.rule) {
            Ok(_) => file.rules.push(NamedRule {
                name: format!("rule_{}", rule.number),
                rule: rule.rule,
                about: Some(rule.about).filter(|about| !about.is_empty()),
                evidence: Evidence::default(),
                span: rule.span,
            }),
            Err(error) => errors.push(error.moved(rule.span.start)),
        }
    }
    errors.sort_by_key(|error| error.span.start);
    Loaded {
        format: Format::Centaur,
        file,
        errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_files_are_recognised() {
        let theirs = ">>\nRule 3 (rank)\n{x : tensor} |= ndim(x) ≥ 1\n>>\nRule 4 (odd)\n{x : tensor} |= x > 1\n";
        let loaded = load_text(theirs, Precedence::Usual);
        assert_eq!(loaded.format, Format::Centaur);
        assert_eq!(loaded.file.rules[0].name, "rule_3");
        assert_eq!(loaded.errors[0].position(theirs), (6, 17));
        let ours = load_text(
            "param x: tensor\nrule rank: ndim(x) >= 1\n",
            Precedence::Usual,
        );
        assert_eq!(ours.format, Format::Fissure);
        assert_eq!(ours.errors, []);
        assert_eq!(ours.file.rules[0].rule, loaded.file.rules[0].rule);
    }
}
