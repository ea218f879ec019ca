//! Rewrites for programs in JAX and TensorFlow, which write the same mathematics under other names.

use ruff_python_ast::{Expr, Operator};
use ruff_text_size::Ranged;

use super::{Rewrite, rewrite};
use crate::fix::context::Context;
use crate::fix::operation::{Operation, number};

/// How a library calls what the rewrites need.
pub(in crate::fix) struct Dialect {
    /// The module that is imported, as it is in front of the names below.
    root: &'static str,
    log_softmax: &'static str,
    log_sigmoid: &'static str,
    softplus: &'static str,
    logsumexp: &'static str,
    maximum: &'static str,
    minimum: &'static str,
    clip: &'static str,
    xlogy: &'static str,
    variance: &'static str,
    /// A quotient that is 0 where the divisor is.
    safe_quotient: Option<&'static str>,
}

const JAX: Dialect = Dialect {
    root: "jax",
    log_softmax: "nn.log_softmax",
    log_sigmoid: "nn.log_sigmoid",
    softplus: "nn.softplus",
    logsumexp: "nn.logsumexp",
    maximum: "numpy.maximum",
    minimum: "numpy.minimum",
    clip: "numpy.clip",
    xlogy: "scipy.special.xlogy",
    variance: "numpy.var",
    safe_quotient: None,
};

const TENSORFLOW: Dialect = Dialect {
    root: "tensorflow",
    log_softmax: "nn.log_softmax",
    log_sigmoid: "math.log_sigmoid",
    softplus: "nn.softplus",
    logsumexp: "reduce_logsumexp",
    maximum: "maximum",
    minimum: "minimum",
    clip: "clip_by_value",
    xlogy: "math.xlogy",
    variance: "math.reduce_variance",
    safe_quotient: Some("math.divide_no_nan"),
};

const TENSORFLOW_1: Dialect = Dialect {
    root: "tensorflow.compat.v1",
    ..TENSORFLOW
};

impl Dialect {
    /// The dialect of a file; nothing for torch and NumPy, whose rules are elsewhere.
    pub(crate) fn of(context: &Context<'_>) -> Option<&'static Dialect> {
        let imports = || context.names.imports().values();
        let starts = |prefix: &str| imports().any(|full| full.split('.').next() == Some(prefix));
        if starts("torch") {
            None
        } else if starts("jax") {
            Some(&JAX)
        } else if imports().any(|full| full.starts_with(TENSORFLOW_1.root)) {
            Some(&TENSORFLOW_1)
        } else {
            starts("tensorflow").then_some(&TENSORFLOW)
        }
    }

    fn call(&self, context: &Context<'_>, name: &str, arguments: &str) -> String {
        let spelled = context.spell(&format!("{}.{name}", self.root));
        format!("{spelled}({arguments})")
    }
}

/// What may help the context's site, best first.
pub(in crate::fix) fn rewrites<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
) -> Vec<(&'static str, Rewrite<'a>)> {
    let is_kept = context.assignment_of_site().is_some();
    let mut found = Vec::new();
    for &expression in &context.expressions {
        let range = expression.range();
        let is_near = range.contains_range(context.range) || context.range.contains_range(range);
        if is_kept || is_near {
            found.extend(pattern(context, dialect, expression));
        }
    }
    found.retain(|(_, rewrite)| rewrite.concerns(context.range));
    if let Some(site) = context.site_expression() {
        found.extend(guards(context, dialect, site));
    }
    found
}

/// Formulas that have a stable form.
fn pattern<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
    root: &'a Expr,
) -> Option<(&'static str, Rewrite<'a>)> {
    let operation = context.operation(root)?;
    match operation.name.as_str() {
        "log" => of_logarithm(context, dialect, root, operation.operand(0)?),
        "mul" => x_log_y(context, dialect, root, &operation),
        "sub" => variance(context, dialect, root, &operation),
        _ => None,
    }
}

