//! Lengths, unit vectors, variances and what is divided by them.

use ruff_python_ast::Expr;

use super::clamp::guarded;
use super::{Rewrite, dimension_text, rewrite};
use crate::fix::context::{Context, Followed};
use crate::fix::operation::number;

/// The value whose square an expression is: `x**2`, `x.pow(2)`, `x * x`, `square(x)`.
fn squared<'a>(context: &Context<'a>, expression: &'a Expr) -> Option<(&'a Expr, Followed<'a>)> {
    let followed = context.follow(expression);
    let operation = context.operation(followed.value)?;
    let value = operation.operand(0)?;
    let is_square = match operation.name.as_str() {
        "pow" => operation.argument(1, &["exponent"]).and_then(number) == Some(2.0),
        "square" => true,
        "mul" => context.text(value) == context.text(operation.operand(1)?),
        _ => false,
    };
    is_square.then_some((value, followed))
}

/// `sqrt(sum(x**2))` → a norm.
pub(super) fn vector_norm<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(root_operation) = context.operation(root) else {
        return Vec::new();
    };
    let is_root = match root_operation.name.as_str() {
        "sqrt" => true,
        "pow" => root_operation.argument(1, &["exponent"]).and_then(number) == Some(0.5),
        _ => false,
    };
    let Some(radicand) = root_operation.operand(0).filter(|_| is_root) else {
        return Vec::new();
    };
    let Some((sum, outer)) = context.followed_operation(radicand, &["sum"]) else {
        return Vec::new();
    };
    let Some((value, inner)) = sum.operand(0).and_then(|summed| squared(context, summed)) else {
        return Vec::new();
    };
    let is_numpy = context.is_numpy(root) || sum.mentions(&["axis", "keepdims"]);
    let dimension = dimension_text(context, sum.dimension(), is_numpy);
    let text = context.text(value);
    let explanation = "The squares overflow beyond 1.8e19 and underflow below 1e-23 in float32, \
                       and the gradient of the root is infinite at 0.";
    if is_numpy {
        let keep = if sum.keeps_dimension() {
            ", keepdims=True"
        } else {
            ""
        };
        let name = context.spell("numpy.linalg.norm");
        let call = format!("{name}({text}{dimension}{keep})");
        let title = "sqrt(sum(x²)) → linalg.norm";
        return vec![rewrite(root, title, explanation, call, &[outer, inner])];
    }
    let keep = if sum.keeps_dimension() {
        ", keepdim=True"
    } else {
        ""
    };
    let name = context.spell("torch.linalg.vector_norm");
    let double = context.spell("torch.float64");
    let operand = context.operand_text(value);
    vec![
        rewrite(
            root,
            "sqrt(sum(x²)) → vector_norm",
            explanation,
            format!("{name}({text}{dimension}{keep})"),
            &[outer, inner],
        ),
        rewrite(
            root,
            "sqrt(sum(x²)) → vector_norm summed in float64",
            explanation,
            format!("{name}({text}{dimension}{keep}, dtype={double}).to({operand}.dtype)"),
            &[outer, inner],
        ),
    ]
}

/// `norm(x)` → the same, summed in float64.
pub(super) fn wider_norm<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(norm) = context
        .operation(root)
        .filter(|found| matches!(found.name.as_str(), "norm" | "vector_norm"))
    else {
        return Vec::new();
    };
    if context.is_numpy(root) || norm.operands.len() > 1 || norm.mentions(&["p", "ord", "dtype"]) {
        return Vec::new();
    }
    let Some(value) = norm.operand(0) else {
        return Vec::new();
    };
    let keywords: String = norm
        .keywords
        .iter()
        .map(|(name, value)| format!(", {name}={}", context.text(*value)))
        .collect();
    let (name, double) = (
        context.spell("torch.linalg.vector_norm"),
        context.spell("torch.float64"),
    );
    let operand = context.operand_text(value);
    vec![rewrite(
        root,
        "sum the squares in float64",
        "The squares inside the norm overflow beyond 1.3e19 in float32.",
        format!(
            "{name}({}{keywords}, dtype={double}).to({operand}.dtype)",
            context.text(value)
        ),
        &[],
    )]
}

/// `x / x.norm(dim)` → `normalize(x, dim)`.
pub(super) fn unit_vector<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(quotient) = context.operation(root).filter(|found| found.name == "div") else {
        return Vec::new();
    };
    let (Some(vector), Some(length)) = (quotient.operand(0), quotient.operand(1)) else {
        return Vec::new();
    };
    let Some((norm, followed)) = context.followed_operation(length, &["norm", "vector_norm"])
    else {
        return Vec::new();
    };
    let same = norm
        .operand(0)
        .is_some_and(|value| context.text(value) == context.text(vector));
    if !same || context.is_numpy(root) {
        return Vec::new();
    }
    let dimension = norm
        .keywords
        .iter()
        .find(|(name, _)| *name == "dim")
        .map_or("0", |&(_, value)| context.text(value));
    let name = context.spell("torch.nn.functional.normalize");
    vec![rewrite(
        root,
        "x / norm(x) → normalize(x)",
        "A vector of length 0 gives 0 / 0; normalize keeps the divisor above an epsilon.",
        format!("{name}({}, dim={dimension})", context.text(vector)),
        &[followed],
    )]
}

