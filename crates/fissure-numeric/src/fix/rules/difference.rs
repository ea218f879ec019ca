//! Differences of nearly equal values that have a closed form.

use ruff_python_ast::Expr;

use super::{Rewrite, rewrite};
use crate::fix::context::Context;
use crate::fix::operation::number;

/// `1 - cos(x)` → `2 * sin(x / 2) ** 2`.
pub(super) fn half_angle<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(difference) = context.operation(root).filter(|found| found.name == "sub") else {
        return Vec::new();
    };
    let (Some(one), Some(right)) = (difference.operand(0), difference.operand(1)) else {
        return Vec::new();
    };
    if number(one) != Some(1.0) {
        return Vec::new();
    }
    let Some((cosine, followed)) = context.followed_operation(right, &["cos"]) else {
        return Vec::new();
    };
    let Some(angle) = cosine.operand(0) else {
        return Vec::new();
    };
    let sine = if context.is_numpy(followed.value) {
        context.spell("numpy.sin")
    } else {
        context.spell("torch.sin")
    };
    vec![rewrite(
        root,
        "1 - cos(x) → 2 sin²(x / 2)",
        "The cosine of a small angle is 1 but for rounding; the half angle keeps all digits.",
        format!("2.0 * {sine}({} / 2.0) ** 2", context.operand_text(angle)),
        &[followed],
    )]
}
