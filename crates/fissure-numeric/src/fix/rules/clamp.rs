//! Guards: an argument kept inside the region where the function is defined.

use fissure_functions::{Unstable, functions};
use fissure_model::Dtype;
use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{Rewrite, rewrite};
use crate::fix::context::Context;
use crate::fix::operation::{Operation, number};

/// The call of the site with one operand replaced; the form (function or method) is kept.
pub(super) fn with_operand<'a>(
    context: &Context<'a>,
    root: &'a Expr,
    operation: &Operation<'a>,
    position: usize,
    title: &str,
    explanation: &str,
    guard: impl Fn(&str, bool) -> String,
) -> Vec<Rewrite<'a>> {
    let Some(operand) = operation.operand(position) else {
        return Vec::new();
    };
    let is_numpy = context.is_numpy(root);
    let is_receiver_or_operator =
        matches!(root, Expr::BinOp(_)) || is_receiver(root, operand.range());
    let guarded = guard(
        &if is_numpy {
            context.text(operand).to_owned()
        } else {
            context.operand_text(operand)
        },
        is_numpy,
    );
    // The guard is a call, so parentheses around the operand are not needed any more.
    let range = if is_receiver_or_operator {
        parenthesised(context.source, operand, root)
    } else {
        operand.range()
    };
    let mut found = rewrite(root, title, explanation, guarded, &[]);
    found.replaced = range;
    // Guards are only asked about the site itself.
    vec![found]
}

fn is_receiver(root: &Expr, operand: ruff_text_size::TextRange) -> bool {
    let Expr::Call(call) = root else { return false };
    matches!(&*call.func, Expr::Attribute(method) if method.value.range() == operand)
}

/// The range of an operand with the parentheses around it, inside its parent expression.
fn parenthesised(source: &str, operand: &Expr, parent: &Expr) -> ruff_text_size::TextRange {
    let (mut start, mut end) = (operand.start().to_usize(), operand.end().to_usize());
    let (low, high) = (parent.start().to_usize(), parent.end().to_usize());
    loop {
        let before = source[low..start].trim_end();
        let after = source[end..high].trim_start();
        if !before.ends_with('(') || !after.starts_with(')') {
            break;
        }
        start = low + before.len() - 1;
        end = high - after.len() + 1;
    }
    let size = |offset: usize| {
        ruff_text_size::TextSize::try_from(offset).expect("offsets of a parsed source fit")
    };
    ruff_text_size::TextRange::new(size(start), size(end))
}

/// The operation, if the table of functions names this rule for it.
pub(super) fn guarded<'a>(
    context: &Context<'a>,
    root: &'a Expr,
    rule: &str,
) -> Option<Operation<'a>> {
    let operation = context.operation(root)?;
    let has_rule = |entry: &Unstable| {
        entry.functions.contains(&operation.name) && entry.rewrites.iter().any(|it| it == rule)
    };
    (functions().unstable().iter().any(has_rule)).then_some(operation)
}

pub(super) fn floor(context: &Context<'_>, text: &str, is_numpy: bool, least: &str) -> String {
    if is_numpy {
        format!("{}({text}, {least})", context.spell("numpy.maximum"))
    } else {
        format!("{text}.clamp_min({least})")
    }
}

fn between(context: &Context<'_>, text: &str, is_numpy: bool, low: &str, high: &str) -> String {
    if is_numpy {
        format!("{}({text}, {low}, {high})", context.spell("numpy.clip"))
    } else {
        format!("{text}.clamp({low}, {high})")
    }
}

fn tiny(context: &Context<'_>, operand: &Expr, is_numpy: bool) -> String {
    if is_numpy {
        return format!("{}(float).tiny", context.spell("numpy.finfo"));
    }
    let finfo = context.spell("torch.finfo");
    match operand {
        Expr::Name(_) | Expr::Attribute(_) => {
            format!("{finfo}({}.dtype).tiny", context.text(operand))
        }
        _ => format!("{finfo}({}).tiny", context.spell("torch.float32")),
    }
}