/// `mean(x**2) - mean(x)**2` → `var(x, unbiased=False)`.
pub(super) fn two_pass_variance<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(difference) = context.operation(root).filter(|found| found.name == "sub") else {
        return Vec::new();
    };
    let (Some(left), Some(right)) = (difference.operand(0), difference.operand(1)) else {
        return Vec::new();
    };
    let Some((mean_of_squares, first)) = context.followed_operation(left, &["mean"]) else {
        return Vec::new();
    };
    let Some((value, second)) = mean_of_squares
        .operand(0)
        .and_then(|argument| squared(context, argument))
    else {
        return Vec::new();
    };
    let Some((mean_text, third)) = squared(context, right) else {
        return Vec::new();
    };
    let Some((mean, fourth)) = context.followed_operation(mean_text, &["mean"]) else {
        return Vec::new();
    };
    let same = mean
        .operand(0)
        .is_some_and(|argument| context.text(argument) == context.text(value));
    if !same {
        return Vec::new();
    }
    let is_numpy = context.is_numpy(root);
    let dimension = dimension_text(context, mean_of_squares.dimension(), is_numpy);
    let arguments = dimension.trim_start_matches(", ");
    let operand = context.operand_text(value);
    let text = if is_numpy {
        format!("{operand}.var({arguments})")
    } else if arguments.is_empty() {
        format!("{operand}.var(unbiased=False)")
    } else {
        format!("{operand}.var({arguments}, unbiased=False)")
    };
    vec![rewrite(
        root,
        "E[x²] - E[x]² → var",
        "Two nearly equal numbers are subtracted: for data far from 0 the difference is rounding \
         error and may be negative. var subtracts the mean first.",
        text,
        &[first, second, third, fourth],
    )]
}

/// `(x - m) / sqrt(v)` → the floor under the root, where the gradient needs it.
pub(super) fn standardise<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(quotient) = context.operation(root).filter(|found| found.name == "div") else {
        return Vec::new();
    };
    let (Some(numerator), Some(deviation)) = (quotient.operand(0), quotient.operand(1)) else {
        return Vec::new();
    };
    let Some((sqrt, followed)) = context.followed_operation(deviation, &["sqrt"]) else {
        return Vec::new();
    };
    let Some(variance) = sqrt.operand(0) else {
        return Vec::new();
    };
    let numerator = context.operand_text(numerator);
    let text = if context.is_numpy(root) {
        let (sqrt, maximum) = (context.spell("numpy.sqrt"), context.spell("numpy.maximum"));
        format!(
            "{numerator} / {sqrt}({maximum}({}, 1e-12))",
            context.text(variance)
        )
    } else {
        let sqrt = context.spell("torch.sqrt");
        let variance = context.operand_text(variance);
        format!("{numerator} / {sqrt}({variance}.clamp_min(1e-12))")
    };
    vec![rewrite(
        root,
        "keep the variance above 1e-12",
        "Where all elements are equal the deviation is 0 and the quotient 0 / 0; under the root \
         the floor also keeps the gradient finite.",
        text,
        &[followed],
    )]
}

/// `x.std()` and `x.var()` → with `unbiased=False`, defined for a single element.
pub(super) fn population_variance<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "population_variance") else {
        return Vec::new();
    };
    if operation.mentions(&["unbiased", "correction", "ddof"]) || context.is_numpy(root) {
        return Vec::new();
    }
    let keyword = if operation.name == "cov" {
        "correction=0"
    } else {
        "unbiased=False"
    };
    let text = context.text(root);
    let Some(open) = text.strip_suffix(')') else {
        return Vec::new();
    };
    let separator = if open.trim_end().ends_with('(') {
        ""
    } else {
        ", "
    };
    let explanation = "The unbiased estimate divides by n - 1, which is 0 for a single element.";
    let population = format!("{open}{separator}{keyword})");
    let mut found = Vec::new();
    if operation.name == "std"
        && let Some(position) = text.rfind("std(")
    {
        // Where there are enough elements the estimate stays what it is.
        let variance = format!("{}var({}", &text[..position], &text[position + 4..]);
        found.push(rewrite(
            root,
            "the same deviation with a floor under the root",
            "The deviation of constant data is 0, and its gradient is NaN there.",
            format!("{variance}.clamp_min(1e-12).sqrt()"),
            &[],
        ));
    }
    found.push(rewrite(
        root,
        "population variance, defined for a single element",
        explanation,
        population.clone(),
        &[],
    ));
    if operation.name == "std" {
        // The gradient of std is NaN where all elements are equal: the floor goes under the root.
        if let Some(position) = population.rfind("std(") {
            let variance = format!(
                "{}var({}",
                &population[..position],
                &population[position + 4..]
            );
            found.push(rewrite(
                root,
                "population variance with a floor under the root",
                "The deviation of a single element is not defined, and its gradient is NaN where \
                 all elements are equal.",
                format!("{variance}.clamp_min(1e-12).sqrt()"),
                &[],
            ));
        }
    }
    found
}

/// `cosine_similarity(a, b)` of very short or very long vectors → scaled first.
pub(super) fn scaled_cosine<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(cosine) = context
        .operation(root)
        .filter(|found| found.name == "cosine_similarity")
    else {
        return Vec::new();
    };
    let (Some(first), Some(second)) = (cosine.operand(0), cosine.operand(1)) else {
        return Vec::new();
    };
    let dimension = cosine
        .argument(2, &["dim"])
        .map_or("1", |value| context.text(value));
    let finfo = context.spell("torch.finfo");
    let scaled = |vector: &Expr| {
        let text = context.operand_text(vector);
        let floor = format!("{finfo}({text}.dtype).tiny");
        format!("{text} / {text}.abs().amax(dim={dimension}, keepdim=True).clamp_min({floor})")
    };
    let name = context.spell("torch.nn.functional.cosine_similarity");
    vec![rewrite(
        root,
        "scale the vectors before their cosine",
        "Lengths below 1e-8 are replaced by 1e-8, and squares overflow beyond 1.8e19: the result \
         is then not the cosine.",
        format!(
            "{name}({}, {}, dim={dimension})",
            scaled(first),
            scaled(second)
        ),
        &[],
    )]
}
