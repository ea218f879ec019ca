//! Proposed rules as candidates for learning.

use fissure_rules::{
    Declaration, Precedence, Rule, Type, check, parameters_of, parse_expression, parse_rule,
};

/// A rule that speaks of declared parameters only and type-checks.
pub(crate) struct Candidate {
    /// Parameters by position, and the type the rule is about.
    pub header: Vec<(usize, Type)>,
    pub body: String,
}

/// The proposed rules that can be tried, and one sentence for each that cannot.
pub(crate) fn candidates(
    rules: &[String],
    params: &[Declaration],
) -> (Vec<Candidate>, Vec<String>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for text in rules {
        match candidate(text, params) {
            Ok(candidate) => found.push(candidate),
            Err(reason) => problems.push(format!("the proposed rule `{text}` is none: {reason}")),
        }
    }
    (found, problems)
}

fn candidate(text: &str, params: &[Declaration]) -> Result<Candidate, String> {
    let rule = if text.trim_start().starts_with('{') {
        parse_rule(text, Precedence::Usual)
    } else {
        parse_expression(text, Precedence::Usual).map(|body| Rule {
            params: parameters_of(&body, params),
            body,
        })
    };
    let rule = rule.map_err(|error| error.to_string())?;
    check(&rule).map_err(|error| error.to_string())?;
    let mut header = Vec::new();
    for param in &rule.params {
        let position = params.iter().position(|known| known.name == param.name);
        let position = position.ok_or_else(|| format!("there is no parameter `{}`", param.name))?;
        header.push((position, param.of.clone()));
    }
    if header.is_empty() {
        return Err("it speaks of no parameter".to_owned());
    }
    Ok(Candidate {
        header,
        body: rule.body.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_tried_when_they_speak_of_the_parameters_and_told_otherwise() {
        let params = [
            Declaration {
                name: "x".into(),
                of: Type::Tensor,
            },
            Declaration {
                name: "dim".into(),
                of: Type::any_of([Type::Int, Type::None]),
            },
        ];
        let rules = [
            "ndim(x) > 0",
            "{x: tensor, dim: int} |= dim < ndim(x)",
            "ndim(y) > 0",
            "ndim(x) >",
            "x < \"a\"",
            "1 < 2",
        ]
        .map(str::to_owned);
        let (found, problems) = candidates(&rules, &params);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].header, [(0, Type::Tensor), (1, Type::Int)]);
        assert_eq!(problems.len(), 4, "{problems:?}");
    }
}
