//! Softmax and sigmoid written by hand, and differences of exponentials.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{Rewrite, dimension_text, rewrite};
use crate::fix::context::{Context, Followed};
use crate::fix::operation::number;

/// `exp(x) / exp(x).sum(dim)` → `softmax(x, dim)`; NumPy has none, there the shift below helps.
pub(super) fn softmax<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(quotient) = context.operation(root).filter(|found| found.name == "div") else {
        return Vec::new();
    };
    let (Some(numerator), Some(denominator)) = (quotient.operand(0), quotient.operand(1)) else {
        return Vec::new();
    };
    let Some((exp, above)) = context.followed_operation(numerator, &["exp"]) else {
        return Vec::new();
    };
    let Some((sum, below)) = context.followed_operation(denominator, &["sum"]) else {
        return Vec::new();
    };
    let (Some(exponent), Some(summed)) = (exp.operand(0), sum.operand(0)) else {
        return Vec::new();
    };
    let same = context.text(summed) == context.text(numerator)
        || context.text(context.follow(summed).value) == context.text(above.value);
    if !same || context.is_numpy(root) {
        return Vec::new();
    }
    let dimension = match sum.dimension() {
        Some(dimension) => context.text(dimension),
        None => "0",
    };
    let name = context.spell("torch.softmax");
    vec![rewrite(
        root,
        "exp(x) / sum(exp(x)) → softmax(x)",
        "exp overflows above 88.7 in float32 and Inf / Inf is NaN; softmax shifts by the largest \
         element first.",
        format!("{name}({}, dim={dimension})", context.text(exponent)),
        &[above, below],
    )]
}

/// `exp(x)` that is summed later → `exp(x - max(x))`: every ratio of the results stays the same.
pub(super) fn shift<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(exp) = context.operation(root).filter(|found| found.name == "exp") else {
        return Vec::new();
    };
    if root.range() != context.range {
        return Vec::new();
    }
    let Some(exponent) = exp.operand(0) else {
        return Vec::new();
    };
    // The sum that divides says along which dimension the shift must be constant.
    let sum = context.expressions.iter().find_map(|&candidate| {
        let sum = context
            .operation(candidate)
            .filter(|found| found.name == "sum")?;
        let summed = context.follow(sum.operand(0)?);
        (summed.value.range() == root.range()).then_some(sum)
    });
    let Some(sum) = sum else {
        return Vec::new();
    };
    let value = context.operand_text(exponent);
    let text = if context.is_numpy(root) {
        let axis = sum.dimension().map_or_else(String::new, |axis| {
            format!("axis={}, keepdims=True", context.text(axis))
        });
        let name = context.spell("numpy.exp");
        format!("{name}({value} - {value}.max({axis}))")
    } else {
        let name = context.spell("torch.exp");
        match sum.dimension() {
            Some(dimension) => format!(
                "{name}({value} - {value}.amax(dim={}, keepdim=True))",
                context.text(dimension)
            ),
            None => format!("{name}({value} - {value}.max())"),
        }
    };
    vec![rewrite(
        root,
        "exp(x) → exp(x - max(x))",
        "Only ratios of these exponentials are used; shifting by the largest element leaves them \
         as they are and cannot overflow.",
        text,
        &[],
    )]
}

/// `1 / (1 + exp(-x))` → `sigmoid(x)`.
pub(super) fn sigmoid<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(quotient) = context.operation(root).filter(|found| found.name == "div") else {
        return Vec::new();
    };
    let (Some(one), Some(denominator)) = (quotient.operand(0), quotient.operand(1)) else {
        return Vec::new();
    };
    if number(one) != Some(1.0) {
        return Vec::new();
    }
    let Some((sum, outer)) = context.followed_operation(denominator, &["add"]) else {
        return Vec::new();
    };
    let (left, right) = (sum.operands[0], sum.operands[1]);
    let exponential = if number(left) == Some(1.0) {
        right
    } else if number(right) == Some(1.0) {
        left
    } else {
        return Vec::new();
    };
    let Some((exp, inner)) = context.followed_operation(exponential, &["exp"]) else {
        return Vec::new();
    };
    let Some(exponent) = exp.operand(0) else {
        return Vec::new();
    };
    // sigmoid(x) = 1 / (1 + exp(-x)), so the sign of the exponent turns.
    let logit = match context
        .operation(exponent)
        .filter(|found| found.name == "neg")
    {
        Some(negated) => context.text(negated.operands[0]).to_owned(),
        None => format!("-{}", context.operand_text(exponent)),
    };
    let text = if context.is_numpy(root) {
        let name = context.spell("numpy.tanh");
        format!("(0.5 * (1.0 + {name}(0.5 * ({logit}))))")
    } else {
        format!("{}({logit})", context.spell("torch.sigmoid"))
    };
    vec![rewrite(
        root,
        "1 / (1 + exp(-x)) → sigmoid(x)",
        "exp overflows for strongly negative x, which makes the gradient NaN.",
        text,
        &[outer, inner],
    )]
}

