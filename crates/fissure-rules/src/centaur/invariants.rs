//! Invariant files: which rule holds of which parameters, one `api,arity,rule_N,param…` a line.

use std::fmt::Write as _;

use crate::centaur::rules::CentaurRule;
use crate::syntax::{Expression, Kind, Rule};

/// A rule said of parameters of one API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub api: String,
    /// The number of the rule in the rule file of the same API.
    pub rule: u64,
    /// In the order of the rule's own parameters.
    pub params: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvariantError {
    #[error("line {line}: expected api,arity,rule_N,parameter…, found `{text}`")]
    Form { line: usize, text: String },
    #[error("line {line}: the arity says {arity} parameters, but {count} are named")]
    Arity {
        line: usize,
        arity: usize,
        count: usize,
    },
    #[error("rule_{rule} of {api} is not in the rule file")]
    MissingRule { api: String, rule: u64 },
    #[error("rule_{rule} of {api} has {wanted} parameters, but {count} are named")]
    ParameterCount {
        api: String,
        rule: u64,
        wanted: usize,
        count: usize,
    },
}

/// Lines that start with `#` are comments.
pub fn read_invariants(text: &str) -> Result<Vec<Instance>, InvariantError> {
    let mut instances = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let form = || InvariantError::Form {
            line: number + 1,
            text: line.to_owned(),
        };
        let mut parts = line.split(',').map(str::trim);
        let mut next = || {
            parts
                .next()
                .filter(|part| !part.is_empty())
                .ok_or_else(form)
        };
        let api = next()?.to_owned();
        let arity: usize = next()?.parse().map_err(|_| form())?;
        let rule = next()?.strip_prefix("rule_").ok_or_else(form)?;
        let rule = rule.parse().map_err(|_| form())?;
        let params: Vec<String> = parts.map(str::to_owned).collect();
        if params.len() != arity {
            return Err(InvariantError::Arity {
                line: number + 1,
                arity,
                count: params.len(),
            });
        }
        instances.push(Instance { api, rule, params });
    }
    Ok(instances)
}

pub fn write_invariants(instances: &[Instance]) -> String {
    let mut out = String::new();
    for instance in instances {
        let Instance { api, rule, params } = instance;
        write!(out, "{api},{},rule_{rule}", params.len()).expect("writing to a string cannot fail");
        for param in params {
            write!(out, ",{param}").expect("writing to a string cannot fail");
        }
        out.push('\n');
    }
    out
}

/// The rule that an instance states, about the API's own parameters.
pub fn instantiate(instance: &Instance, rules: &[CentaurRule]) -> Result<Rule, InvariantError> {
    let Some(template) = rules.iter().find(|rule| rule.number == instance.rule) else {
        return Err(InvariantError::MissingRule {
            api: instance.api.clone(),
            rule: instance.rule,
        });
    };
    let mut rule = template.rule.clone();
    if rule.params.len() != instance.params.len() {
        return Err(InvariantError::ParameterCount {
            api: instance.api.clone(),
            rule: instance.rule,
            wanted: rule.params.len(),
            count: instance.params.len(),
        });
    }
    let old: Vec<String> = rule.params.iter().map(|param| param.name.clone()).collect();
    for (param, name) in rule.params.iter_mut().zip(&instance.params) {
        param.name.clone_from(name);
    }
    rule.body = rule.body.rewritten(&mut |at| match &at.kind {
        Kind::Name(name) => match old.iter().position(|known| known == name) {
            Some(position) => {
                let new = instance.params[position].clone();
                Expression::new(Kind::Name(new), at.span)
            }
            None => at,
        },
        _ => at,
    });
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precedence;
    use crate::centaur::read_rules;

    #[test]
    fn an_instance_speaks_of_the_parameters_of_its_api() {
        let (rules, errors) = read_rules(
            ">>\nRule 7 (same)\n{v_1 : tensor, v_2 : tensor} |= ndim(v_1) ≤ ndim(v_2)\n",
            Precedence::Usual,
        );
        assert_eq!(errors, []);
        let instances = read_invariants("torch.mm,2,rule_7,mat2,input\n").expect("it is read");
        let rule = instantiate(&instances[0], &rules).expect("the rule is there");
        assert_eq!(
            rule.to_string(),
            "{mat2: tensor, input: tensor} |= ndim(mat2) <= ndim(input)"
        );
        let missing = read_invariants("torch.mm,1,rule_8,input").expect("it is read");
        assert_eq!(
            instantiate(&missing[0], &rules).map_err(|error| error.to_string()),
            Err("rule_8 of torch.mm is not in the rule file".to_owned())
        );
    }

    #[test]
    fn wrong_lines_are_named() {
        let told = |text| read_invariants(text).map_err(|error| error.to_string());
        assert_eq!(
            told("# fine\ntorch.mm,2,rule_7,input"),
            Err("line 2: the arity says 2 parameters, but 1 are named".to_owned())
        );
        for text in [
            "torch.mm",
            "torch.mm,x,rule_1,a",
            "torch.mm,1,7,a",
            "a,1,,b",
        ] {
            assert!(told(text).is_err(), "{text}");
        }
    }
}
