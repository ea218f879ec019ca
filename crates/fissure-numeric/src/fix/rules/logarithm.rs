//! Logarithms of something that was computed by exponentials.

use ruff_python_ast::Expr;

use super::{Rewrite, rewrite};
use crate::fix::context::{Context, Followed};
use crate::fix::operation::{Operation, number};

/// One term of a sum with its sign.
struct Term<'a> {
    value: &'a Expr,
    is_negative: bool,
}

/// `eps + 1 - p` as its terms.
fn terms<'a>(context: &Context<'a>, expression: &'a Expr, is_negative: bool) -> Vec<Term<'a>> {
    if let Expr::BinOp(_) = expression
        && let Some(operation) = context.operation(expression)
        && matches!(operation.name.as_str(), "add" | "sub")
    {
        let flipped = is_negative != (operation.name == "sub");
        let mut list = terms(context, operation.operands[0], is_negative);
        list.extend(terms(context, operation.operands[1], flipped));
        return list;
    }
    vec![Term {
        value: expression,
        is_negative,
    }]
}

/// The constant part of a sum, and its one other term with the sign.
fn constant_and_term<'a>(
    context: &Context<'a>,
    expression: &'a Expr,
) -> Option<(f64, &'a Expr, bool)> {
    let mut constant = 0.0;
    let mut other = None;
    for term in terms(context, expression, false) {
        let value = number(term.value);
        if let Some(value) = value {
            constant += if term.is_negative { -value } else { value };
        } else if !context.is_epsilon(term.value) {
            if other.is_some() {
                return None;
            }
            other = Some((term.value, term.is_negative));
        }
    }
    other.map(|(value, is_negative)| (constant, value, is_negative))
}

fn logarithm_argument<'a>(context: &Context<'a>, root: &'a Expr) -> Option<(&'a Expr, bool)> {
    let operation = context.operation(root)?;
    (operation.name == "log")
        .then(|| operation.operand(0))
        .flatten()
        .map(|argument| (argument, operation.is_numpy))
}

fn is_small(constant: f64) -> bool {
    (0.0..=1e-3).contains(&constant)
}

fn is_about_one(constant: f64) -> bool {
    (constant - 1.0).abs() <= 1e-3
}

/// `log(softmax(x))` → `log_softmax(x)`, also with an epsilon added to the softmax.
pub(super) fn log_softmax<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    let Some((constant, probabilities, false)) = constant_and_term(context, argument) else {
        return Vec::new();
    };
    if !is_small(constant) {
        return Vec::new();
    }
    let Some((softmax, followed)) = context.followed_operation(probabilities, &["softmax"]) else {
        return Vec::new();
    };
    let Some(logits) = softmax.operand(0) else {
        return Vec::new();
    };
    let Some(dimension) = softmax.dimension() else {
        return Vec::new();
    };
    let name = context.spell("torch.log_softmax");
    let text = format!(
        "{name}({}, dim={})",
        context.text(logits),
        context.text(dimension)
    );
    vec![rewrite(
        root,
        "log(softmax) → log_softmax",
        "A softmax entry that underflows to 0 has the logarithm -inf; log_softmax never leaves the \
         log domain.",
        text,
        &[followed],
    )]
}

/// `log(sigmoid(x))` → `logsigmoid(x)`, `log(1 - sigmoid(x))` → `logsigmoid(-x)`.
pub(super) fn log_sigmoid<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    // `1 - p` may be kept in a variable of its own.
    let outer = context.follow(argument);
    let Some((constant, probability, is_negative)) = constant_and_term(context, outer.value) else {
        return Vec::new();
    };
    let Some((sigmoid, inner)) = context.followed_operation(probability, &["sigmoid"]) else {
        return Vec::new();
    };
    let Some(logit) = sigmoid.operand(0) else {
        return Vec::new();
    };
    let name = context.spell("torch.nn.functional.logsigmoid");
    let (title, text) = if !is_negative && is_small(constant) {
        (
            "log(sigmoid(x)) → logsigmoid(x)",
            format!("{name}({})", context.text(logit)),
        )
    } else if is_negative && is_about_one(constant) {
        (
            "log(1 - sigmoid(x)) → logsigmoid(-x)",
            format!("{name}(-{})", context.operand_text(logit)),
        )
    } else {
        return Vec::new();
    };
    vec![rewrite(
        root,
        title,
        "A saturated sigmoid is exactly 0 or 1, so the logarithm is -inf; logsigmoid works on the \
         logit and stays finite.",
        text,
        &[outer, inner],
    )]
}

