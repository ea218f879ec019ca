//! Linear algebra, and sums in a type that is too narrow.

use ruff_python_ast::Expr;

use super::{Rewrite, rewrite};
use crate::fix::context::Context;

/// `solve(a, b)` and `inv(a)` → in float64, or with a ridge on the diagonal.
pub(super) fn ridge<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let (Some(operation), Expr::Call(call)) = (context.operation(root), root) else {
        return Vec::new();
    };
    let Some(matrix) = operation.operand(0) else {
        return Vec::new();
    };
    let by_method = matches!(&*call.func, Expr::Attribute(method)
        if context.names.resolve(&call.func).is_none() && std::ptr::eq(&*method.value, matrix));
    if by_method {
        return Vec::new();
    }
    let function = context.text(&*call.func);
    let text = context.operand_text(matrix);
    let others: String = operation
        .operands
        .iter()
        .skip(1)
        .map(|argument| format!(", {}", context.text(*argument)))
        .collect();
    let explanation = "Where columns nearly coincide, the matrix is nearly singular and rounding \
                       errors are multiplied by its condition number.";
    let mut found = Vec::new();
    if context.is_numpy(root) {
        let eye = context.spell("numpy.eye");
        found.push(rewrite(
            root,
            "add a small ridge to the diagonal",
            explanation,
            format!("{function}({text} + 1e-6 * {eye}({text}.shape[-1]){others})"),
            &[],
        ));
        return found;
    }
    let wide: String = operation
        .operands
        .iter()
        .skip(1)
        .map(|argument| format!(", {}.double()", context.operand_text(argument)))
        .collect();
    found.push(rewrite(
        root,
        "solve in float64",
        explanation,
        format!("{function}({text}.double(){wide}).to({text}.dtype)"),
        &[],
    ));
    let eye = context.spell("torch.eye");
    found.push(rewrite(
        root,
        "add a small ridge to the diagonal",
        explanation,
        format!("{function}({text} + 1e-6 * {eye}({text}.shape[-1], dtype={text}.dtype){others})"),
        &[],
    ));
    found
}

/// `logdet(a)` and `log(det(a))` → `slogdet(a)`.
pub(super) fn slogdet<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = context.operation(root) else {
        return Vec::new();
    };
    let Some(argument) = operation.operand(0) else {
        return Vec::new();
    };
    let (matrix, through) = match operation.name.as_str() {
        "logdet" => (argument, Vec::new()),
        "log" => {
            let Some((det, followed)) = context.followed_operation(argument, &["det"]) else {
                return Vec::new();
            };
            let Some(matrix) = det.operand(0) else {
                return Vec::new();
            };
            (matrix, vec![followed])
        }
        _ => return Vec::new(),
    };
    let name = if context.is_numpy(root) {
        context.spell("numpy.linalg.slogdet")
    } else {
        context.spell("torch.linalg.slogdet")
    };
    vec![rewrite(
        root,
        "log of the determinant → slogdet",
        "A determinant is a product that over- and underflows quickly; slogdet adds logarithms.",
        format!("{name}({})[1]", context.text(matrix)),
        &through,
    )]
}

/// Half precision → the first operand in single precision.
pub(super) fn widen<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let is_low_precision = [".half(", "float16", "autocast"]
        .iter()
        .any(|word| context.source.contains(word));
    if !is_low_precision || context.is_numpy(root) {
        return Vec::new();
    }
    let Some(operand) = context
        .operation(root)
        .and_then(|operation| operation.operand(0))
    else {
        return Vec::new();
    };
    vec![rewrite(
        operand,
        "compute in single precision",
        "Half precision overflows beyond 65504.",
        format!("{}.float()", context.operand_text(operand)),
        &[],
    )]
}
