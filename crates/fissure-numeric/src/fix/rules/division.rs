//! Divisors that may be zero.

use fissure_functions::{Role, functions};
use ruff_python_ast::{Expr, StmtAugAssign};
use ruff_text_size::TextRange;

use super::clamp::{floor, guarded, with_operand};
use super::{Rewrite, rewrite};
use crate::fix::context::Context;
use crate::fix::operation::number;

const FLOOR_TITLE: &str = "keep the divisor at or above 1e-12";
const FLOOR_EXPLANATION: &str = "The divisor may be exactly 0, and 0 / 0 is NaN.";
const NONZERO_TITLE: &str = "replace a divisor of 0 by 1";
const NONZERO_EXPLANATION: &str =
    "The divisor may be exactly 0; a divisor of either sign is left as it is.";

/// A floor under the divisor, or 1 instead of 0. The floor comes first where the divisor cannot be
/// negative, because it would turn the sign of the quotient, and for reciprocals.
pub(super) fn denominator_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "denominator_clamp") else {
        return Vec::new();
    };
    let position = usize::from(operation.name != "reciprocal");
    let Some(divisor) = operation.operand(position) else {
        return Vec::new();
    };
    let mut found = with_operand(
        context,
        root,
        &operation,
        position,
        FLOOR_TITLE,
        FLOOR_EXPLANATION,
        |text, is_numpy| floor(context, text, is_numpy, "1e-12"),
    );
    let (text, helper) = nonzero(context, divisor, context.is_numpy(root));
    let replacement = with_operand(
        context,
        root,
        &operation,
        position,
        NONZERO_TITLE,
        NONZERO_EXPLANATION,
        |_, _| text.clone(),
    );
    for mut rewrite in replacement {
        rewrite.also.extend(helper.clone());
        found.push(rewrite);
    }
    // 1 / 0 stands for something large, which the floor keeps large.
    let numerator = (position == 1).then(|| number(operation.operands[0]));
    if numerator.is_none_or(|value| value.is_some_and(|value| value != 0.0)) {
        return found;
    }
    in_order(context, divisor, found)
}

/// The same for `x /= y`.
pub(super) fn augmented_division<'a>(
    context: &Context<'a>,
    statement: &'a StmtAugAssign,
) -> Vec<Rewrite<'a>> {
    let divisor = &*statement.value;
    let is_numpy = context.is_numpy(divisor);
    let text = if is_numpy {
        context.text(divisor).to_owned()
    } else {
        context.operand_text(divisor)
    };
    let guarded = floor(context, &text, is_numpy, "1e-12");
    let with_floor = rewrite(divisor, FLOOR_TITLE, FLOOR_EXPLANATION, guarded, &[]);
    let (text, helper) = nonzero(context, divisor, is_numpy);
    let mut with_one = rewrite(divisor, NONZERO_TITLE, NONZERO_EXPLANATION, text, &[]);
    with_one.also.extend(helper);
    in_order(context, divisor, vec![with_floor, with_one])
}

fn in_order<'a>(
    context: &Context<'a>,
    divisor: &'a Expr,
    mut found: Vec<Rewrite<'a>>,
) -> Vec<Rewrite<'a>> {
    if !is_never_negative(context, divisor, 4) {
        found.reverse();
    }
    found
}

/// `where(d == 0, 1, d)`; a divisor that is more than a name is computed once, in a statement
/// before.
fn nonzero(
    context: &Context<'_>,
    divisor: &Expr,
    is_numpy: bool,
) -> (String, Option<(TextRange, String)>) {
    let text = context.text(divisor);
    let is_short = matches!(divisor, Expr::Name(_) | Expr::Attribute(_));
    let helper = match context.place_for_helper("divisor") {
        Some((place, indentation)) if !is_short => Some((
            TextRange::empty(place),
            format!("{indentation}divisor = {text}\n"),
        )),
        _ => None,
    };
    let (value, operand) = match helper {
        Some(_) => ("divisor", "divisor".to_owned()),
        None => (text, context.operand_text(divisor)),
    };
    let guarded = if is_numpy {
        let name = context.spell("numpy.where");
        format!("{name}({operand} == 0, 1.0, {value})")
    } else {
        let [name, ones] = ["torch.where", "torch.ones_like"].map(|name| context.spell(name));
        format!("{name}({operand} == 0, {ones}({value}), {value})")
    };
    (guarded, helper)
}

/// Whether the form of an expression shows that it cannot be negative.
fn is_never_negative<'a>(context: &Context<'a>, expression: &'a Expr, depth: usize) -> bool {
    let value = context.follow(expression).value;
    if let Some(number) = number(value) {
        return number >= 0.0;
    }
    let (Some(operation), Some(depth)) = (context.operation(value), depth.checked_sub(1)) else {
        return false;
    };
    let operand = |position: usize| {
        operation
            .operand(position)
            .is_some_and(|operand| is_never_negative(context, operand, depth))
    };
    let name = operation.name.as_str();
    let range = functions().get(name).and_then(|it| it.range.as_ref());
    if range.and_then(|it| it.low).is_some_and(|low| low >= 0.0) {
        return true;
    }
    match name {
        "pow" => operation.argument(1, &["exponent"]).and_then(number) == Some(2.0),
        "mul" => {
            let texts: Vec<&str> = operation
                .operands
                .iter()
                .map(|operand| context.text(*operand))
                .collect();
            texts[0] == texts[1] || (operand(0) && operand(1))
        }
        _ => {
            let operations = functions().operations();
            let name = operations.canonical(name);
            let takes_two = operations.has(name, Role::Arithmetic) || name == "outer";
            operations.has(name, Role::KeepsSign) && operand(0) && (!takes_two || operand(1))
        }
    }
}