/// `log(1 + exp(x))` and `log1p(exp(x))` → `softplus(x)`.
pub(super) fn softplus<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = context.operation(root) else {
        return Vec::new();
    };
    let Some(argument) = operation.operand(0) else {
        return Vec::new();
    };
    let outer = context.follow(argument);
    let exponential = match operation.name.as_str() {
        "log" => match constant_and_term(context, outer.value) {
            Some((constant, term, false)) if is_about_one(constant) => term,
            _ => return Vec::new(),
        },
        "log1p" => outer.value,
        _ => return Vec::new(),
    };
    let Some((exp, inner)) = context.followed_operation(exponential, &["exp"]) else {
        return Vec::new();
    };
    let Some(exponent) = exp.operand(0) else {
        return Vec::new();
    };
    let text = if context.is_numpy(root) {
        let name = context.spell("numpy.logaddexp");
        format!("{name}(0.0, {})", context.text(exponent))
    } else {
        let name = context.spell("torch.nn.functional.softplus");
        format!("{name}({})", context.text(exponent))
    };
    vec![rewrite(
        root,
        "log(1 + exp(x)) → softplus",
        "exp overflows long before the logarithm of the sum does; softplus computes the same \
         without the detour.",
        text,
        &[outer, inner],
    )]
}

/// `log(sum(exp(x)))` → `logsumexp(x)`.
pub(super) fn logsumexp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    let Some((constant, total, false)) = constant_and_term(context, argument) else {
        return Vec::new();
    };
    if !is_small(constant) {
        return Vec::new();
    }
    let Some((sum, outer)) = context.followed_operation(total, &["sum"]) else {
        return Vec::new();
    };
    let Some(summed) = sum.operand(0) else {
        return Vec::new();
    };
    let Some((exp, inner)) = context.followed_operation(summed, &["exp"]) else {
        return Vec::new();
    };
    let Some(exponent) = exp.operand(0) else {
        return Vec::new();
    };
    let text = if context.is_numpy(root) {
        let name = context.spell("numpy.logaddexp.reduce");
        let axis = match sum.dimension() {
            Some(axis) => format!(", axis={}", context.text(axis)),
            None => ", axis=None".to_owned(),
        };
        let keep = if sum.keeps_dimension() {
            ", keepdims=True"
        } else {
            ""
        };
        format!("{name}({}{axis}{keep})", context.text(exponent))
    } else {
        let name = context.spell("torch.logsumexp");
        let keep = if sum.keeps_dimension() {
            ", keepdim=True"
        } else {
            ""
        };
        match sum.dimension() {
            Some(dimension) => format!(
                "{name}({}, dim={}{keep})",
                context.text(exponent),
                context.text(dimension)
            ),
            None => format!(
                "{name}({}.flatten(), dim=0)",
                context.operand_text(exponent)
            ),
        }
    };
    vec![rewrite(
        root,
        "log(sum(exp(x))) → logsumexp",
        "exp overflows above 88.7 in float32; logsumexp shifts by the largest element first.",
        text,
        &[outer, inner],
    )]
}

/// `log(1 + x)` → `log1p(x)`.
pub(super) fn log1p<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    if !matches!(argument, Expr::BinOp(_)) {
        return Vec::new();
    }
    let Some((constant, value, is_negative)) = constant_and_term(context, argument) else {
        return Vec::new();
    };
    if constant != 1.0 {
        return Vec::new();
    }
    let name = if context.is_numpy(root) {
        context.spell("numpy.log1p")
    } else {
        context.spell("torch.log1p")
    };
    let text = if is_negative {
        format!("{name}(-{})", context.operand_text(value))
    } else {
        format!("{name}({})", context.text(value))
    };
    vec![rewrite(
        root,
        "log(1 + x) → log1p(x)",
        "1 + x rounds the digits of a small x away; log1p keeps them.",
        text,
        &[],
    )]
}

