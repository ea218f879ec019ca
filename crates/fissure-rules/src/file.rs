//! Fissure's own rule files: what an API accepts, with the evidence for each rule.
//!
//! ```text
//! api torch.scatter
//! library torch 2.9.1
//! seed 7
//!
//! param input: tensor
//! param dim: int
//!
//! rule dim_in_range: -ndim(input) <= dim and dim < ndim(input)
//!   about "dim names a dimension of input"
//!   accepted 812
//!   rejected 40 of 40
//!   reason "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
//! ```

mod read;
mod write;

pub use read::read_file;

use fissure_model::Value;

use crate::syntax::{Declaration, Rule, Span};

/// A rule file as understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleFile {
    pub api: Option<String>,
    /// The library and its version, as text.
    pub library: Option<String>,
    pub seed: Option<u64>,
    pub params: Vec<FileParam>,
    /// For a class: the parameters of the call on the constructed object.
    pub call_params: Vec<FileParam>,
    pub rules: Vec<NamedRule>,
}

/// A parameter of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileParam {
    pub declaration: Declaration,
    pub place: Place,
    /// Source text of the default; without one the argument is required.
    pub default: Option<String>,
}

/// How an argument reaches the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    Positional,
    /// By position while nothing before it is left out, else by name.
    #[default]
    Either,
    Keyword,
    /// A list whose items are the remaining positional arguments.
    Rest,
}

impl Place {
    /// The word before the name of a parameter; what goes either way has none.
    pub(crate) const WORDS: [(&'static str, Place); 3] = [
        ("positional", Place::Positional),
        ("keyword", Place::Keyword),
        ("rest", Place::Rest),
    ];
}

impl FileParam {
    /// The default as a value, where its text is a plain literal of Python.
    pub fn default_value(&self) -> Option<Value> {
        literal(self.default.as_deref()?)
    }
}

/// The value that a plain literal of Python stands for.
pub fn literal(text: &str) -> Option<Value> {
    match text {
        "None" => return Some(Value::None),
        "True" => return Some(Value::Bool(true)),
        "False" => return Some(Value::Bool(false)),
        _ => {}
    }
    if let Ok(whole) = text.parse() {
        return Some(Value::Int(whole));
    }
    let quoted = text
        .strip_prefix(['\'', '"'])
        .and_then(|rest| rest.strip_suffix(['\'', '"']));
    if let Some(quoted) = quoted {
        return Some(Value::Text(quoted.to_owned()));
    }
    // Rust reads `inf` and `nan` as numbers, Python does not.
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    text.parse().ok().filter(|_| numeric).map(Value::Float)
}

/// A rule, its name and what speaks for it.
#[derive(Clone, Debug)]
pub struct NamedRule {
    pub name: String,
    pub rule: Rule,
    /// One line for people.
    pub about: Option<String>,
    pub evidence: Evidence,
    /// Where the file has it; `0..0` for a rule that was not read.
    pub span: Span,
}

/// Where a rule stands in its file says nothing about what it is.
impl PartialEq for NamedRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.rule == other.rule
            && self.about == other.about
            && self.evidence == other.evidence
    }
}

/// Why a rule is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Accepted inputs that satisfy it.
    pub accepted: Option<u64>,
    /// Of inputs that break only this rule: how many the library rejected, and how many were tried.
    pub rejected: Option<(u64, u64)>,
    /// The library's own words when it is broken.
    pub reason: Option<String>,
}

impl RuleFile {
    /// All parameters, those of the call on the constructed object last.
    pub fn declarations(&self) -> Vec<Declaration> {
        self.params
            .iter()
            .chain(&self.call_params)
            .map(|param| param.declaration.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precedence;

    const SCATTER: &str = "\
# learned
api torch.scatter
library torch 2.9.1
seed 7

param input: tensor
param dim: int = 0
param keyword reduce: str? = None
call x: tensor | float

rule dim_in_range: -ndim(input) <= dim
    and dim < ndim(input)   # both ends
  about \"dim names a \\\"dimension\\\"\"
  accepted 812
  rejected 40 of 41
  reason \"Dimension out of range\"

rule empty: {x: tensor} |= size(x) > 0
";

    #[test]
    fn a_file_is_read_and_written_back() {
        let (file, errors) = read_file(SCATTER, Precedence::Usual);
        assert_eq!(errors, []);
        assert_eq!(file.api.as_deref(), Some("torch.scatter"));
        assert_eq!(file.params[1].default.as_deref(), Some("0"));
        let places: Vec<Place> = file.params.iter().map(|param| param.place).collect();
        assert_eq!(places, [Place::Either, Place::Either, Place::Keyword]);
        assert_eq!(file.rules[0].evidence.rejected, Some((40, 41)));
        assert_eq!(
            file.rules[0].rule.to_string(),
            "{input: tensor, dim: int} |= -ndim(input) <= dim and dim < ndim(input)"
        );
        let written = file.to_string();
        assert_eq!(read_file(&written, Precedence::Usual), (file, vec![]));
        assert!(
            written.contains("rule dim_in_range: -ndim(input) <= dim and dim < ndim(input)\n"),
            "declared types need no header:\n{written}"
        );
        assert!(
            written.contains("rule empty: {x: tensor} |= size(x) > 0\n"),
            "a narrower type does:\n{written}"
        );
    }

    #[test]
    fn defaults_are_read_as_python_writes_them() {
        assert_eq!(literal("1e-05"), Some(Value::Float(1e-5)));
        assert_eq!(literal("'mean'"), Some(Value::Text("mean".into())));
        assert_eq!(literal("-1"), Some(Value::Int(-1)));
        assert_eq!(literal("torch.strided"), None);
    }

    #[test]
    fn a_parameter_is_called_anything_and_only_known_words_stand_before_its_name() {
        let text = "param keyword: int\nparam rest rest: list(int)\nparam optional n: int\n";
        let (file, errors) = read_file(text, Precedence::Usual);
        let names: Vec<(&str, Place)> = file
            .params
            .iter()
            .map(|param| (param.declaration.name.as_str(), param.place))
            .collect();
        assert_eq!(names, [("keyword", Place::Either), ("rest", Place::Rest)]);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].to_string(), "unknown word `optional`");
        assert_eq!(errors[0].position(text), (3, 7));
    }

    #[test]
    fn every_wrong_entry_is_told_at_its_place_and_the_others_are_read() {
        let text = "aip torch.f\nparam x: tensr\nparam n: int\nrule a: n > 0\nrule a: n > 1\n\
                    rule b: m > 0\n  accepted many\nseed -1\n  stray\n";
        let (file, errors) = read_file(text, Precedence::Usual);
        let told: Vec<(usize, String)> = errors
            .iter()
            .map(|error| (error.position(text).0, error.to_string()))
            .collect();
        let expected = [
            (1, "unknown word `aip`"),
            (2, "unknown type `tensr`"),
            (5, "the rule `a` is there twice"),
            (7, "expected a number"),
            (6, "`m` is not declared"),
            (8, "expected a number"),
            (9, "this line belongs to nothing"),
        ];
        for (line, message) in expected {
            assert!(
                told.iter()
                    .any(|(at, text)| *at == line && text.contains(message)),
                "{line}: {message} not in {told:?}"
            );
        }
        assert_eq!(file.rules.len(), 1);
        assert_eq!(file.params.len(), 1);
    }
}