/// The `x` of `exp(x) - 1`.
fn exponent_minus_one<'a>(
    context: &Context<'a>,
    expression: &'a Expr,
) -> Option<(&'a Expr, Followed<'a>)> {
    let difference = context
        .operation(expression)
        .filter(|found| found.name == "sub")?;
    if number(difference.operand(1)?) != Some(1.0) {
        return None;
    }
    let (exp, followed) = context.followed_operation(difference.operand(0)?, &["exp"])?;
    Some((exp.operand(0)?, followed))
}

/// `exp(x) - 1` → `expm1(x)`.
pub(super) fn expm1<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((exponent, followed)) = exponent_minus_one(context, root) else {
        return Vec::new();
    };
    let name = if context.is_numpy(root) {
        context.spell("numpy.expm1")
    } else {
        context.spell("torch.expm1")
    };
    vec![rewrite(
        root,
        "exp(x) - 1 → expm1(x)",
        "For small x the subtraction leaves only rounding error; expm1 keeps all digits.",
        format!("{name}({})", context.text(exponent)),
        &[followed],
    )]
}

/// `(exp(x) - 1) / x` → `expm1(x) / x`, and its limit 1 at 0.
pub(super) fn expm1_ratio<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(quotient) = context.operation(root).filter(|found| found.name == "div") else {
        return Vec::new();
    };
    let (Some(numerator), Some(divisor)) = (quotient.operand(0), quotient.operand(1)) else {
        return Vec::new();
    };
    let outer = context.follow(numerator);
    let Some((exponent, inner)) = exponent_minus_one(context, outer.value) else {
        return Vec::new();
    };
    if context.text(exponent) != context.text(divisor) {
        return Vec::new();
    }
    let (value, operand) = (context.text(divisor), context.operand_text(divisor));
    let text = if context.is_numpy(root) {
        let (choose, expm1) = (context.spell("numpy.where"), context.spell("numpy.expm1"));
        let safe = format!("{choose}({operand} == 0, 1.0, {value})");
        format!("{choose}({operand} == 0, 1.0, {expm1}({value}) / {safe})")
    } else {
        let names = ["torch.where", "torch.ones_like", "torch.expm1"];
        let [choose, ones, expm1] = names.map(|name| context.spell(name));
        let safe = format!("{choose}({operand} == 0, {ones}({value}), {value})");
        format!("{choose}({operand} == 0, {ones}({value}), {expm1}({value}) / {safe})")
    };
    vec![rewrite(
        root,
        "(exp(x) - 1) / x → expm1(x) / x, and 1 at 0",
        "For small x the subtraction leaves only rounding error, and at 0 the quotient is 0 / 0.",
        text,
        &[outer, inner],
    )]
}

/// `softmax(scores)` with `-inf` masks → masks of the smallest finite number.
pub(super) fn masked_softmax<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(softmax) = context
        .operation(root)
        .filter(|found| found.name == "softmax")
    else {
        return Vec::new();
    };
    let Some(scores) = softmax.operand(0) else {
        return Vec::new();
    };
    let (function, finfo) = (context.spell("torch.softmax"), context.spell("torch.finfo"));
    let scores = context.operand_text(scores);
    let dimension = dimension_text(context, softmax.dimension(), false);
    let none: &[Followed<'a>] = &[];
    vec![rewrite(
        root,
        "masks of -inf → the smallest finite number",
        "A row that is masked completely is -inf everywhere and its softmax is 0 / 0; with the \
         smallest finite number instead, it is uniform.",
        format!("{function}({scores}.clamp_min({finfo}({scores}.dtype).min){dimension})"),
        none,
    )]
}