/// `p * log(p)` → `xlogy(p, p)`, which is 0 at 0; NumPy has none and gets a floor.
pub(super) fn xlogy<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(product) = context.operation(root).filter(|found| found.name == "mul") else {
        return Vec::new();
    };
    let (Some(left), Some(right)) = (product.operand(0), product.operand(1)) else {
        return Vec::new();
    };
    let is_log = |found: &Operation<'_>| found.name == "log";
    let (factor, log) = match (context.operation(left), context.operation(right)) {
        (_, Some(log)) if is_log(&log) => (left, log),
        (Some(log), _) if is_log(&log) => (right, log),
        _ => return Vec::new(),
    };
    let Some(argument) = log.operand(0) else {
        return Vec::new();
    };
    let explanation = "0 · log(0) is NaN although its limit is 0.";
    if context.text(factor) != context.text(argument) {
        return Vec::new();
    }
    let value = context.text(argument);
    let (title, text) = if context.is_numpy(root) {
        let names = ["numpy.maximum", "numpy.log", "numpy.finfo"];
        let [maximum, log, finfo] = names.map(|name| context.spell(name));
        let operand = context.operand_text(argument);
        (
            "p · log(p) with a floor under the logarithm",
            format!("{operand} * {log}({maximum}({value}, {finfo}(float).tiny))"),
        )
    } else {
        (
            "p · log(p) → xlogy(p, p)",
            format!("{}({value}, {value})", context.spell("torch.xlogy")),
        )
    };
    vec![rewrite(root, title, explanation, text, &[])]
}

/// `log(cosh(x))` → `|x| + softplus(-2|x|) - log(2)`.
pub(super) fn log_cosh<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    let Some((cosh, followed)) = context.followed_operation(argument, &["cosh"]) else {
        return Vec::new();
    };
    let Some(value) = cosh.operand(0) else {
        return Vec::new();
    };
    let text = if context.is_numpy(root) {
        let value = context.text(value);
        let (logaddexp, log) = (context.spell("numpy.logaddexp"), context.spell("numpy.log"));
        format!("({logaddexp}({value}, -({value})) - {log}(2.0))")
    } else {
        let value = context.operand_text(value);
        let softplus = context.spell("torch.nn.functional.softplus");
        format!("({value}.abs() + {softplus}(-2.0 * {value}.abs()) - math.log(2.0))")
    };
    vec![rewrite(
        root,
        "log(cosh(x)) without cosh",
        "cosh overflows above 88.7 in float32 while its logarithm is about |x|.",
        text,
        &[followed],
    )]
}

/// `log(exp(a) / c)` → `a - log(c)`: the log of a density in closed form.
pub(super) fn log_of_exponential<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some((argument, _)) = logarithm_argument(context, root) else {
        return Vec::new();
    };
    let outer = context.follow(argument);
    let Some(operation) = context.operation(outer.value) else {
        return Vec::new();
    };
    let exponent_of = |expression: &'a Expr| -> Option<(&'a Expr, Followed<'a>)> {
        let (exp, followed) = context.followed_operation(expression, &["exp"])?;
        Some((exp.operand(0)?, followed))
    };
    let logarithm = |factor: &Expr| {
        let text = context.text(factor);
        let scalar = text.contains("math.") || number(factor).is_some();
        if scalar {
            format!("math.log({text})")
        } else if context.is_numpy(root) {
            format!("{}({text})", context.spell("numpy.log"))
        } else {
            format!("{}({text})", context.spell("torch.log"))
        }
    };
    let (text, inner) = match operation.name.as_str() {
        "exp" => match operation.operand(0) {
            Some(exponent) => (context.operand_text(exponent), outer),
            None => return Vec::new(),
        },
        "div" | "mul" => {
            let (left, right) = (operation.operands[0], operation.operands[1]);
            let sign = if operation.name == "div" { "-" } else { "+" };
            if let Some((exponent, inner)) = exponent_of(left) {
                let exponent = context.text(exponent);
                (format!("({exponent} {sign} {})", logarithm(right)), inner)
            } else if operation.name == "mul"
                && let Some((exponent, inner)) = exponent_of(right)
            {
                let exponent = context.text(exponent);
                (format!("({exponent} + {})", logarithm(left)), inner)
            } else {
                return Vec::new();
            }
        }
        _ => return Vec::new(),
    };
    vec![rewrite(
        root,
        "log of an exponential in closed form",
        "The exponential underflows to 0 for values far from the mean, and its logarithm is -inf; \
         the exponent itself is the answer.",
        text,
        &[outer, inner],
    )]
}