pub(super) fn log_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "log_clamp") else {
        return Vec::new();
    };
    let position = usize::from(operation.name == "xlogy");
    let Some(operand) = operation.operand(position) else {
        return Vec::new();
    };
    let explanation = "The logarithm of 0 is -inf. The floor changes nothing that is above it.";
    let mut found = Vec::new();
    let is_numpy = context.is_numpy(root);
    for least in [tiny(context, operand, is_numpy), "1e-7".to_owned()] {
        let title = format!("keep the argument of the logarithm at or above {least}");
        found.extend(with_operand(
            context,
            root,
            &operation,
            position,
            &title,
            explanation,
            |text, is_numpy| floor(context, text, is_numpy, &least),
        ));
    }
    found
}

pub(super) fn log1p_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "log1p_clamp") else {
        return Vec::new();
    };
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the argument of log1p above -1",
        "log1p is -inf at -1 and NaN below.",
        |text, is_numpy| floor(context, text, is_numpy, "-1.0 + 1e-6"),
    )
}

pub(super) fn exp_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "exp_clamp") else {
        return Vec::new();
    };
    let Some(operand) = operation.operand(0) else {
        return Vec::new();
    };
    let is_difference = context
        .operation(operand)
        .is_some_and(|inner| inner.name == "sub");
    let is_even = matches!(operation.name.as_str(), "sinh" | "cosh");
    let mut found = Vec::new();
    for bound in ["80.0", "20.0"] {
        let (title, explanation) = if is_difference {
            (
                format!("bound the log ratio by {bound}"),
                "A ratio beyond this bound only overflows; an algorithm that clips it later sees \
                 no difference.",
            )
        } else {
            (
                format!("bound the exponent by {bound}"),
                "exp overflows above 88.7 in float32.",
            )
        };
        let guard = |text: &str, is_numpy: bool| {
            if is_difference || is_even {
                between(context, text, is_numpy, &format!("-{bound}"), bound)
            } else if is_numpy {
                format!("{}({text}, {bound})", context.spell("numpy.minimum"))
            } else {
                format!("{text}.clamp(max={bound})")
            }
        };
        found.extend(with_operand(
            context,
            root,
            &operation,
            0,
            &title,
            explanation,
            guard,
        ));
    }
    found
}

pub(super) fn sqrt_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "sqrt_clamp") else {
        return Vec::new();
    };
    let is_difference = operation
        .operand(0)
        .and_then(|operand| context.followed_operation(operand, &["sub"]))
        .is_some();
    let explanation = if is_difference {
        "A negative argument is NaN, and at exactly 0 the gradient is infinite. The floor prevents \
         the NaN only: the digits that a difference of nearly equal numbers loses stay lost."
    } else {
        "A negative argument is NaN, and at exactly 0 the gradient is infinite."
    };
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the argument of the root at or above 1e-12",
        explanation,
        |text, is_numpy| floor(context, text, is_numpy, "1e-12"),
    )
}

pub(super) fn pow_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "pow_clamp") else {
        return Vec::new();
    };
    let exponent = operation.argument(1, &["exponent"]).and_then(number);
    if exponent.is_some_and(|value| value >= 0.0 && value.fract() == 0.0) {
        return Vec::new();
    }
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the base at or above 1e-12",
        "A power with a negative exponent is infinite at 0, one with a fractional exponent is NaN \
         below 0.",
        |text, is_numpy| floor(context, text, is_numpy, "1e-12"),
    )
}

pub(super) fn domain_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "domain_clamp") else {
        return Vec::new();
    };
    let explanation = "Rounding may bring a cosine slightly beyond ±1, where the function is NaN; \
                       at ±1 its gradient is infinite.";
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the argument within [-1, 1]",
        explanation,
        |text, is_numpy| {
            if is_numpy {
                between(context, text, true, "-1.0", "1.0")
            } else {
                between(context, text, false, "-1.0 + 1e-7", "1.0 - 1e-7")
            }
        },
    )
}

pub(super) fn atanh_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "atanh_clamp") else {
        return Vec::new();
    };
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the argument inside (-1, 1)",
        "The function is infinite at ±1 and NaN beyond.",
        |text, is_numpy| between(context, text, is_numpy, "-1.0 + 1e-6", "1.0 - 1e-6"),
    )
}