fn of_logarithm<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
    root: &'a Expr,
    argument: &'a Expr,
) -> Option<(&'static str, Rewrite<'a>)> {
    // log(p[rows, labels]) is log_softmax(x)[rows, labels].
    let (chosen, subscript) = match argument {
        Expr::Subscript(subscript) => (
            &*subscript.value,
            format!("[{}]", context.text(&*subscript.slice)),
        ),
        other => (other, String::new()),
    };
    if let Some((softmax, through)) = context.followed_operation(chosen, &["softmax"]) {
        let arguments = arguments_text(context, &softmax)?;
        let text = dialect.call(context, dialect.log_softmax, &arguments) + &subscript;
        let why =
            "A softmax that underflows is 0 and its logarithm -inf; log_softmax never forms it.";
        return Some((
            "log_softmax",
            rewrite(root, "use log_softmax", why, text, &[through]),
        ));
    }
    if let Some((sigmoid, through)) = context.followed_operation(argument, &["sigmoid"]) {
        let text = dialect.call(
            context,
            dialect.log_sigmoid,
            context.text(sigmoid.operand(0)?),
        );
        let why = "A sigmoid that underflows is 0 and its logarithm -inf.";
        return Some((
            "log_sigmoid",
            rewrite(root, "use log_sigmoid", why, text, &[through]),
        ));
    }
    if let Some((total, through_total)) = context.followed_operation(argument, &["sum"]) {
        let (inner, through) = context.followed_operation(total.operand(0)?, &["exp"])?;
        let mut arguments = context.text(inner.operand(0)?).to_owned();
        for (name, value) in &total.keywords {
            arguments.push_str(&format!(", {name}={}", context.text(*value)));
        }
        if let Some(axis) = total.operand(1) {
            arguments.push_str(&format!(", axis={}", context.text(axis)));
        }
        let text = dialect.call(context, dialect.logsumexp, &arguments);
        let why = "The sum of exponentials underflows or overflows; logsumexp shifts them first.";
        return Some((
            "logsumexp",
            rewrite(root, "use logsumexp", why, text, &[through_total, through]),
        ));
    }
    let Expr::BinOp(sum) = argument else {
        return None;
    };
    if number(&sum.left) == Some(1.0) && sum.op == Operator::Sub {
        let (sigmoid, through) = context.followed_operation(&sum.right, &["sigmoid"])?;
        let negated = format!("-{}", context.operand_text(sigmoid.operand(0)?));
        let text = dialect.call(context, dialect.log_sigmoid, &negated);
        let why = "1 - sigmoid(x) is exactly 0 for x above 17 in float32; it is sigmoid(-x).";
        return Some((
            "log_sigmoid",
            rewrite(root, "use log_sigmoid of -x", why, text, &[through]),
        ));
    }
    let exponential = match (number(&sum.left), number(&sum.right)) {
        (Some(1.0), None) => &*sum.right,
        (None, Some(1.0)) => &*sum.left,
        _ => return None,
    };
    if sum.op != Operator::Add {
        return None;
    }
    let (inner, through) = context.followed_operation(exponential, &["exp"])?;
    let text = dialect.call(context, dialect.softplus, context.text(inner.operand(0)?));
    let why = "log(1 + exp(x)) overflows for x above 88 in float32; softplus(x) is x there.";
    Some((
        "softplus",
        rewrite(root, "use softplus", why, text, &[through]),
    ))
}

/// `x * log(y)` → `xlogy(x, y)`, which is 0 where `x` is.
fn x_log_y<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
    root: &'a Expr,
    operation: &Operation<'a>,
) -> Option<(&'static str, Rewrite<'a>)> {
    let [first, second] = operation.operands.as_slice() else {
        return None;
    };
    let (factor, logarithm) = match context.followed_operation(second, &["log"]) {
        Some(found) => (*first, found),
        None => (*second, context.followed_operation(first, &["log"])?),
    };
    let inner = logarithm.0.operand(0)?;
    let arguments = format!("{}, {}", context.text(factor), context.text(inner));
    let text = dialect.call(context, dialect.xlogy, &arguments);
    let why = "0 * log(0) is NaN; xlogy is 0 where its first operand is.";
    Some((
        "xlogy",
        rewrite(root, "use xlogy", why, text, &[logarithm.1]),
    ))
}

