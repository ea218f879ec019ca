//! Losses and distributions that take probabilities where logits are at hand.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{Rewrite, rewrite};
use crate::fix::context::{Context, ModuleObject};
use crate::fix::operation::Operation;

/// The arguments behind the first two, as written.
fn rest(context: &Context<'_>, operation: &Operation<'_>) -> String {
    let positional = operation.operands.iter().skip(2);
    let positional = positional.map(|argument| format!(", {}", context.text(*argument)));
    let keywords = operation
        .keywords
        .iter()
        .filter(|(name, _)| !matches!(*name, "input" | "target"))
        .map(|(name, value)| format!(", {name}={}", context.text(*value)));
    positional.chain(keywords).collect()
}

/// `nll_loss(log(softmax(x)), y)` → `cross_entropy(x, y)`.
pub(super) fn cross_entropy<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(loss) = context
        .operation(root)
        .filter(|found| found.name == "nll_loss")
    else {
        return Vec::new();
    };
    let (Some(input), Some(target)) = (loss.argument(0, &["input"]), loss.argument(1, &["target"]))
    else {
        return Vec::new();
    };
    if module_class(context, root).is_some() {
        // The rule for the logarithm alone repairs the call of an `NLLLoss` object.
        return Vec::new();
    }
    let Some((log, outer)) = context.followed_operation(input, &["log"]) else {
        return Vec::new();
    };
    let Some((softmax, inner)) = log
        .operand(0)
        .and_then(|argument| context.followed_operation(argument, &["softmax"]))
    else {
        return Vec::new();
    };
    let Some(logits) = softmax.operand(0) else {
        return Vec::new();
    };
    let name = context.spell("torch.nn.functional.cross_entropy");
    vec![rewrite(
        root,
        "nll_loss(log(softmax(x))) → cross_entropy(x)",
        "A softmax entry that underflows to 0 has the logarithm -inf; cross_entropy works on the \
         logits.",
        format!(
            "{name}({}, {}{})",
            context.text(logits),
            context.text(target),
            rest(context, &loss)
        ),
        &[outer, inner],
    )]
}

/// `binary_cross_entropy(sigmoid(x), y)` → `binary_cross_entropy_with_logits(x, y)`.
pub(super) fn binary_cross_entropy_with_logits<'a>(
    context: &Context<'a>,
    root: &'a Expr,
) -> Vec<Rewrite<'a>> {
    let Some(loss) = context
        .operation(root)
        .filter(|found| found.name == "binary_cross_entropy")
    else {
        return Vec::new();
    };
    let (Some(input), Some(target)) = (loss.argument(0, &["input"]), loss.argument(1, &["target"]))
    else {
        return Vec::new();
    };
    let Some((sigmoid, followed)) = context.followed_operation(input, &["sigmoid"]) else {
        return Vec::new();
    };
    let Some(logit) = sigmoid.operand(0) else {
        return Vec::new();
    };
    let title = "binary_cross_entropy(sigmoid(x)) → binary_cross_entropy_with_logits(x)";
    let explanation = "A saturated sigmoid has lost the logit; the loss is then cut at 100 and its \
                       gradient is 0.";
    let (logit, target) = (context.text(logit), context.text(target));
    if let Some(object) = module_class(context, root) {
        // The class changes with the call, so no other call may depend on it.
        if object.calls != 1 {
            return Vec::new();
        }
        let Expr::Call(call) = root else {
            return Vec::new();
        };
        let text = format!("{}({logit}, {target})", context.text(&*call.func));
        let mut found = rewrite(root, title, explanation, text, &[followed]);
        let class = context.spell("torch.nn.BCEWithLogitsLoss");
        found.also.push((object.made_by.func.range(), class));
        return vec![found];
    }
    let name = context.spell("torch.nn.functional.binary_cross_entropy_with_logits");
    let text = format!("{name}({logit}, {target}{})", rest(context, &loss));
    vec![rewrite(root, title, explanation, text, &[followed])]
}

/// The object of `torch.nn` behind a call such as `criterion(x, y)`.
fn module_class<'c, 'a>(context: &'c Context<'a>, root: &Expr) -> Option<&'c ModuleObject<'a>> {
    match root {
        Expr::Call(call) => context.module_object(call),
        _ => None,
    }
}

/// `Categorical(softmax(x))` → `Categorical(logits=x)`, and the same for `Bernoulli`.
pub(super) fn distribution_logits<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let (Some(distribution), Expr::Call(call)) = (context.operation(root), root) else {
        return Vec::new();
    };
    let Some(probabilities) = distribution.argument(0, &["probs"]) else {
        return Vec::new();
    };
    let wanted = match distribution.name.as_str() {
        "Bernoulli" | "Binomial" | "Geometric" => "sigmoid",
        _ => "softmax",
    };
    let Some((inner, followed)) = context.followed_operation(probabilities, &[wanted]) else {
        return Vec::new();
    };
    let Some(logits) = inner.operand(0) else {
        return Vec::new();
    };
    vec![rewrite(
        root,
        "give the distribution its logits",
        "Probabilities that underflowed to 0 have lost the logit; from logits the distribution \
         computes in the log domain.",
        format!(
            "{}(logits={})",
            context.text(&*call.func),
            context.text(logits)
        ),
        &[followed],
    )]
}

/// `Normal(mean, scale)` → a scale that stays positive.
pub(super) fn scale_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(distribution) = context.operation(root) else {
        return Vec::new();
    };
    let Some(scale) = distribution.argument(1, &["scale"]) else {
        return Vec::new();
    };
    vec![rewrite(
        scale,
        "keep the scale at or above 1e-6",
        "A scale of 0 divides by 0 in the density.",
        format!("{}.clamp_min(1e-6)", context.operand_text(scale)),
        &[],
    )]
}