pub(super) fn acosh_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "acosh_clamp") else {
        return Vec::new();
    };
    with_operand(
        context,
        root,
        &operation,
        0,
        "keep the argument above 1",
        "acosh is NaN below 1 and its gradient is infinite at 1.",
        |text, is_numpy| floor(context, text, is_numpy, "1.0 + 1e-6"),
    )
}

pub(super) fn logit_eps<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "logit_eps") else {
        return Vec::new();
    };
    let Some(value) = operation.operand(0) else {
        return Vec::new();
    };
    if operation.operands.len() > 1 || operation.mentions(&["eps"]) {
        return Vec::new();
    }
    let name = context.spell("torch.logit");
    vec![rewrite(
        root,
        "logit with eps",
        "logit is infinite at 0 and 1; eps keeps the argument inside.",
        format!("{name}({}, eps=1e-6)", context.text(value)),
        &[],
    )]
}

pub(super) fn atan2_guard<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = guarded(context, root, "atan2_guard") else {
        return Vec::new();
    };
    let (Some(y), Some(x)) = (operation.operand(0), operation.operand(1)) else {
        return Vec::new();
    };
    if context.is_numpy(root) {
        return Vec::new();
    }
    let (y_text, x_text) = (context.text(y), context.text(x));
    let (y_operand, x_operand) = (context.operand_text(y), context.operand_text(x));
    let names = ["torch.atan2", "torch.where", "torch.full_like"].map(|name| context.spell(name));
    let [atan2, choose, full] = names;
    let guarded = format!(
        "{choose}(({x_operand} == 0) & ({y_operand} == 0), {full}({x_text}, 1e-6), {x_text})"
    );
    vec![rewrite(
        root,
        "step aside from the origin",
        "At the origin the angle is not defined and the gradient is 0 / 0.",
        format!("{atan2}({y_text}, {guarded})"),
        &[],
    )]
}

/// The limits of an integer type, by the last part of its name, where every float can hold them.
fn integer_limits(name: &str) -> Option<(i128, i128)> {
    let dtype = match name {
        "byte" => Dtype::Uint8,
        "char" => Dtype::Int8,
        "short" => Dtype::Int16,
        name => name.parse().ok().filter(|it: &Dtype| it.is_integer())?,
    };
    dtype.integer_limits().filter(|_| dtype.size() <= Some(2))
}

pub(super) fn cast_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = context.operation(root) else {
        return Vec::new();
    };
    // The type is in the name (`np.uint8`, `.byte`) or in an argument (`.astype(np.uint8)`).
    let arguments = operation.operands.iter().skip(1).copied();
    let keywords = operation.keywords.iter().map(|&(_, value)| value);
    let limits = integer_limits(&operation.name).or_else(|| {
        arguments.chain(keywords).find_map(|argument| {
            let text = context.text(argument).trim_matches(['"', '\'']);
            integer_limits(text.rsplit('.').next().unwrap_or(text))
        })
    });
    let Some((low, high)) = limits else {
        return Vec::new();
    };
    let by_method = matches!(root, Expr::Call(call) if matches!(&*call.func, Expr::Attribute(_)))
        && operation.name == "astype";
    with_operand(
        context,
        root,
        &operation,
        0,
        "saturate before the cast",
        "A value outside the range of the integer type wraps around to the other end.",
        |text, is_numpy| {
            // `.astype` is NumPy's, whatever else the expression names.
            if by_method || is_numpy {
                let inner = text
                    .strip_prefix('(')
                    .and_then(|rest| rest.strip_suffix(')'));
                let inner = if is_numpy {
                    text
                } else {
                    inner.unwrap_or(text)
                };
                between(context, inner, true, &low.to_string(), &high.to_string())
            } else {
                between(context, text, false, &low.to_string(), &high.to_string())
            }
        },
    )
}

pub(super) fn half_clamp<'a>(context: &Context<'a>, root: &'a Expr) -> Vec<Rewrite<'a>> {
    let Some(operation) = context.operation(root) else {
        return Vec::new();
    };
    with_operand(
        context,
        root,
        &operation,
        0,
        "saturate before the cast to half precision",
        "Values beyond 65504 become infinite in half precision.",
        |text, is_numpy| between(context, text, is_numpy, "-65504.0", "65504.0"),
    )
}