/// `mean(x*x) - mean**2` → the library's variance in two passes.
fn variance<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
    root: &'a Expr,
    operation: &Operation<'a>,
) -> Option<(&'static str, Rewrite<'a>)> {
    let (mean, through) = context.followed_operation(operation.operand(0)?, &["mean"])?;
    let squares = context.operation(mean.operand(0)?)?;
    if !matches!(squares.name.as_str(), "mul" | "pow" | "square") {
        return None;
    }
    let mut arguments = context.text(squares.operand(0)?).to_owned();
    for (name, value) in &mean.keywords {
        arguments.push_str(&format!(", {name}={}", context.text(*value)));
    }
    let text = dialect.call(context, dialect.variance, &arguments);
    let why = "The difference of two large numbers loses the digits of the variance.";
    Some((
        "two_pass_variance",
        rewrite(root, "subtract the mean first", why, text, &[through]),
    ))
}

/// Operands kept inside the region where the function of the site is defined.
fn guards<'a>(
    context: &Context<'a>,
    dialect: &Dialect,
    root: &'a Expr,
) -> Vec<(&'static str, Rewrite<'a>)> {
    let Some(operation) = context.operation(root) else {
        return Vec::new();
    };
    let guarded = |position: usize, name: &str, bounds: &str, title: &str, why: &str| {
        let operand = operation.operand(position)?;
        let arguments = format!("{}, {bounds}", context.text(operand));
        let text = dialect.call(context, name, &arguments);
        let mut found = rewrite(root, title, why, text, &[]);
        found.replaced = operand.range();
        Some(found)
    };
    let floor = |position, least: &str, why: &str| {
        guarded(
            position,
            dialect.maximum,
            least,
            &format!("keep the operand above {least}"),
            why,
        )
    };
    let (rule, rewrites): (&'static str, Vec<Option<Rewrite<'a>>>) = match operation.name.as_str() {
        "log" | "log2" | "log10" => {
            let why = "The logarithm of 0 is -inf. The floor changes nothing that is above it.";
            (
                "log_clamp",
                vec![floor(0, "1e-30", why), floor(0, "1e-7", why)],
            )
        }
        "sqrt" | "rsqrt" => {
            let why = "The square root has no finite slope at 0.";
            ("sqrt_clamp", vec![floor(0, "1e-12", why)])
        }
        "exp" => {
            let why = "The exponential overflows above 88 in float32.";
            let bound = guarded(0, dialect.minimum, "80.0", "bound the exponent", why);
            ("exp_clamp", vec![bound])
        }
        "div" => {
            let why = "The divisor can be 0.";
            let quotient = dialect.safe_quotient.and_then(|name| {
                let (first, second) = (operation.operand(0)?, operation.operand(1)?);
                let arguments = format!("{}, {}", context.text(first), context.text(second));
                let text = dialect.call(context, name, &arguments);
                Some(rewrite(root, "divide only where it can be", why, text, &[]))
            });
            ("denominator_clamp", vec![floor(1, "1e-12", why), quotient])
        }
        "cast" if context.text(root).contains("uint8") => {
            let why = "Values outside 0 to 255 wrap around.";
            let bounds = guarded(0, dialect.clip, "0.0, 255.0", "clip before the cast", why);
            ("cast_clamp", vec![bounds])
        }
        _ => return Vec::new(),
    };
    rewrites
        .into_iter()
        .flatten()
        .map(|rewrite| (rule, rewrite))
        .collect()
}

/// The arguments of a call as written, with the operand of a method first.
fn arguments_text(context: &Context<'_>, operation: &Operation<'_>) -> Option<String> {
    operation.operand(0)?;
    let mut parts: Vec<String> = operation
        .operands
        .iter()
        .map(|operand| context.text(*operand).to_owned())
        .collect();
    for (name, value) in &operation.keywords {
        parts.push(format!("{name}={}", context.text(*value)));
    }
    Some(parts.join(", "))
}
