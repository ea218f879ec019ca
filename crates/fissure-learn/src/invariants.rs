//! The file of what was learned.

use std::path::Path;

use fissure_rules::{
    Declaration, Evidence, FileParam, NamedRule, Precedence, RuleFile, check, parameters_of,
    parse_rule, read_file,
};
use fissure_solve::rules::BoundRule;

use crate::cover::Clause;
use crate::error::LearnError;
use crate::params::Parameters;
use crate::spec::CallSampler;

/// Learned rules with their evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariants {
    pub file: RuleFile,
}

impl Invariants {
    pub fn load(path: &Path) -> Result<Self, LearnError> {
        let text = std::fs::read_to_string(path).map_err(LearnError::file("read", path))?;
        let (file, errors) = read_file(&text, Precedence::Usual);
        match errors.first() {
            None => Ok(Invariants { file }),
            Some(error) => Err(LearnError::Invariants {
                path: path.to_owned(),
                reason: format!("line {}: {error}", error.position(&text).0),
            }),
        }
    }

    pub fn save(&self, path: &Path) -> Result<(), LearnError> {
        std::fs::write(path, self.file.to_string()).map_err(LearnError::file("write", path))
    }

    /// The rules, bound to the parameters of the file.
    pub fn rules(&self) -> Vec<BoundRule> {
        let params = self.file.declarations();
        self.file
            .rules
            .iter()
            .filter_map(|rule| BoundRule::by_name(check(&rule.rule).ok()?, &params))
            .collect()
    }

    /// Draws inputs that the rules allow.
    pub fn sampler(&self, seed: u64) -> CallSampler {
        CallSampler::new(&self.file.declarations(), self.rules(), seed)
    }

    /// Draws inputs that break the named rule and no other; `None` when there is no such rule.
    pub fn breaking(&self, name: &str, seed: u64) -> Option<CallSampler> {
        let number = self.file.rules.iter().position(|rule| rule.name == name)?;
        CallSampler::breaking(&self.file.declarations(), self.rules(), number, seed)
    }
}

pub(crate) fn file(
    api: &str,
    library: &str,
    seed: u64,
    params: &Parameters,
    declarations: &[Declaration],
    clauses: &[Clause],
    evidence: Vec<Evidence>,
) -> RuleFile {
    let declared = |call: bool| {
        params
            .0
            .iter()
            .zip(declarations)
            .filter(|(param, _)| param.call == call)
            .map(|(param, declaration)| FileParam {
                declaration: declaration.clone(),
                place: param.place,
                default: param.default.clone(),
            })
            .collect()
    };
    let mut rules: Vec<NamedRule> = Vec::new();
    for (clause, evidence) in clauses.iter().zip(evidence) {
        // Every clause was read from this text before.
        let Ok(mut rule) = parse_rule(&clause.text, Precedence::Usual) else {
            continue;
        };
        // Only what the rule speaks of, unless its types are what matters.
        let used = parameters_of(&rule.body, &rule.params);
        let narrow = |param: &Declaration| {
            declarations
                .iter()
                .any(|other| other.name == param.name && other.of != param.of)
        };
        rule.params
            .retain(|param| used.contains(param) || narrow(param));
        let names: Vec<String> = rule
            .params
            .iter()
            .map(|param| {
                param
                    .name
                    .chars()
                    .filter(|c| c.is_alphanumeric() || *c == '_')
                    .collect()
            })
            .collect();
        let mut name = names.join("_");
        let taken = |name: &str, rules: &[NamedRule]| rules.iter().any(|rule| rule.name == name);
        if taken(&name, &rules) {
            let base = name.clone();
            name = (2..)
                .map(|number| format!("{base}_{number}"))
                .find(|name| !taken(name, &rules))
                .expect("numbers do not end");
        }
        rules.push(NamedRule {
            name,
            rule,
            about: None,
            evidence,
            span: 0..0,
        });
    }
    RuleFile {
        api: Some(api.to_owned()),
        library: Some(library.to_owned()),
        seed: Some(seed),
        params: declared(false),
        call_params: declared(true),
        rules,
    }
}
