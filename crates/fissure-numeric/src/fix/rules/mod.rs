//! The rules, one function each, grouped by the function that fails.
//!
//! A rule gets one expression and says what to write instead of it. It is asked about the site,
//! every expression around it and every part of it, and about the other expressions of the same
//! function where the site's result is kept in a variable: `torch.log(1 + torch.exp(x))` fails at
//! `exp` and is rewritten at `log`.

mod clamp;
pub(super) mod dialect;
mod difference;
mod division;
mod exponential;
mod linear;
mod logarithm;
mod loss;
mod norm;

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::assemble::Rewrite;
use super::context::{Context, Followed};

type Rule = for<'a> fn(&Context<'a>, &'a Expr) -> Vec<Rewrite<'a>>;

/// Rules that recognise a pattern wherever it stands around the site.
const PATTERNS: &[(&str, Rule)] = &[
    ("log_softmax", logarithm::log_softmax),
    ("log_sigmoid", logarithm::log_sigmoid),
    ("softplus", logarithm::softplus),
    ("logsumexp", logarithm::logsumexp),
    ("log1p", logarithm::log1p),
    ("xlogy", logarithm::xlogy),
    ("log_cosh", logarithm::log_cosh),
    ("gaussian_log_density", logarithm::log_of_exponential),
    ("softmax", exponential::softmax),
    ("softmax_shift", exponential::shift),
    ("sigmoid", exponential::sigmoid),
    ("expm1", exponential::expm1),
    ("expm1_ratio", exponential::expm1_ratio),
    ("half_angle", difference::half_angle),
    ("vector_norm", norm::vector_norm),
    ("unit_vector", norm::unit_vector),
    ("two_pass_variance", norm::two_pass_variance),
    ("standardise", norm::standardise),
    ("cross_entropy", loss::cross_entropy),
    ("bce_with_logits", loss::binary_cross_entropy_with_logits),
    ("slogdet", linear::slogdet),
];

/// Rules that guard the very call of the site.
const GUARDS: &[(&str, Rule)] = &[
    ("log_clamp", clamp::log_clamp),
    ("log1p_clamp", clamp::log1p_clamp),
    ("exp_clamp", clamp::exp_clamp),
    ("sqrt_clamp", clamp::sqrt_clamp),
    ("pow_clamp", clamp::pow_clamp),
    ("denominator_clamp", division::denominator_clamp),
    ("domain_clamp", clamp::domain_clamp),
    ("atanh_clamp", clamp::atanh_clamp),
    ("acosh_clamp", clamp::acosh_clamp),
    ("logit_eps", clamp::logit_eps),
    ("atan2_guard", clamp::atan2_guard),
    ("cast_clamp", clamp::cast_clamp),
    ("half_clamp", clamp::half_clamp),
    ("widen", linear::widen),
    ("ridge", linear::ridge),
    ("population_variance", norm::population_variance),
    ("scaled_norm", norm::wider_norm),
    ("scaled_cosine", norm::scaled_cosine),
    ("masked_softmax", exponential::masked_softmax),
    ("distribution_logits", loss::distribution_logits),
    ("scale_clamp", loss::scale_clamp),
];

/// What the rule of this name proposes for the context's site.
pub(super) fn rewrites<'a>(name: &str, context: &Context<'a>) -> Vec<Rewrite<'a>> {
    let find = |rules: &[(&str, Rule)]| {
        rules
            .iter()
            .find(|(rule, _)| *rule == name)
            .map(|&(_, rule)| rule)
    };
    if let Some(rule) = find(GUARDS) {
        if let Some(statement) = context.augmented {
            return match name {
                "denominator_clamp" => division::augmented_division(context, statement),
                _ => Vec::new(),
            };
        }
        return context
            .site_expression()
            .map(|expression| rule(context, expression))
            .unwrap_or_default();
    }
    let Some(rule) = find(PATTERNS) else {
        return Vec::new();
    };
    let is_kept = context.assignment_of_site().is_some();
    let mut found: Vec<Rewrite<'a>> = Vec::new();
    for &expression in &context.expressions {
        let range = expression.range();
        let is_near = range.contains_range(context.range) || context.range.contains_range(range);
        if is_kept || is_near {
            found.extend(rule(context, expression));
        }
    }
    found.retain(|rewrite| rewrite.concerns(context.range));
    found
}

/// What the rule proposes for every expression of the site's statement, the first choice each.
pub(super) fn rewrites_in_statement<'a>(name: &str, context: &Context<'a>) -> Vec<Rewrite<'a>> {
    let mut rules = PATTERNS.iter().chain(GUARDS);
    let Some((_, rule)) = rules.find(|(rule, _)| *rule == name) else {
        return Vec::new();
    };
    // The function of the site also limits a guard, which would fit other calls as well.
    let wanted = context
        .site_expression()
        .and_then(|site| context.operation(site))
        .map(|operation| operation.name);
    let is_guard = GUARDS.iter().any(|(rule, _)| *rule == name);
    context
        .expressions
        .iter()
        .filter(|expression| context.statement.contains_range(expression.range()))
        .filter(|expression| {
            let found = context.operation(expression);
            !is_guard || found.map(|operation| operation.name) == wanted
        })
        .filter_map(|expression| rule(context, expression).into_iter().next())
        .collect()
}

/// Whether a rule of this name exists.
#[cfg(test)]
pub(super) fn exists(name: &str) -> bool {
    PATTERNS.iter().chain(GUARDS).any(|(rule, _)| *rule == name)
}

/// A rewrite of one expression.
fn rewrite<'a>(
    root: &Expr,
    title: impl Into<String>,
    explanation: impl Into<String>,
    text: String,
    through: &[Followed<'a>],
) -> Rewrite<'a> {
    Rewrite {
        title: title.into(),
        explanation: explanation.into(),
        replaced: root.range(),
        text,
        also: Vec::new(),
        through: through
            .iter()
            .filter_map(|followed| followed.through)
            .collect(),
    }
}

/// `, dim=1` as the given library writes it; empty without a dimension.
fn dimension_text(context: &Context<'_>, dimension: Option<&Expr>, is_numpy: bool) -> String {
    match dimension {
        Some(dimension) => {
            let keyword = if is_numpy { "axis" } else { "dim" };
            format!(", {keyword}={}", context.text(dimension))
        }
        None => String::new(),
    }
}
